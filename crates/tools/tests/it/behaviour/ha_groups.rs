//! HA groups are there up to PVE 8; PVE 9 says what has become of them.

use std::collections::BTreeMap;

use serde_json::json;
use sim::world::Section;
use tools::policy::{Mode, Policy, Verdict};
use tools::spec::Toolset;

use crate::house::{Furnish, House, Nobody, call, done};

const TOOLS: [(&str, &str); 5] = [
    ("list_ha_groups", "{}"),
    ("get_ha_group", r#"{"group": "big"}"#),
    (
        "create_ha_group",
        r#"{"group": "pair", "nodes": "pve1:2,pve2:1", "nofailback": true}"#,
    ),
    (
        "update_ha_group",
        r#"{"group": "big", "comment": "nodes with room"}"#,
    ),
    ("delete_ha_group", r#"{"group": "big"}"#),
];

async fn house(version: &str) -> House {
    let mut furnish = Furnish {
        policy: Policy {
            mode: Mode::Trusted,
            ..Policy::default()
        },
        ..Furnish::default()
    };
    furnish.world.version = version.to_owned();
    let props = BTreeMap::from([("nodes".to_owned(), "pve1,pve2".to_owned())]);
    let group = Section {
        kind: "group".to_owned(),
        props,
    };
    furnish.world.ha_groups.insert("big".to_owned(), group);
    House::furnished(furnish).await
}

#[tokio::test]
async fn before_9_they_are_made_changed_and_removed() {
    for (tool, args) in TOOLS {
        let house = house("8.4.1").await;
        let answer = house.call(tool, args).await;
        let answer = answer.unwrap_or_else(|fault| panic!("{tool}: {fault}"));
        if answer.data.contains_key("status") {
            assert_eq!(answer.data["status"], "applied", "{}", answer.text);
        } else {
            assert!(answer.text.contains("pve1,pve2"), "{}", answer.text);
        }
    }
}

#[tokio::test]
async fn what_was_changed_goes_back() {
    let house = house("8.4.1").await;
    let nodes = || {
        house
            .sim
            .world(|world| world.ha_groups["big"].props["nodes"].clone())
    };
    let answer = house
        .call("update_ha_group", r#"{"group": "big", "nodes": "pve3"}"#)
        .await
        .unwrap();
    assert_eq!(nodes(), "pve3");
    let undo = &answer.data["undo"];
    let arguments = undo["arguments"].to_string();
    assert_eq!(undo["tool"], "update_ha_group");
    house.call("update_ha_group", &arguments).await.unwrap();
    assert_eq!(nodes(), "pve1,pve2");
}

#[tokio::test]
async fn new_nodes_move_guests_and_ask_but_a_comment_does_not() {
    let mut furnish = Furnish::default();
    furnish.world.version = "8.4.1".to_owned();
    let house = House::furnished(furnish).await;
    house.sim.world(|world| {
        let group = Section {
            kind: "group".to_owned(),
            props: BTreeMap::from([("nodes".to_owned(), "pve1".to_owned())]),
        };
        world.ha_groups.insert("big".to_owned(), group);
    });
    for (args, status) in [
        (
            r#"{"group": "big", "nodes": "pve3"}"#,
            json!("needs_confirmation"),
        ),
        (r#"{"group": "big", "comment": "x"}"#, json!("applied")),
    ] {
        let answer = house.call("update_ha_group", args).await.unwrap();
        assert_eq!(answer.data["status"], status, "{args}");
    }
}

#[tokio::test]
async fn on_9_every_one_of_them_says_that_they_became_rules() {
    let house = house("9.1.8").await;
    for (tool, args) in TOOLS {
        let fault = house.call(tool, args).await.unwrap_err();
        assert!(
            fault.to_string().contains("migrated to rules"),
            "{tool}: {fault}"
        );
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn one_with_guests_is_refused_before_anybody_is_asked() {
    let house = house("8.4.1").await;
    house.sim.world(|world| {
        let mail = world.ha_resources.get_mut("vm:102").unwrap();
        mail.props.insert("group".to_owned(), "big".to_owned());
    });
    let fault = house.call("delete_ha_group", r#"{"group": "big"}"#).await;
    let fault = fault.unwrap_err().to_string();
    assert!(fault.contains("guest vm:102 is in it"), "{fault}");
    assert_eq!(house.writes(), [""; 0]);
}

/// A rule about a guest holds for what HA does to it by its group, by the tool and by the API.
#[tokio::test]
async fn a_change_of_a_group_is_about_the_guests_in_it() {
    let deny = |vmid: &str| Policy {
        mode: Mode::Trusted,
        rules: vec![crate::ruled::vmid(vmid, Verdict::Deny)],
        ..Policy::default()
    };
    let house = house("8.4.1").await;
    house.sim.world(|world| {
        let resource = world.ha_resources.get_mut("vm:102").unwrap();
        resource.props.insert("group".to_owned(), "big".to_owned());
    });
    let raw =
        json!({"method": "PUT", "path": "/cluster/ha/groups/big", "params": {"nodes": "pve3"}});
    let tool = json!({"group": "big", "nodes": "pve3"});
    for (vmid, is_denied) in [("102", true), ("105", false)] {
        let engine = house.engine_offering(Toolset::ALL, deny(vmid));
        for (name, args) in [("update_ha_group", &tool), ("write_proxmox_api", &raw)] {
            let answer = done(engine.call(call(name, &args.to_string()), &Nobody).await);
            assert_eq!(answer.is_err(), is_denied, "{name} {vmid}: {answer:?}");
        }
    }
}
