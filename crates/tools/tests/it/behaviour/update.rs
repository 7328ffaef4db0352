//! update_proxmox_vm: what is shown, what is sent, what is read back, and what is refused.

use serde_json::{Value, json};
use sim::Fault;
use tools::policy::Mode;

use crate::house::{House, Nobody, Person, call, done};

const UPDATE: &str = "update_proxmox_vm";

/// The preview of a call.
async fn preview(house: &House, args: &Value) -> tools::tool::Rendered {
    let mut call = call(UPDATE, &args.to_string());
    call.preview = true;
    done(house.engine.call(call, &Nobody).await).unwrap_or_else(|fault| panic!("{args}: {fault}"))
}

/// The risk of a call on the demo world.
async fn risk(args: Value) -> String {
    let house = House::new().await;
    preview(&house, &args).await.data["risk"]
        .as_str()
        .unwrap()
        .to_owned()
}

async fn apply(house: &House, args: &Value) -> tools::tool::Rendered {
    house
        .call(UPDATE, &args.to_string())
        .await
        .unwrap_or_else(|fault| panic!("{args}: {fault}"))
}

async fn refused(house: &House, args: Value) -> tools::fault::Fault {
    house.call(UPDATE, &args.to_string()).await.unwrap_err()
}

/// What the guest's configuration says of a key, now.
fn set_now(house: &House, vmid: u32, key: &str) -> Option<String> {
    house
        .sim
        .world(|world| world.guests[&vmid].config.get(key).map(str::to_owned))
}

/// What of it waits for a restart.
fn pending(house: &House, vmid: u32) -> Vec<String> {
    house
        .sim
        .world(|world| world.guests[&vmid].pending.keys().cloned().collect())
}

/// The configuration without what only tells its history.
fn config_of(house: &House, vmid: u32) -> Vec<(String, String)> {
    house.sim.world(|world| {
        let config = &world.guests[&vmid].config;
        config
            .iter()
            .map(|(key, value)| (key.to_owned(), value.trim_end().to_owned()))
            .collect()
    })
}

fn sent(house: &House) -> String {
    let requests = house.sim.requests();
    let write = requests.iter().rfind(|request| request.method != "GET");
    format!("{:?}", write.expect("something was sent"))
}

#[tokio::test]
async fn old_and_new_are_shown_for_every_setting() {
    let house = House::new().await;
    let args = json!({"vmid": 105, "set": {"memory": 4096, "onboot": true, "description": "two\nlines"}, "delete": ["ostype"]});
    let shown = preview(&house, &args).await;
    for part in [
        "2048 -> 4096",
        "unset -> 1",
        "unset -> two lines",
        "l26 -> removed",
    ] {
        assert!(shown.text.contains(part), "{part}: {}", shown.text);
    }
    assert_eq!(shown.data["risk"], "change");
}

#[tokio::test]
async fn what_a_running_vm_takes_at_once_and_what_waits_is_told_before_and_after() {
    let house = House::in_mode(Mode::Trusted).await;
    let args =
        json!({"vmid": 100, "set": {"memory": 8192, "cores": 8, "name": "www", "cpulimit": 2}});
    let shown = preview(&house, &args).await;
    for part in [
        "4096 -> 8192, after a restart",
        "web -> www, at once",
        "unset -> 2, at once",
        "cores and memory will take effect only when it is restarted",
    ] {
        assert!(shown.text.contains(part), "{part}: {}", shown.text);
    }
    let answer = apply(&house, &args).await;
    assert!(
        answer
            .text
            .contains("waiting for a restart: cores and memory"),
        "{}",
        answer.text
    );
    assert_eq!(pending(&house, 100), ["cores", "memory"]);
    assert_eq!(set_now(&house, 100, "name").as_deref(), Some("www"));
}

