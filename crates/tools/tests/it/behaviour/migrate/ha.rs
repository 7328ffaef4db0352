//! Guests that HA moves.

use sim::world::Section;
use tools::policy::Mode;

use super::{MIGRATE, on, place, preview};
use crate::house::House;

#[tokio::test]
async fn a_guest_under_ha_is_done_when_it_is_seen_there() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = r#"{"vmid": 102, "target": "pve1"}"#;
    let shown = preview(&house, args).await;
    for says in ["PVE only queues the request", "mail-home prefers pve2"] {
        assert!(shown.text.contains(says), "{says}: {}", shown.text);
    }
    let answer = house.call(MIGRATE, args).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    let task = answer.data["steps"][0]["task"].as_str().unwrap();
    assert!(task.contains(":hamigrate:"), "{task}");
    assert_eq!(place(&house, 102), on("pve1", true));
}

#[tokio::test]
async fn a_guest_that_ha_does_not_move_is_not_called_done() {
    let house = House::in_mode(Mode::Trusted).await;
    house.sim.world(|world| world.ha_frozen = true);
    let answer = house
        .call(MIGRATE, r#"{"vmid": 102, "target": "pve1"}"#)
        .await
        .unwrap();
    assert_eq!(answer.data["status"], "running", "{}", answer.text);
    assert!(answer.text.contains("not yet"), "{}", answer.text);
}

/// Under HA: a strict rule, a guest that must not be on the same node, and one that moves along.
#[tokio::test]
async fn the_rules_of_ha_are_told_beforehand() {
    let house = House::in_mode(Mode::Trusted).await;
    house.sim.world(|world| {
        let section = |kind: &str, props: &[(&str, &str)]| Section {
            kind: kind.to_owned(),
            props: props
                .iter()
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect(),
        };
        for sid in ["vm:100", "ct:201"] {
            let started = section(&sid[..2], &[("state", "started")]);
            world.ha_resources.insert(sid.to_owned(), started);
        }
        for (name, affinity, resources) in [
            ("apart", "negative", "vm:100,vm:102"),
            ("friends", "positive", "vm:102,ct:201"),
        ] {
            let props = [("affinity", affinity), ("resources", resources)];
            let rule = section("resource-affinity", &props);
            world.ha_rules.insert(name.to_owned(), rule);
        }
    });
    let fault = house
        .call(MIGRATE, r#"{"vmid": 102, "target": "pve1"}"#)
        .await
        .unwrap_err();
    assert!(
        fault.message.contains("off pve1: vm:100 is there"),
        "{fault}"
    );
    let along = preview(&house, r#"{"vmid": 102, "target": "pve3"}"#).await;
    assert_eq!(along.data["risk"], "disrupt", "a container is restarted");
    assert!(along.text.contains("ct:201"), "{}", along.text);
    house.sim.world(|world| {
        let rule = world.ha_rules.get_mut("mail-home").unwrap();
        rule.props.insert("strict".to_owned(), "1".to_owned());
    });
    let fault = house
        .call(MIGRATE, r#"{"vmid": 102, "target": "pve3"}"#)
        .await
        .unwrap_err();
    assert!(
        fault
            .message
            .contains("HA's mail-home keeps VM 102 (mail) on pve2 and pve1"),
        "{fault}"
    );
    assert_eq!(house.writes(), [""; 0]);
}
