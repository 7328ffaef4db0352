//! What is shown before: old and new, what waits for a restart, what it costs.

use serde_json::json;
use tools::policy::Mode;

use super::{apply, pending, preview, risk, set_now};
use crate::house::House;

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
async fn the_risk_is_that_of_the_settings() {
    for (args, expected) in [
        (json!({"vmid": 105, "set": {"cores": 4}}), "change"),
        (
            json!({"vmid": 105, "set": {"net0": "virtio,bridge=vmbr0,firewall=1,link_down=1"}}),
            "change",
        ),
        (
            json!({"vmid": 100, "set": {"net0": "virtio,bridge=vmbr0,firewall=1,link_down=1"}}),
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
        (json!({"vmid": 105, "set": {"template": 1}}), "destroy"),
        (json!({"vmid": 208, "set": {"template": true}}), "destroy"),
        (json!({"vmid": 111, "set": {"ciuser": "me"}}), "grant"),
        (json!({"vmid": 111, "set": {"cipassword": "x"}}), "grant"),
        (
            json!({"vmid": 111, "set": {"sshkeys": "ssh-ed25519 AAAA me"}}),
            "grant",
        ),
        (json!({"vmid": 105, "set": {"args": "-foo"}}), "grant"),
        // Paths and devices of the node.
        (json!({"vmid": 203, "set": {"mp0": "/etc,mp=/x"}}), "grant"),
        (json!({"vmid": 105, "set": {"scsi1": "/dev/sda"}}), "grant"),
        (
            json!({"vmid": 105, "set": {"scsi1": "local-lvm:0,import-from=/root/vm-103-disk-0.raw"}}),
            "grant",
        ),
        (
            json!({"vmid": 105, "set": {"hostpci0": "01:00.0"}}),
            "grant",
        ),
        (json!({"vmid": 105, "set": {"usb0": "host=1-1"}}), "grant"),
        (
            json!({"vmid": 105, "set": {"serial0": "/dev/ttyS0"}}),
            "grant",
        ),
        (json!({"vmid": 105, "set": {"serial0": "socket"}}), "change"),
        (
            json!({"vmid": 105, "set": {"virtiofs0": "dirid=media"}}),
            "grant",
        ),
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

#[tokio::test]
async fn what_is_so_already_is_not_sent() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = json!({"vmid": 100, "set": {"memory": 4096, "tags": "web,prod", "onboot": true}, "delete": ["startup"]});
    let answer = apply(&house, &args).await;
    assert!(answer.text.contains("nothing to do"), "{}", answer.text);
    let shown = preview(&house, &args).await;
    assert_eq!(shown.data["irreversible"], "nothing changes");
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

/// Whoever says yes must have seen what it is to.
#[tokio::test]
async fn what_hands_out_power_is_shown_in_full() {
    let house = House::new().await;
    let key = format!("ssh-ed25519 AAAAC3Nz{} me@laptop", "Q".repeat(60));
    let older = "ssh-ed25519 AAAAC3NzOLD old@laptop";
    house.set(111, "sshkeys", &pve::encode_value(older));
    let command = format!("-device {}", "x".repeat(100));
    for (set, part) in [
        (json!({"sshkeys": [older, key]}), key.as_str()),
        (json!({"args": command}), command.as_str()),
    ] {
        let shown = preview(&house, &json!({"vmid": 111, "set": set})).await;
        assert_eq!(shown.data["risk"], "grant");
        let affects = shown.data["affects"].to_string();
        assert!(affects.contains(part), "{affects}");
        assert!(!affects.contains("old@laptop"), "{affects}");
    }
    // Nothing is granted here, so that a preview stays short.
    let notes = json!({"vmid": 111, "set": {"description": "y".repeat(100)}});
    let shown = preview(&house, &notes).await.data["affects"].to_string();
    assert!(!shown.contains(&"y".repeat(100)), "{shown}");
}
