//! Guests that are not there yet: where they go, what is refused beforehand, what is left when a step fails.

use serde_json::{Value, json};
use sim::Fault;
use tools::fault::Kind;
use tools::policy::Mode;
use tools::tool::{Ran, Rendered};

use crate::house::{House, Person, object};

const KEY: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJX5LbHZ1e2jVJ0y7cXw3dJQe0vY4m9tUo8pW1aBcDeF me@laptop";
const DEBIAN: &str = "local:vztmpl/debian-13-standard_13.1-2_amd64.tar.zst";

async fn vm(house: &House, args: &Value) -> Result<Rendered, tools::fault::Fault> {
    house.call("create_proxmox_vm", &args.to_string()).await
}

async fn lxc(house: &House, args: &Value) -> Result<Rendered, tools::fault::Fault> {
    house.call("create_proxmox_lxc", &args.to_string()).await
}

async fn preview(house: &House, tool: &str, args: &Value) -> String {
    let arguments = json!({"tool": tool, "arguments": args}).to_string();
    let answer = house.call("preview_proxmox_change", &arguments).await;
    answer.unwrap().text
}

/// The value of a key in a guest's configuration, as the simulator has it.
fn config(house: &House, vmid: u32, key: &str) -> Option<String> {
    house.sim.world(|world| {
        let value = world.guests.get(&vmid)?.config.get(key);
        value.map(str::to_owned)
    })
}

fn made(answer: &Rendered) -> u32 {
    let vmid = answer.data["undo"]["arguments"]["vmid"].as_u64().unwrap();
    u32::try_from(vmid).unwrap()
}

#[tokio::test]
async fn a_name_is_enough() {
    let house = House::in_mode(Mode::Trusted).await;
    let answer = vm(&house, &json!({"name": "app1"})).await.unwrap();
    let vmid = made(&answer);
    assert_eq!(vmid, 112, "the next free id");
    assert_eq!(config(&house, vmid, "memory").as_deref(), Some("2048"));
    assert_eq!(config(&house, vmid, "cores").as_deref(), Some("2"));
    let disk = config(&house, vmid, "scsi0").unwrap();
    assert!(
        disk.starts_with("nas:") && disk.contains("size=32G"),
        "{disk}"
    );
    let answer = lxc(&house, &json!({"hostname": "ct1"})).await.unwrap();
    let vmid = made(&answer);
    assert_eq!(config(&house, vmid, "memory").as_deref(), Some("512"));
    assert_eq!(config(&house, vmid, "unprivileged").as_deref(), Some("1"));
    assert_eq!(
        config(&house, vmid, "features").as_deref(),
        Some("nesting=1")
    );
    let disk = config(&house, vmid, "rootfs").unwrap();
    assert!(
        disk.starts_with("tank:") && disk.contains("size=8G"),
        "{disk}"
    );
}

