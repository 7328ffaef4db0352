//! The network card in PVE's own words, and text that has to be one line.

use serde_json::json;
use tools::policy::Mode;

use super::{config, lxc, made, vm};
use crate::house::House;

#[tokio::test]
async fn a_card_may_be_given_as_pve_writes_it() {
    let house = House::in_mode(Mode::Trusted).await;
    for (net, template) in [
        ("e1000,bridge=vmbr0,tag=20", None),
        ("model=e1000,bridge=vmbr0,tag=20", Some(900)),
    ] {
        let args = json!({"name": "a", "net0": net, "template": template});
        let answer = vm(&house, &args).await.unwrap();
        let card = config(&house, made(&answer), "net0").unwrap();
        assert!(card.starts_with("e1000=BC:24:11:"), "{card}");
        assert!(card.ends_with("bridge=vmbr0,tag=20"), "{card}");
    }
    let answer = vm(&house, &json!({"name": "a", "net0": "bridge=vmbr0"})).await;
    let card = config(&house, made(&answer.unwrap()), "net0").unwrap();
    assert!(card.starts_with("virtio="), "the usual model: {card}");
    let args = json!({"hostname": "b", "net0": "bridge=vmbr0,tag=20", "ip": "10.0.0.5/24"});
    let answer = lxc(&house, &args).await.unwrap();
    let card = config(&house, made(&answer), "net0").unwrap();
    for part in ["name=eth0", "bridge=vmbr0", "tag=20", "ip=10.0.0.5/24"] {
        assert!(card.contains(part), "{card}");
    }
}

#[tokio::test]
async fn a_card_that_cannot_be_is_refused_with_one_that_can() {
    let house = House::in_mode(Mode::Trusted).await;
    for (args, said) in [
        (
            json!({"net0": "virtio,bridge=vmbr0", "vlan": 20}),
            "without bridge and vlan",
        ),
        (json!({"net0": "virtio"}), "it names no bridge"),
        (
            json!({"net0": "virtio,bridge=vmbr7"}),
            "the bridges there: vmbr0",
        ),
        (
            json!({"net0": "virtio,bridge=vm/br0"}),
            "argument `net0`: \"vm/br0\" is not the name of a bridge",
        ),
        (json!({"net0": "virtio,bridge=vmbr0,tag=5000"}), "1 to 4094"),
        (
            json!({"net0": "virtio,bridge=vmbr0,vlan=20"}),
            "a card has no vlan",
        ),
        (
            json!({"net0": "ethernet,bridge=vmbr0"}),
            "the models are e1000",
        ),
        (
            json!({"net0": "virtio,bridge=vmbr0\nargs: -x"}),
            "it has a blank in it",
        ),
        (
            json!({"ciuser": "admin\nroot"}),
            "argument `ciuser`: it is one line",
        ),
        (
            json!({"cipassword": "a\nb"}),
            "argument `cipassword`: it is one line",
        ),
    ] {
        let mut args = args;
        args["name"] = json!("a");
        args["node"] = json!("pve1");
        let fault = vm(&house, &args).await.unwrap_err().to_string();
        assert!(fault.contains(said), "{args}: {fault}");
    }
    for (args, said) in [
        (json!({"net0": "veth,bridge=vmbr0"}), "a card has no veth"),
        (
            json!({"net0": "bridge=vmbr0,ip=dhcp", "ip": "dhcp"}),
            "has an address already",
        ),
    ] {
        let mut args = args;
        args["hostname"] = json!("a");
        let fault = lxc(&house, &args).await.unwrap_err().to_string();
        assert!(fault.contains(said), "{args}: {fault}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_creation_that_is_not_waited_for_is_followed_by_its_plan() {
    let house = House::in_mode(Mode::Trusted).await;
    let call = crate::house::call("create_proxmox_vm", r#"{"name": "a", "wait": 0}"#);
    let reply = house
        .engine
        .call(call, &crate::house::Nobody)
        .await
        .unwrap();
    let tools::engine::Reply::Running(answer, plan) = reply else {
        panic!("{reply:?}");
    };
    let next = answer.data["next"].as_str().unwrap();
    assert!(next.contains("get_proxmox_task with upid"), "{next}");
    let followed = next.split('"').nth(1).unwrap();
    assert!(followed == plan || followed.starts_with("UPID:"), "{next}");
    let follow = json!({"upid": followed, "wait": 60}).to_string();
    house.call("get_proxmox_task", &follow).await.unwrap();
}
