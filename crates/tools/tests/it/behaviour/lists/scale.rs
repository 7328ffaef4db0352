//! Many guests: bounded requests, bounded answers.

use std::collections::BTreeSet;

use serde_json::json;
use sim::worlds;

use super::{in_world, snapshot};

#[tokio::test]
async fn snapshots_of_many_guests_are_asked_in_turns() {
    let mut world = worlds::fleet(450);
    for vmid in (100..550).step_by(9) {
        let guest = world.guests.get_mut(&vmid).unwrap();
        guest.snapshots = vec![snapshot("old"), snapshot("new")];
    }
    let house = in_world(world).await;
    let first = house.list(&json!({"resource_type": "snapshot"})).await;
    assert!(first.data.get("total").is_none(), "not all were asked");
    assert!(
        first
            .text
            .contains("250 more were not: go on with the cursor"),
        "{}",
        first.text
    );
    assert_eq!(house.sim.requests().len(), 1 + 200);
    let all = house
        .paged(json!({"resource_type": "snapshot"}), "vmid")
        .await;
    assert_eq!(all.len(), 100);
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 50);
    // In an order by a field only the guests that were asked can be told.
    let sorted = house
        .list(&json!({"resource_type": "snapshot", "sort": "-created", "limit": 500}))
        .await;
    assert!(sorted.text.contains("leave out sort"), "{}", sorted.text);
    let narrow = house
        .list(&json!({"resource_type": "snapshot", "filter": "vmid:100-199"}))
        .await;
    assert_eq!(
        (narrow.data["total"].as_u64(), narrow.data.get("notes")),
        (Some(24), None)
    );
}

/// Text and structure together stay under 2,000 tokens, whatever is listed.
#[tokio::test]
async fn ten_thousand_guests_fit_into_an_answer() {
    let mut world = worlds::fleet(10_000);
    for guest in world.guests.values_mut() {
        let long = format!("{}-{}", "a-rather-long-name".repeat(3), guest.vmid);
        guest.config.set("name", long.as_str());
        guest.config.set("hostname", long.as_str());
        guest.snapshots = vec![snapshot("before-the-upgrade-of-everything")];
    }
    let house = in_world(world).await;
    for (args, total) in [
        (json!({}), Some(10_000)),
        (json!({"resource_type": "all"}), None),
        (json!({"resource_type": "node"}), Some(40)),
        (json!({"resource_type": "storage"}), Some(80)),
        (
            json!({"resource_type": "volume", "filter": "node:pve0*"}),
            Some(2_250),
        ),
        (json!({"resource_type": "snapshot"}), None),
        (
            json!({"filter": "tag:prod status:running mem>40 -node:pve01", "sort": "-mem"}),
            None,
        ),
    ] {
        let answer = house.list(&args).await;
        let structured = serde_json::to_string(&answer.data).unwrap();
        let size = answer.text.len() + structured.len();
        assert!(size < 8_000, "{args}: {size} characters\n{}", answer.text);
        assert!(
            answer.data["resources"].as_array().unwrap().len() >= 10,
            "{args}: {}",
            answer.text
        );
        assert!(
            answer.data.contains_key("next_cursor") || total == Some(40),
            "{args}"
        );
        assert!(
            total.is_none_or(|total| answer.data["total"] == total),
            "{args}: {}",
            answer.text
        );
    }
}
