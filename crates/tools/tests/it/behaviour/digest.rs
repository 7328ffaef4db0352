//! The whole estate in a few lines.

use serde_json::Value;

use crate::house::{Furnish, House};

async fn digest(house: &House) -> tools::tool::Rendered {
    house.call("get_proxmox_digest", "{}").await.unwrap()
}

fn problem<'a>(answer: &'a tools::tool::Rendered, name: &str) -> Option<&'a Value> {
    let problems = answer.data["problems"].as_array().unwrap();
    problems.iter().find(|problem| problem["what"] == name)
}

#[tokio::test]
async fn a_bad_day_shows_what_is_down_and_what_failed() {
    let house = House::furnished(Furnish {
        world: sim::worlds::degraded(),
        ..Furnish::default()
    })
    .await;
    let answer = digest(&house).await;
    let offline = problem(&answer, "nodes_offline").expect("pve3 is down");
    assert_eq!(offline["worst"][0], "pve3");
    let silent = problem(&answer, "storages_down").expect("nas is silent");
    assert_eq!(silent["worst"][0], "nas");
    let failed = problem(&answer, "tasks_failed").expect("last night's backup");
    assert!(
        failed["worst"][0]
            .as_str()
            .unwrap()
            .starts_with("1 vzdump on pve2: could not activate"),
        "{failed}"
    );
    assert!(answer.text.contains("not checked: "), "{}", answer.text);
    assert!(
        answer.text.starts_with("homelab: 2 of 3 nodes online, "),
        "{}",
        answer.text
    );
}

#[tokio::test]
async fn an_old_failure_is_no_news() {
    let house = House::new().await;
    let before = digest(&house).await;
    let failed = problem(&before, "tasks_failed").expect("the backup of 107");
    assert_eq!(failed["count"], 1);
    house.sim.advance(std::time::Duration::from_hours(5));
    assert!(problem(&digest(&house).await, "tasks_failed").is_none());
}

/// About four characters are a token; text and data together.
#[tokio::test]
async fn it_is_under_a_thousand_tokens_at_any_size() {
    for world in [
        sim::worlds::homelab(),
        sim::worlds::degraded(),
        sim::worlds::fleet(3_000),
    ] {
        let house = House::furnished(Furnish {
            world,
            ..Furnish::default()
        })
        .await;
        let answer = digest(&house).await;
        let size = answer.text.len() + serde_json::to_string(&answer.data).unwrap().len();
        assert!(size < 4_000, "{size} characters: {}", answer.text);
    }
}

#[tokio::test]
async fn what_the_token_may_not_see_is_said() {
    let house = House::new().await;
    let answer = house
        .call_with(("/vms", &["VM.Audit"]), "get_proxmox_digest", "{}")
        .await
        .unwrap();
    assert!(
        answer.text.contains(
            "tasks_failed (the token lacks Sys.Audit on /nodes/pve1, /nodes/pve2 and /nodes/pve3)"
        ) || answer
            .text
            .contains("more; list_proxmox_findings names them"),
        "{}",
        answer.text
    );
    assert!(
        problem(&answer, "guest_without_recent_backup").is_none(),
        "{}",
        answer.text
    );
}