/// Every setting whose fate on a running guest the preview foretells: PVE (as the simulator plays it) has the last word.
#[tokio::test]
async fn the_forecast_of_what_waits_is_right() {
    let cases = [
        (
            100,
            json!({"onboot": false, "shares": 500, "cpuunits": 200}),
        ),
        (
            100,
            json!({"cores": 2, "sockets": 2, "bios": "ovmf", "vga": "std"}),
        ),
        (100, json!({"agent": "1,fstrim_cloned_disks=1"})),
        (100, json!({"agent": "0"})),
        (100, json!({"balloon": 1024})),
        (100, json!({"balloon": 0})),
        (100, json!({"hotplug": "network,disk"})),
        (100, json!({"hotplug": "network,disk,memory"})),
        (100, json!({"net0": "virtio,bridge=vmbr0,tag=30"})),
        (100, json!({"net0": "e1000,bridge=vmbr0"})),
        (100, json!({"net1": "virtio,bridge=vmbr0"})),
        (100, json!({"scsi1": "local-lvm:1"})),
        (100, json!({"sata1": "local-lvm:1"})),
        (
            100,
            json!({"scsi0": "local-lvm:vm-100-disk-0,discard=on,iothread=1,size=32G,mbps=10"}),
        ),
        (
            100,
            json!({"scsi0": "local-lvm:vm-100-disk-0,iothread=1,size=32G"}),
        ),
        (100, json!({"ciuser": "a", "nameserver": "1.1.1.1"})),
        (100, json!({"ipconfig0": "ip=dhcp"})),
        (100, json!({"tablet": false, "startup": "order=3"})),
        (
            200,
            json!({"memory": 256, "swap": 0, "cores": 2, "cpulimit": 1}),
        ),
        (
            200,
            json!({"hostname": "ns", "onboot": false, "description": "x"}),
        ),
        (
            200,
            json!({"nameserver": "1.1.1.1", "tty": 3, "timezone": "host"}),
        ),
        (200, json!({"mp0": "local-lvm:1,mp=/data"})),
        (200, json!({"net0": "name=eth0,bridge=vmbr0,ip=dhcp,tag=5"})),
    ];
    for (vmid, set) in cases {
        let house = House::in_mode(Mode::Trusted).await;
        let args = json!({"vmid": vmid, "set": set});
        let shown = preview(&house, &args).await;
        let mut foretold: Vec<String> = shown.data["affects"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|item| {
                item["note"]
                    .as_str()
                    .is_some_and(|note| note.ends_with("after a restart"))
            })
            .map(|item| item["id"].as_str().unwrap().to_owned())
            .collect();
        foretold.sort();
        let answer = apply(&house, &args).await;
        assert_eq!(pending(&house, vmid), foretold, "{args}: {}", answer.text);
        let waits = answer.text.contains("waiting for a restart");
        assert_eq!(waits, !foretold.is_empty(), "{args}: {}", answer.text);
    }
}

#[tokio::test]
async fn the_digest_goes_along() {
    let house = House::in_mode(Mode::Trusted).await;
    apply(&house, &json!({"vmid": 105, "set": {"cores": 4}})).await;
    assert!(sent(&house).contains("digest"), "{}", sent(&house));
    apply(&house, &json!({"vmid": 105, "grow": {"scsi0": "20G"}})).await;
    assert!(sent(&house).contains("digest"), "{}", sent(&house));
    apply(&house, &json!({"vmid": 203, "set": {"cores": 2}})).await;
    assert!(sent(&house).contains("digest"), "{}", sent(&house));
}

/// Between the look and the write somebody else is faster: PVE refuses by the digest, and its words arrive.
#[tokio::test]
async fn a_change_that_slips_in_between_is_refused_by_the_digest() {
    let house = House::in_mode(Mode::Trusted).await;
    // Two reads tell the plan and its guard the same; the world has moved on.
    let config = house.engine.clusters()[0]
        .pve
        .get::<Value>("/nodes/pve1/qemu/105/config")
        .await
        .unwrap();
    house
        .sim
        .fault(Fault::answer("GET", "/nodes/pve1/qemu/105/config", config));
    house.sim.world(|world| {
        world
            .guests
            .get_mut(&105)
            .unwrap()
            .config
            .set("onboot", "1")
    });
    let fault = refused(&house, json!({"vmid": 105, "set": {"cores": 4}})).await;
    assert!(fault.message.contains("checksum mismatch"), "{fault}");
    assert_eq!(set_now(&house, 105, "cores").as_deref(), Some("2"));
}