#[tokio::test]
async fn what_was_chosen_is_shown_with_its_reason() {
    let house = House::new().await;
    let text = preview(&house, "create_proxmox_vm", &json!({"name": "app1"})).await;
    for part in [
        "on pve1, the node with the most free memory",
        "the most free space on pve1 for disks of VMs",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    let text = preview(&house, "create_proxmox_lxc", &json!({"hostname": "ct1"})).await;
    assert!(text.contains("the newest Debian template there"), "{text}");
    assert_eq!(house.writes(), [""; 0]);
}

/// A guest goes where its storage and its installation media are, whatever memory is free elsewhere.
#[tokio::test]
async fn the_place_has_what_it_takes() {
    let house = House::in_mode(Mode::Trusted).await;
    house.sim.world(|world| {
        let pve2 = world.nodes.get_mut("pve2").unwrap();
        pve2.memory *= 8;
    });
    let args = json!({"name": "rescue", "iso": "systemrescue-12.02-amd64.iso"});
    let text = preview(&house, "create_proxmox_vm", &args).await;
    assert!(text.contains("POST /nodes/pve1/qemu"), "{text}");
    assert!(
        text.contains("there is no ISO image systemrescue-12.02-amd64.iso on pve2"),
        "{text}"
    );
    let text = preview(&house, "create_proxmox_vm", &json!({"name": "app"})).await;
    assert!(text.contains("POST /nodes/pve2/qemu"), "{text}");
    house.sim.set_online("pve2", false);
    let text = preview(&house, "create_proxmox_vm", &json!({"name": "app"})).await;
    assert!(text.contains("POST /nodes/pve1/qemu"), "{text}");
}

#[tokio::test]
async fn what_is_not_there_is_answered_with_what_is() {
    let house = House::in_mode(Mode::Trusted).await;
    let cases = [
        (
            json!({"name": "a", "node": "pve3", "storage": "tank"}),
            "local-lvm and nas",
        ),
        (
            json!({"name": "a", "node": "pve1", "storage": "local"}),
            "takes no disks of VMs",
        ),
        (
            json!({"name": "a", "node": "pve1", "storage": "nope"}),
            "there is no storage nope on pve1",
        ),
        (
            json!({"name": "a", "node": "pve1", "bridge": "vmbr7"}),
            "the bridges there: vmbr0",
        ),
        (
            json!({"name": "a", "node": "pve1", "iso": "nas:iso/debian-12.iso"}),
            "nas:iso/debian-13.1.0-amd64-netinst.iso",
        ),
        (
            json!({"name": "a", "node": "pve1", "iso": "tank:iso/debian-12.iso"}),
            "those with ISO images there: local and nas",
        ),
        (
            json!({"name": "a", "node": "pve9"}),
            "the nodes are pve1, pve2 and pve3",
        ),
        (json!({"name": "a", "vmid": 200}), "the vmid 200 is taken"),
        (
            json!({"name": "a", "template": 105}),
            "the templates of VMs: 900 (debian-13) and 901 (ubuntu-24)",
        ),
        (
            json!({"name": "a", "template": 200}),
            "is no template of a VM",
        ),
    ];
    for (args, said) in cases {
        let fault = vm(&house, &args).await.unwrap_err().to_string();
        assert!(fault.contains(said), "{args}: {fault}");
    }
    let args = json!({"hostname": "a", "ostemplate": "local:vztmpl/arch.tar.zst"});
    let fault = lxc(&house, &args).await.unwrap_err();
    assert_eq!(fault.kind, Kind::NotFound);
    assert!(
        fault.message.contains("on pve3"),
        "each node is named: {fault}"
    );
    assert!(fault.hint.unwrap().contains(DEBIAN));
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn wrong_values_are_refused_before_anything_is_sent() {
    let house = House::in_mode(Mode::Trusted).await;
    let cases = [
        ("create_proxmox_vm", json!({"name": "a_b"}), "DNS name"),
        (
            "create_proxmox_vm",
            json!({"name": "a", "disk_size": "big"}),
            "\"32G\"",
        ),
        (
            "create_proxmox_vm",
            json!({"name": "a", "vlan": 5000}),
            "1 to 4094",
        ),
        (
            "create_proxmox_vm",
            json!({"name": "a", "ostype": "linux"}),
            "`l26`",
        ),
        (
            "create_proxmox_vm",
            json!({"name": "a", "sshkeys": "me"}),
            "line 1",
        ),
        (
            "create_proxmox_vm",
            json!({"name": "a", "ip": "10.0.0.5"}),
            "192.168.1.50/24",
        ),
        (
            "create_proxmox_vm",
            json!({"name": "a", "tags": "a!b"}),
            "is not a tag",
        ),
        (
            "create_proxmox_vm",
            json!({"name": "a", "bridge": "vmbr0,firewall=0"}),
            "not the name of a bridge",
        ),
        (
            "create_proxmox_vm",
            json!({"name": "a", "template": 900, "iso": "x.iso"}),
            "does not go with template",
        ),
        (
            "create_proxmox_vm",
            json!({"name": "a", "template": 900, "disk_size": 8}),
            "disks do not shrink",
        ),
        (
            "create_proxmox_vm",
            json!({"name": "a", "template": 901, "node": "pve2"}),
            "does not share",
        ),
        (
            "create_proxmox_vm",
            json!({"name": "a", "memory": 999_999, "start": true}),
            "it would not start",
        ),
        (
            "create_proxmox_vm",
            json!({"name": "a", "cores": 999, "start": true}),
            "CPUs",
        ),
        (
            "create_proxmox_lxc",
            json!({"hostname": "a", "password": "1234"}),
            "fewer than 5",
        ),
        (
            "create_proxmox_lxc",
            json!({"hostname": "a", "unprivileged": false, "nesting": true}),
            "only root@pam itself",
        ),
    ];
    for (tool, args, said) in cases {
        let fault = house.call(tool, &args.to_string()).await.unwrap_err();
        assert!(fault.to_string().contains(said), "{tool} {args}: {fault}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn what_may_not_fit_is_a_warning() {
    let house = House::new().await;
    for (args, said) in [
        (
            json!({"name": "a", "storage": "local-lvm", "disk_size": 5000}),
            "less than the 4.9 TiB",
        ),
        (json!({"name": "a", "memory": 999_999}), "it will not start"),
        (json!({"name": "a", "start": true}), "nothing to boot"),
    ] {
        let text = preview(&house, "create_proxmox_vm", &args).await;
        assert!(text.contains(said), "{args}: {text}");
        assert!(!text.contains("would be refused"), "{args}: {text}");
    }
}

#[tokio::test]
async fn windows_gets_hardware_that_its_installer_knows() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = json!({"name": "office", "vmid": 310, "ostype": "win11", "disk_size": "80G"});
    vm(&house, &args).await.unwrap();
    let set = |key| config(&house, 310, key).unwrap_or_default();
    assert_eq!(set("bios"), "ovmf");
    assert!(set("efidisk0").contains("pre-enrolled-keys=1"));
    assert!(set("tpmstate0").contains("version=v2.0"));
    assert!(set("sata0").contains("size=80G"));
    assert!(set("net0").starts_with("e1000="));
}

#[tokio::test]
async fn a_template_is_cloned_set_up_grown_and_started() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = json!({
        "name": "app2", "vmid": 311, "template": 900, "memory": "4096", "cores": 4, "disk_size": 40,
        "ciuser": "me", "cipassword": "hunter2", "sshkeys": [KEY], "ip": "192.168.1.50/24",
        "gateway": "192.168.1.1", "tags": ["web"], "vlan": 20, "start": true,
    });
    let answer = vm(&house, &args).await.unwrap();
    let steps = answer.data["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 4, "{}", answer.text);
    assert_eq!(
        house.writes(),
        [
            "POST /nodes/pve1/qemu/900/clone",
            "POST /nodes/pve1/qemu/311/config",
            "PUT /nodes/pve1/qemu/311/resize",
            "POST /nodes/pve1/qemu/311/status/start",
        ]
    );
    let set = |key| config(&house, 311, key).unwrap_or_default();
    assert_eq!(
        (set("memory"), set("cores")),
        ("4096".to_owned(), "4".to_owned())
    );
    assert_eq!(set("ciuser"), "me");
    assert_eq!(set("ipconfig0"), "ip=192.168.1.50/24,gw=192.168.1.1");
    assert!(
        set("sshkeys").contains("ssh-ed25519%20AAAA"),
        "{}",
        set("sshkeys")
    );
    assert!(set("scsi0").contains("size=40G"), "{}", set("scsi0"));
    assert!(set("net0").contains("bridge=vmbr0") && set("net0").contains("tag=20"));
    assert_eq!(set("tags"), "web");
}

/// A template without a cloud-init drive gets one.
#[tokio::test]
async fn cloud_init_gets_its_drive() {
    let house = House::in_mode(Mode::Trusted).await;
    for args in [
        json!({"name": "u", "vmid": 312, "template": 901, "ciuser": "me"}),
        json!({"name": "u", "vmid": 313, "storage": "local-lvm", "ciuser": "me"}),
    ] {
        vm(&house, &args)
            .await
            .unwrap_or_else(|fault| panic!("{args}: {fault}"));
    }
    for (vmid, slot) in [(312, "ide2"), (313, "ide0")] {
        let drive = config(&house, vmid, slot).unwrap();
        assert!(drive.contains("cloudinit"), "{vmid}: {drive}");
    }
}

#[tokio::test]
async fn a_start_that_fails_leaves_the_guest_and_says_how_to_remove_it() {
    for (tool, task, args) in [
        (
            "create_proxmox_vm",
            "qmstart",
            json!({"name": "a", "vmid": 320, "start": true}),
        ),
        (
            "create_proxmox_lxc",
            "vzstart",
            json!({"hostname": "a", "vmid": 320, "start": true}),
        ),
    ] {
        let house = House::in_mode(Mode::Trusted).await;
        house
            .sim
            .fault(Fault::fail_task(task, "no such bridge", "start failed"));
        let fault = house.call(tool, &args.to_string()).await.unwrap_err();
        for part in [
            "no such bridge",
            "done before: Create",
            "delete_proxmox_vm",
            "\"vmid\":320",
        ] {
            assert!(
                fault.to_string().contains(part),
                "{tool}: {part} in {fault}"
            );
        }
        assert!(config(&house, 320, "memory").is_some(), "it is there");
    }
}

#[tokio::test]
async fn settings_that_are_refused_after_the_clone_say_what_was_done() {
    let house = House::in_mode(Mode::Trusted).await;
    let refuse = Fault::refuse(500, "no room for that");
    house.sim.fault(refuse.on("POST", "/nodes/*/qemu/*/config"));
    let args = json!({"name": "a", "vmid": 320, "template": 900, "cores": 4, "disk_size": 40, "start": true});
    let fault = vm(&house, &args).await.unwrap_err().to_string();
    for part in [
        "no room for that",
        "done before: Clone VM 900 (debian-13) to 320 (a)",
        "not sent: Grow scsi0",
        "Start VM 320 (a)",
        "delete_proxmox_vm",
    ] {
        assert!(fault.contains(part), "{part} in {fault}");
    }
    assert_eq!(house.writes(), ["POST /nodes/pve1/qemu/900/clone"]);
}

#[tokio::test]
async fn a_lost_answer_is_found_again_and_sent_once() {
    for (tool, path, args) in [
        ("create_proxmox_vm", "/nodes/*/qemu", json!({"name": "a"})),
        (
            "create_proxmox_lxc",
            "/nodes/*/lxc",
            json!({"hostname": "a"}),
        ),
    ] {
        let house = House::in_mode(Mode::Trusted).await;
        house
            .sim
            .fault(Fault::drop_after().on("POST", path).times(1));
        let answer = house.call(tool, &args.to_string()).await.unwrap();
        assert_eq!(answer.data["status"], "applied", "{}", answer.text);
        assert_eq!(house.writes().len(), 1);
        house.sim.fault(Fault::drop_before().on("POST", path));
        let answer = house.call(tool, &args.to_string()).await.unwrap();
        assert_eq!(answer.data["status"], "unknown", "{}", answer.text);
    }
}

#[tokio::test]
async fn a_missing_privilege_is_named() {
    let house = House::in_mode(Mode::Trusted).await;
    let everything_but = [
        "VM.Allocate",
        "VM.Audit",
        "VM.Config.CPU",
        "VM.Config.Memory",
    ];
    let args = json!({"hostname": "a", "vmid": 320, "storage": "local-lvm", "ostemplate": DEBIAN});
    let fault = house
        .call_with(
            ("/vms/320", &everything_but),
            "create_proxmox_lxc",
            &args.to_string(),
        )
        .await
        .unwrap_err()
        .to_string();
    assert!(
        fault.contains("Datastore.AllocateSpace on /storage/local-lvm"),
        "{fault}"
    );
    let storage = ["Datastore.AllocateSpace"];
    let fault = house
        .call_with(
            ("/storage", &storage),
            "create_proxmox_lxc",
            &args.to_string(),
        )
        .await
        .unwrap_err()
        .to_string();
    assert!(fault.contains("VM.Config.Network on /vms/320"), "{fault}");
    assert_eq!(config(&house, 320, "memory"), None, "nothing was made");
}

/// Without SDN.Use a bridge cannot be seen: that it is missing is not claimed, the privilege is named.
#[tokio::test]
async fn an_unseen_bridge_is_not_called_missing() {
    let house = House::in_mode(Mode::Trusted).await;
    let storage = ["Datastore.AllocateSpace", "Datastore.Audit"];
    let args = json!({
        "tool": "create_proxmox_vm",
        "arguments": {"name": "a", "node": "pve1", "storage": "local-lvm"},
    });
    let answer = house
        .call_with(
            ("/storage", &storage),
            "preview_proxmox_change",
            &args.to_string(),
        )
        .await
        .unwrap();
    assert!(
        answer.text.contains("cannot be seen without SDN.Use"),
        "{}",
        answer.text
    );
    assert!(
        answer
            .text
            .contains("missing privilege: SDN.Use on /sdn/zones/localnetwork/vmbr0"),
        "{}",
        answer.text
    );
}

#[tokio::test]
async fn a_privileged_container_takes_more_and_cannot_nest() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = json!({"hostname": "a", "vmid": 320, "unprivileged": false});
    let text = preview(&house, "create_proxmox_lxc", &args).await;
    assert!(text.contains("root on the node"), "{text}");
    lxc(&house, &args).await.unwrap();
    assert_eq!(config(&house, 320, "unprivileged"), None);
    assert_eq!(config(&house, 320, "features"), None);
}

/// An id that was free when it was looked up and is taken when it is needed: nothing is overwritten.
#[tokio::test]
async fn an_id_that_is_taken_meanwhile_is_not_used() {
    let house = House::in_mode(Mode::Trusted).await;
    house
        .sim
        .fault(Fault::answer("GET", "/cluster/nextid", "105").times(1));
    let fault = vm(&house, &json!({"name": "a"})).await.unwrap_err();
    assert!(
        fault.message.contains("the vmid 105 is not free any more"),
        "{fault}"
    );
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn secrets_are_sent_and_shown_nowhere() {
    let canary = "canary-c3a7e";
    let cases = [
        (
            "create_proxmox_vm",
            json!({"name": "a", "vmid": 320, "cipassword": canary}),
        ),
        (
            "create_proxmox_vm",
            json!({"name": "b", "vmid": 321, "template": 900, "cipassword": canary}),
        ),
        (
            "create_proxmox_lxc",
            json!({"hostname": "c", "vmid": 322, "password": canary}),
        ),
    ];
    let house = House::in_mode(Mode::Trusted).await;
    let mut seen = Vec::new();
    for (name, args) in &cases {
        let tool = tools::registry::find_change(name).unwrap();
        let Ok(Ran::Plan(plan)) = tool.run(object(&args.to_string()), &house.context()).await
        else {
            panic!("{name} {args} gave no plan");
        };
        seen.push(format!("{plan:?}{}", serde_json::to_string(&plan).unwrap()));
        let text = preview(&house, name, args).await;
        assert!(text.contains("password=<"), "the hole is shown: {text}");
        seen.push(text);
        let person = Person::saying_yes();
        let answer = house.ask(name, &args.to_string(), &person).await.unwrap();
        seen.push(format!("{answer:?}{:?}", person.progress.lock().unwrap()));
    }
    let store = house.engine.store().unwrap();
    seen.push(format!("{:?}", store.audit_trail(1000).unwrap()));
    // What is no secret by its form is not quoted either.
    let wrong = json!({"name": "d", "cipassword": [canary]});
    seen.push(vm(&house, &wrong).await.unwrap_err().to_string());
    let private = format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{canary}");
    let wrong = json!({"name": "d", "sshkeys": private});
    seen.push(vm(&house, &wrong).await.unwrap_err().to_string());
    seen.push(format!("{:?}", store.audit_trail(1000).unwrap()));
    for text in seen {
        assert!(!text.contains(canary), "{text}");
    }
    let arrived = config(&house, 320, "cipassword").unwrap();
    assert_eq!(arrived, canary, "PVE keeps it as it was given");
}
