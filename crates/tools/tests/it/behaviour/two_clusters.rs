//! The tools that look over everything, on two clusters: both are told apart, and one that is silent is named.

use sim::Sim;

use crate::house::{House, Nobody, call, done};

#[tokio::test]
async fn both_are_looked_at_and_a_silent_one_is_named() {
    let all = r#"{"code": "guest_without_recent_backup", "limit": 200}"#;
    for (tool, args) in [("list_proxmox_findings", all), ("get_proxmox_digest", "{}")] {
        let house = House::new().await;
        let other = Sim::start(sim::worlds::fleet(20)).await.unwrap();
        let engine = house.with_cluster("branch", &other);
        let answer = done(engine.call(call(tool, args), &Nobody).await).unwrap();
        if tool == "list_proxmox_findings" {
            assert!(answer.text.contains("branch: "), "{}", answer.text);
        }
        let nodes: Vec<_> = other.world(|world| world.nodes.keys().cloned().collect());
        for node in nodes {
            other.set_online(&node, false);
        }
        let answer = done(engine.call(call(tool, args), &Nobody).await).unwrap();
        assert!(
            answer.text.contains("cluster branch"),
            "{tool}: {}",
            answer.text
        );
        assert!(answer.text.contains("homelab"), "{tool}: {}", answer.text);
    }
}