#[tokio::test]
async fn a_change_meanwhile_gives_a_new_preview() {
    let house = House::new().await;
    let args = json!({"vmid": 105, "delete": ["scsi0"]}).to_string();
    let asked = house.call(UPDATE, &args).await.unwrap();
    let id = asked.data["plan"].as_str().unwrap().to_owned();
    house.approve(&id);
    house
        .sim
        .world(|world| world.guests.get_mut(&105).unwrap().config.set("cores", "3"));
    let answer = house.call(UPDATE, &args).await.unwrap();
    assert_eq!(answer.data["status"], "needs_confirmation");
    assert!(
        answer
            .text
            .contains("changed since the last preview: cores"),
        "{}",
        answer.text
    );
    assert_eq!(house.writes(), [""; 0]);
}

/// The undo of each change, sent as it is proposed, brings the very configuration back.
#[tokio::test]
async fn the_undo_brings_the_old_configuration_back() {
    let cases = [
        json!({"vmid": 105, "set": {"memory": 4096, "cores": 4, "onboot": true, "description": "x"}, "delete": ["sockets"]}),
        json!({"vmid": 105, "set": {"net0": "virtio,bridge=vmbr0,tag=20", "net1": "virtio,bridge=vmbr0"}}),
        json!({"vmid": 105, "set": {"ide2": "nas:iso/debian-13.1.0-amd64-netinst.iso"}}),
        json!({"vmid": 105, "delete": ["scsi0"]}),
        json!({"vmid": 100, "set": {"memory": 8192, "tags": ["web"]}}),
        json!({"vmid": 111, "set": {"ciuser": "me", "sshkeys": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI me@home"}}),
        json!({"vmid": 200, "set": {"memory": 1024, "hostname": "ns", "net0": "name=eth0,bridge=vmbr0,ip=dhcp"}, "delete": ["startup"]}),
        json!({"vmid": 208, "delete": ["mp0"]}),
    ];
    for args in cases {
        let house = House::in_mode(Mode::Trusted).await;
        let vmid = u32::try_from(args["vmid"].as_u64().unwrap()).unwrap();
        let before = config_of(&house, vmid);
        let answer = apply(&house, &args).await;
        let undo = &answer.data["undo"];
        assert_eq!(undo["tool"], UPDATE, "{args}: {}", answer.text);
        apply(&house, &undo["arguments"]).await;
        assert_eq!(config_of(&house, vmid), before, "{args}: {undo}");
        assert_eq!(pending(&house, vmid), [""; 0], "{args}: {undo}");
    }
}

#[tokio::test]
async fn the_undo_says_what_it_does_not_bring_back() {
    let house = House::new().await;
    let grown = preview(&house, &json!({"vmid": 105, "grow": {"scsi0": "+8G"}})).await;
    assert_eq!(grown.data["irreversible"], "scsi0 stays grown");
    let both = json!({"vmid": 105, "set": {"cores": 4}, "grow": {"scsi0": "+8G"}});
    let both = preview(&house, &both).await;
    assert!(
        both.text
            .contains("the undo leaves this: scsi0 stays grown"),
        "{}",
        both.text
    );
    assert_eq!(both.data["undo"]["arguments"]["set"], json!({"cores": 2}));
    let protected = preview(&house, &json!({"vmid": 105, "set": {"protection": true}})).await;
    assert!(
        protected.data["irreversible"]
            .as_str()
            .unwrap()
            .contains("only a person"),
        "{}",
        protected.text
    );
}

#[tokio::test]
async fn the_risk_is_that_of_the_settings() {
    for (args, expected) in [
        (json!({"vmid": 105, "set": {"cores": 4}}), "change"),
        (
            json!({"vmid": 105, "set": {"net0": "virtio,bridge=vmbr0,link_down=1"}}),
            "change",
        ),
        (
            json!({"vmid": 100, "set": {"net0": "virtio,bridge=vmbr0,link_down=1"}}),
            "disrupt",
        ),
        (
            json!({"vmid": 100, "set": {"net0": "virtio,bridge=vmbr0,firewall=1,rate=10"}}),
            "change",
        ),
        (json!({"vmid": 100, "delete": ["net0"]}), "disrupt"),
        (json!({"vmid": 200, "set": {"memory": 128}}), "disrupt"),
        (json!({"vmid": 200, "set": {"memory": 1024}}), "change"),
        (json!({"vmid": 105, "delete": ["scsi0"]}), "destroy"),
        (
            json!({"vmid": 105, "set": {"scsi0": "local-lvm:8"}}),
            "destroy",
        ),
        (json!({"vmid": 104, "delete": ["ide2"]}), "change"),
        (json!({"vmid": 111, "delete": ["ide2"]}), "destroy"),
        (json!({"vmid": 208, "delete": ["mp0"]}), "destroy"),
        (json!({"vmid": 900, "set": {"template": false}}), "destroy"),
        (json!({"vmid": 111, "set": {"ciuser": "me"}}), "grant"),
        (json!({"vmid": 111, "set": {"cipassword": "x"}}), "grant"),
        (
            json!({"vmid": 111, "set": {"sshkeys": "ssh-ed25519 AAAA me"}}),
            "grant",
        ),
        (json!({"vmid": 105, "set": {"args": "-foo"}}), "grant"),
        (
            json!({"vmid": 200, "set": {"features": "nesting=0"}}),
            "grant",
        ),
        (json!({"vmid": 111, "regenerate_cloudinit": true}), "change"),
        (
            json!({"vmid": 105, "set": {"scsi1": "local-lvm:vm-103-disk-0"}}),
            "destroy",
        ),
    ] {
        assert_eq!(risk(args.clone()).await, expected, "{args}");
    }
}

/// A disk that was detached and then deleted is gone, with its size shown before.
#[tokio::test]
async fn a_detached_disk_stays_and_a_deleted_one_goes() {
    let house = House::in_mode(Mode::Trusted).await;
    let shown = preview(&house, &json!({"vmid": 105, "delete": ["scsi0"]})).await;
    assert!(
        shown
            .text
            .contains("local-lvm:vm-105-disk-0 stays as an unused disk"),
        "{}",
        shown.text
    );
    apply(&house, &json!({"vmid": 105, "delete": ["scsi0"]})).await;
    assert_eq!(
        set_now(&house, 105, "unused0").as_deref(),
        Some("local-lvm:vm-105-disk-0")
    );
    let gone = preview(&house, &json!({"vmid": 105, "delete": ["unused0"]})).await;
    assert_eq!(gone.data["risk"], "destroy");
    let disk = &gone.data["affects"][1];
    assert_eq!(disk["effect"], "destroyed");
    assert_eq!(disk["bytes"], 16_u64 << 30, "{}", gone.text);
    apply(&house, &json!({"vmid": 105, "delete": ["unused0"]})).await;
    let left = house.sim.world(|world| {
        let volumes = world.volumes.iter();
        volumes
            .filter(|volume| volume.volid.contains("vm-105-"))
            .count()
    });
    assert_eq!(left, 0);
}

#[tokio::test]
async fn another_guests_disk_brings_its_owner_into_the_plan() {
    let house = House::new().await;
    let args = json!({"vmid": 105, "set": {"scsi1": "tank:vm-103-disk-0"}});
    let shown = preview(&house, &args).await;
    assert!(shown.text.contains("of VM 103 (files)"), "{}", shown.text);
    // What the token cannot read counts as protected.
    let fault = house
        .call_with(
            ("/vms/105", &["VM.Audit", "VM.Config.Disk"]),
            UPDATE,
            &args.to_string(),
        )
        .await
        .unwrap_err();
    assert!(fault.message.contains("counts as protected"), "{fault}");
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_disk_is_not_attached_twice() {
    let house = House::in_mode(Mode::Trusted).await;
    let fault = refused(
        &house,
        json!({"vmid": 105, "set": {"scsi1": "local-lvm:vm-105-disk-0"}}),
    )
    .await;
    assert!(
        fault.message.contains("is attached as scsi0 already"),
        "{fault}"
    );
    apply(
        &house,
        &json!({"vmid": 105, "set": {"virtio0": "local-lvm:vm-105-disk-0"}, "delete": ["scsi0"]}),
    )
    .await;
    assert!(set_now(&house, 105, "virtio0").is_some() && set_now(&house, 105, "scsi0").is_none());
    assert_eq!(set_now(&house, 105, "unused0"), None);
}

#[tokio::test]
async fn a_disk_grows_and_never_shrinks() {
    let house = House::in_mode(Mode::Trusted).await;
    let shown = preview(&house, &json!({"vmid": 105, "grow": {"scsi0": "+8G"}})).await;
    assert!(
        shown.text.contains("scsi0: 16.0 GiB -> 24.0 GiB"),
        "{}",
        shown.text
    );
    assert!(shown.text.contains("free on local-lvm"), "{}", shown.text);
    apply(&house, &json!({"vmid": 105, "grow": {"scsi0": "+8G"}})).await;
    assert!(set_now(&house, 105, "scsi0").unwrap().contains("size=24G"));
    let writes = house.writes().len();
    let fault = refused(&house, json!({"vmid": 105, "grow": {"scsi0": "8G"}})).await;
    assert!(fault.message.contains("cannot shrink"), "{fault}");
    let fault = refused(&house, json!({"vmid": 105, "grow": {"scsi7": "8G"}})).await;
    assert_eq!(fault.hint.as_deref(), Some("its disks are scsi0"));
    let same = apply(&house, &json!({"vmid": 105, "grow": {"scsi0": "24G"}})).await;
    assert!(same.text.contains("nothing to do"), "{}", same.text);
    assert_eq!(house.writes().len(), writes, "nothing more was sent");
}

/// PVE refuses half-way: the configuration is changed, the disk is not, and the undo cleans up.
#[tokio::test]
async fn a_refused_resize_says_that_the_configuration_was_changed() {
    let house = House::in_mode(Mode::Trusted).await;
    house.sim.fault(Fault::fail_task(
        "resize",
        "lvextend: insufficient free space",
        "command 'lvextend' failed: exit code 5",
    ));
    let args = json!({"vmid": 105, "set": {"cores": 4}, "grow": {"scsi0": "1T"}});
    let fault = refused(&house, args).await;
    for part in [
        "exit code 5",
        "insufficient free space",
        "done before: Change cores of VM 105",
    ] {
        assert!(fault.message.contains(part), "{part}: {fault}");
    }
    let hint = fault.hint.unwrap();
    assert!(
        hint.contains(r#"update_proxmox_vm {"vmid":105,"set":{"cores":2}}"#),
        "{hint}"
    );
    assert_eq!(set_now(&house, 105, "cores").as_deref(), Some("4"));
    assert!(set_now(&house, 105, "scsi0").unwrap().contains("size=16G"));
}

/// A device that the guest does not let go of: PVE's task fails, the other settings are in, and both are told.
#[tokio::test]
async fn a_failed_hotplug_tells_what_waits() {
    let house = House::in_mode(Mode::Trusted).await;
    house
        .sim
        .world(|world| world.guests.get_mut(&100).unwrap().inside.os = false);
    let fault = refused(
        &house,
        json!({"vmid": 100, "set": {"name": "www"}, "delete": ["net0"]}),
    )
    .await;
    assert!(fault.message.contains("still busy in guest?"), "{fault}");
    assert!(
        fault.message.contains("waiting for a restart: net0"),
        "{fault}"
    );
    assert_eq!(set_now(&house, 100, "name").as_deref(), Some("www"));
}

#[tokio::test]
async fn a_lost_answer_is_found_by_its_task() {
    let house = House::in_mode(Mode::Trusted).await;
    house.sim.fault(
        Fault::drop_after()
            .on("POST", "/nodes/*/qemu/105/config")
            .times(1),
    );
    let answer = apply(&house, &json!({"vmid": 105, "set": {"cores": 4}})).await;
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    assert!(answer.text.contains(":qmconfig:105:"), "{}", answer.text);
    assert_eq!(house.writes().len(), 1, "sent once");
}

/// A container's change has no task; what can be read back is done, and what never arrived is unknown.
#[tokio::test]
async fn a_containers_lost_answer_is_read_back() {
    for (fault, status) in [
        (Fault::drop_after(), "applied"),
        (Fault::drop_before(), "unknown"),
    ] {
        let house = House::in_mode(Mode::Trusted).await;
        house
            .sim
            .fault(fault.on("PUT", "/nodes/*/lxc/203/config").times(1));
        let answer = apply(&house, &json!({"vmid": 203, "set": {"cores": 2}})).await;
        assert_eq!(answer.data["status"], status, "{}", answer.text);
        assert!(house.writes().len() <= 1, "sent once");
    }
}

#[tokio::test]
async fn a_missing_privilege_is_named() {
    let house = House::new().await;
    let fault = house
        .call_with(
            ("/vms/105", &["VM.Audit", "VM.Config.CPU"]),
            UPDATE,
            r#"{"vmid": 105, "set": {"memory": 4096, "cores": 4}}"#,
        )
        .await
        .unwrap_err();
    assert!(
        fault.message.contains("VM.Config.Memory on /vms/105"),
        "{fault}"
    );
    assert_eq!(set_now(&house, 105, "cores").as_deref(), Some("2"));
}

#[tokio::test]
async fn what_only_root_may_is_said_before_it_is_sent() {
    let house = House::in_mode(Mode::Trusted).await;
    for (vmid, set, what) in [
        (105, json!({"args": "-foo"}), "`args`"),
        (
            105,
            json!({"hookscript": "local:snippets/x.sh"}),
            "`hookscript`",
        ),
        (105, json!({"hostpci0": "00:1f.0"}), "no mapping"),
        (105, json!({"scsi1": "/dev/sdb"}), "path of the node"),
        (203, json!({"mp0": "/srv,mp=/srv"}), "path of the node"),
        (
            203,
            json!({"features": "nesting=1,keyctl=1"}),
            "other than nesting",
        ),
    ] {
        let fault = refused(&house, json!({"vmid": vmid, "set": set})).await;
        assert!(fault.message.contains("only root@pam itself"), "{fault}");
        assert!(fault.message.contains(what), "{what}: {fault}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn wrong_settings_lead_to_right_ones() {
    let house = House::in_mode(Mode::Trusted).await;
    for (args, part) in [
        (
            json!({"vmid": 105, "set": {"memroy": 1}}),
            "did you mean `memory`?",
        ),
        (
            json!({"vmid": 105, "set": {"hostname": "a"}}),
            "it is called `name`",
        ),
        (
            json!({"vmid": 200, "set": {"name": "a"}}),
            "it is called `hostname`",
        ),
        (
            json!({"vmid": 105, "set": {"cores": "many"}}),
            "send a whole number",
        ),
        (
            json!({"vmid": 105, "set": {"onboot": "maybe"}}),
            "send true or false",
        ),
        (
            json!({"vmid": 105, "set": {"cores": null}}),
            "name it in delete",
        ),
        (
            json!({"vmid": 105, "set": {"lock": "backup"}}),
            "PVE sets and clears it itself",
        ),
        (
            json!({"vmid": 105, "set": {"unused0": "x:y"}}),
            "attach one by its volume",
        ),
        (
            json!({"vmid": 200, "set": {"unprivileged": false}}),
            "keeps what it was created as",
        ),
        (
            json!({"vmid": 200, "delete": ["rootfs"]}),
            "leave it out of delete",
        ),
        (
            json!({"vmid": 105, "set": {"cores": 1}, "delete": ["cores"]}),
            "leave it in one of the two",
        ),
        (
            json!({"vmid": 105}),
            "send set, delete, grow or regenerate_cloudinit",
        ),
        (
            json!({"vmid": 105, "regenerate_cloudinit": true}),
            "attach one first",
        ),
        (
            json!({"vmid": 200, "regenerate_cloudinit": true}),
            "a container has no cloud-init drive",
        ),
        (
            json!({"vmid": 105, "set": {"net1": "virtio,bridge=vmbr9"}}),
            "its bridges are vmbr0",
        ),
        (
            json!({"vmid": 105, "set": {"scsi1": "nowhere:8"}}),
            "those that do are",
        ),
        (
            json!({"vmid": 105, "grow": {"scsi0": "40"}}),
            "with its unit",
        ),
        (
            json!({"vmid": 107, "set": {"cores": 2}}),
            "is locked (backup)",
        ),
    ] {
        let fault = refused(&house, args.clone()).await;
        assert!(fault.to_string().contains(part), "{args}: {fault}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn what_is_so_already_is_not_sent() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = json!({"vmid": 100, "set": {"memory": 4096, "tags": "web,prod", "onboot": true}, "delete": ["startup"]});
    let answer = apply(&house, &args).await;
    assert!(answer.text.contains("nothing to do"), "{}", answer.text);
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_card_keeps_its_address() {
    let house = House::in_mode(Mode::Trusted).await;
    apply(
        &house,
        &json!({"vmid": 105, "set": {"net0": "virtio,bridge=vmbr0,tag=20"}}),
    )
    .await;
    let card = set_now(&house, 105, "net0").unwrap();
    assert!(
        card.contains("BC:24:11:00:01:05") && card.contains("tag=20"),
        "{card}"
    );
}

#[tokio::test]
async fn cloud_init_is_written_anew() {
    let house = House::in_mode(Mode::Trusted).await;
    house
        .call("start_proxmox_vm", r#"{"vmid": 111}"#)
        .await
        .unwrap();
    let args = json!({"vmid": 111, "set": {"ciuser": "deploy"}});
    let answer = apply(&house, &args).await;
    assert!(
        answer
            .text
            .contains("regenerate_cloudinit: true writes it now"),
        "{}",
        answer.text
    );
    assert!(
        house
            .sim
            .world(|world| !world.guests[&111].cloudinit.is_empty())
    );
    apply(&house, &json!({"vmid": 111, "regenerate_cloudinit": true})).await;
    assert!(
        house
            .sim
            .world(|world| world.guests[&111].cloudinit.is_empty())
    );
    let none = preview(&house, &json!({"vmid": 105, "set": {"ciuser": "me"}})).await;
    assert!(
        none.text.contains("it has no cloud-init drive"),
        "{}",
        none.text
    );
}

#[tokio::test]
async fn keys_are_encoded_once_however_they_come() {
    let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI+x/y== me@home";
    for given in [json!(key), json!([key]), json!(pve::encode_value(key))] {
        let house = House::in_mode(Mode::Trusted).await;
        apply(&house, &json!({"vmid": 111, "set": {"sshkeys": given}})).await;
        assert_eq!(
            set_now(&house, 111, "sshkeys").unwrap(),
            pve::encode_value(key)
        );
    }
}

/// The password reaches PVE and nobody else: not the preview, the question, the answer, the undo or the audit trail.
#[tokio::test]
async fn the_password_is_seen_nowhere() {
    let canary = "canary-Pa55word";
    let house = House::new().await;
    let args = json!({"vmid": 111, "set": {"cipassword": canary, "ciuser": "me"}});
    let person = Person::saying_yes();
    let shown = preview(&house, &args).await;
    let answer = house.ask(UPDATE, &args.to_string(), &person).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    let number = json!({"vmid": 111, "set": {"cipassword": 5_550_123}});
    let wrong = refused(&house, number).await;
    let trail = house.engine.store().unwrap().audit_trail(1000).unwrap();
    let questions = person.asked.lock().unwrap();
    let seen = format!("{shown:?} {answer:?} {wrong:?} {trail:?} {questions:?}");
    assert!(!seen.contains(canary), "{seen}");
    assert!(!seen.contains("5550123"), "{seen}");
    assert!(shown.text.contains("(not shown)"), "{}", shown.text);
    let stored = set_now(&house, 111, "cipassword").unwrap();
    assert!(stored.starts_with("$5$"), "it arrived: {stored}");
}

/// What the guest is known by is not changed between two steps of one plan.
#[tokio::test]
async fn a_new_identity_is_a_call_of_its_own() {
    let house = House::in_mode(Mode::Trusted).await;
    let net = json!({"net1": "name=eth1,bridge=vmbr0"});
    let fault = refused(
        &house,
        json!({"vmid": 203, "set": net, "grow": {"rootfs": "70G"}}),
    )
    .await;
    assert!(fault.hint.unwrap().contains("in a second"));
    apply(&house, &json!({"vmid": 203, "set": net})).await;
    assert!(set_now(&house, 203, "net1").is_some());
}
