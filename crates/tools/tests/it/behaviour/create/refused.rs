//! What is refused before anything is sent, and what is said instead.

use serde_json::json;
use tools::fault::Kind;
use tools::policy::Mode;

use super::{DEBIAN, lxc, preview, vm};
use crate::house::{House, object};

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
            "those with ISO images on pve1: local and nas",
        ),
        (
            json!({"name": "a", "node": "pve9"}),
            "the nodes are pve1, pve2 and pve3",
        ),
        (
            json!({"name": "a", "pool": "nope"}),
            "there is no pool nope\nhint: the pools: lab, prod and retired",
        ),
        (
            json!({"name": "a", "template": 900, "pool": "nope"}),
            "there is no pool nope",
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
            json!({"name": "a", "template": 900, "node": "pve2", "storage": "local-lvm"}),
            "local-lvm is not shared",
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

/// A name that no node knows is asked for everywhere, and the answer stays short.
#[tokio::test]
async fn on_many_nodes_the_answer_stays_short() {
    let furnish = crate::house::Furnish {
        world: sim::worlds::fleet(2000),
        ..crate::house::Furnish::default()
    };
    let house = House::furnished(furnish).await;
    let nodes = house.sim.world(|world| world.nodes.len());
    assert!(nodes > 3, "a fleet");
    let fault = vm(&house, &json!({"name": "a", "storage": "nope"}))
        .await
        .unwrap_err();
    let more = format!("and {} more nodes", nodes - 3);
    assert!(fault.message.contains(&more), "{fault}");
}

/// Nothing is made on a cluster that nobody named.
#[tokio::test]
async fn several_clusters_need_a_word_which() {
    let house = House::in_mode(Mode::Trusted).await;
    let mut context = house.context();
    let reader = context.clusters[0].pve.clone();
    let second = tools::context::Cluster::new("second", reader);
    context.clusters.push(std::sync::Arc::new(second));
    for name in ["create_proxmox_vm", "create_proxmox_lxc"] {
        let tool = tools::registry::find_change(name).unwrap();
        for args in [
            json!({"name": "a", "hostname": "a"}),
            json!({"name": "a", "hostname": "a", "node": "pve1"}),
        ] {
            let Err(fault) = tool.run(object(&args.to_string()), &context).await else {
                panic!("{name} {args} chose a cluster");
            };
            let said = fault.to_string();
            assert!(
                said.contains("second") && said.contains("cluster"),
                "{name}: {said}"
            );
        }
    }
}
