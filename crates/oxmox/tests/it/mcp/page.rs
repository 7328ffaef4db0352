//! The page for people, spoken to in raw requests: who gets in, what counts as a decision, who may take it.

use serde_json::{Value, json};
use sim::worlds::homelab;
use tools::caller::{Bounds, Scope};
use tools::engine::State;
use tools::policy::Policy;
use tools::store::AuditEntry;

use super::browser::{delete, served, token_of};
use super::{World, engine_with, world};

fn scope(scope: Scope) -> Bounds {
    Bounds {
        scope,
        ..Bounds::default()
    }
}

#[tokio::test]
async fn a_person_signs_in_with_their_token_and_out_again() {
    let world = world().await;
    let page = served(&world, false).await;
    assert!(page.code.is_none());
    assert_eq!(page.get("/api/me").await.status, 401);
    let token = token_of(&world, "owner", Bounds::default(), true).await;
    let entered = page.post("/api/sign-in", json!({"token": token})).await;
    for wanted in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"] {
        assert!(entered.head.contains(wanted), "{}", entered.head);
    }
    let owner = page.signed_in(&entered);
    let me = owner.get("/api/me").await.body;
    assert_eq!(
        (&me["name"], &me["clusters"]),
        (&json!("owner"), &json!(["homelab"]))
    );
    assert_eq!(owner.post("/api/sign-out", json!({})).await.status, 200);
    assert_eq!(owner.get("/api/me").await.status, 401);
}

#[tokio::test]
async fn a_program_does_not_get_in_and_nobody_by_guessing() {
    let world = world().await;
    let page = served(&world, true).await;
    let robot = token_of(&world, "robot", Bounds::default(), false).await;
    let refused = page.post("/api/sign-in", json!({"token": robot})).await;
    assert_eq!(refused.status, 403);
    assert!(!refused.body.to_string().contains(&robot));
    for wrong in [
        json!({"token": "x"}),
        json!({"token": format!("{robot}x")}),
        json!({"code": "x"}),
    ] {
        let answer = page.post("/api/sign-in", wrong).await;
        assert_eq!((answer.status, answer.cookie()), (401, None));
    }
    assert_eq!(
        page.post("/api/sign-in", json!({"token": 1})).await.status,
        400
    );
}

#[tokio::test]
async fn the_code_works_once() {
    let world = world().await;
    let page = served(&world, true).await;
    let code = json!({"code": page.code});
    let first = page.post("/api/sign-in", code.clone()).await;
    assert_eq!(first.status, 200);
    assert!(first.cookie().is_some());
    assert_eq!(page.post("/api/sign-in", code).await.status, 401);
}

#[tokio::test]
async fn the_first_token_ends_what_the_link_began() {
    let world = world().await;
    let page = served(&world, true).await;
    let other = served(&world, true).await;
    let entered = page.post("/api/sign-in", json!({"code": page.code})).await;
    let owner = page.signed_in(&entered);
    assert_eq!(owner.get("/api/me").await.status, 200);
    token_of(&world, "ci", Bounds::default(), false).await;
    assert_eq!(owner.get("/api/me").await.status, 401);
    let late = other
        .post("/api/sign-in", json!({"code": other.code}))
        .await;
    assert_eq!(late.status, 401);
    let told = late.body.to_string();
    assert!(told.contains("tokens were given out"), "{told}");
    let store = world.engine.store().await.unwrap();
    assert!(store.remove_token("ci").await.unwrap());
    assert_eq!(owner.get("/api/me").await.status, 401);
}

#[tokio::test]
async fn a_yes_ends_with_the_token_that_it_was_given_to() {
    let world = world().await;
    let owner = served(&world, false)
        .await
        .person(&world, "owner", Bounds::default())
        .await;
    token_of(&world, "agent", Bounds::default(), false).await;
    delete(&world, "agent").await;
    let [plan] = owner.inbox().await.try_into().unwrap();
    assert_eq!(owner.decide(&plan, true).await.status, 200);
    let store = world.engine.store().await.unwrap();
    assert!(store.remove_token("agent").await.unwrap());
    token_of(&world, "agent", Bounds::default(), false).await;
    assert_eq!(
        delete(&world, "agent").await["status"],
        "needs_confirmation"
    );
    assert!(world.writes().is_empty());
}

#[tokio::test]
async fn a_token_that_is_taken_back_ends_its_sessions() {
    let world = world().await;
    let owner = served(&world, false)
        .await
        .person(&world, "owner", Bounds::default())
        .await;
    assert_eq!(owner.get("/api/me").await.status, 200);
    let store = world.engine.store().await.unwrap();
    assert!(store.remove_token("owner").await.unwrap());
    assert_eq!(owner.get("/api/me").await.status, 401);
}

#[tokio::test]
async fn a_yes_is_a_yes_to_what_was_shown_and_given_once() {
    let world = world().await;
    let owner = served(&world, false)
        .await
        .person(&world, "owner", Bounds::default())
        .await;
    let waits = delete(&world, "agent").await;
    let next = waits["next"].as_str().unwrap();
    let address = format!(
        "http://{}/#/inbox/{}",
        owner.address,
        waits["plan"].as_str().unwrap()
    );
    assert!(next.contains(&address), "{next}");
    assert!(next.contains("oxmox approve"), "{next}");

    let [plan] = owner.inbox().await.try_into().unwrap();
    let request = plan["plan"]["steps"][0]["request"].as_str().unwrap();
    assert!(
        request.starts_with("DELETE /nodes/pve1/qemu/105"),
        "{request}"
    );
    assert!(plan["plan"]["affects"][1]["bytes"].as_u64().is_some());
    let mut other = plan.clone();
    other["digest"] = json!("0");
    assert_eq!(owner.decide(&other, true).await.status, 409);
    assert_eq!(
        delete(&world, "agent").await["status"],
        "needs_confirmation"
    );

    assert_eq!(owner.decide(&plan, true).await.status, 200);
    assert_eq!(owner.decide(&plan, true).await.status, 409);
    assert!(owner.inbox().await.is_empty());
    assert!(world.writes().is_empty());
    assert_eq!(delete(&world, "agent").await["status"], "applied");
    let trail = owner
        .post("/api/audit", json!({"words": "105 owner"}))
        .await
        .body;
    assert_eq!(trail["rows"][0]["confirmed_by"], "owner", "{trail}");
    assert_eq!(owner.get("/api/audit/chain").await.body["whole"], true);
}

#[tokio::test]
async fn a_no_is_heard() {
    let world = world().await;
    let owner = served(&world, false)
        .await
        .person(&world, "owner", Bounds::default())
        .await;
    delete(&world, "agent").await;
    let [plan] = owner.inbox().await.try_into().unwrap();
    assert_eq!(owner.decide(&plan, false).await.status, 200);
    // Also if nobody comes back for it.
    let trail = owner.post("/api/audit", json!({"result": "rejected"}));
    let trail = trail.await.body;
    assert_eq!(trail["rows"][0]["decided_by"], "owner", "{trail}");
    assert_eq!(trail["rows"][0]["plan"], plan["id"], "{trail}");
    assert_eq!(owner.decide(&plan, true).await.status, 409);
    assert_eq!(
        delete(&world, "agent").await["status"],
        "needs_confirmation"
    );
    assert!(world.writes().is_empty());
}

#[tokio::test]
async fn nobody_approves_what_they_could_not_do() {
    let world = world().await;
    let page = served(&world, false).await;
    delete(&world, "agent").await;
    let reader = page.person(&world, "reader", scope(Scope::Read)).await;
    let operator = page.person(&world, "operator", scope(Scope::Operate)).await;
    let elsewhere = Bounds {
        clusters: vec!["other".to_owned()],
        ..Bounds::default()
    };
    let stranger = page.person(&world, "stranger", elsewhere).await;
    let [plan] = operator.inbox().await.try_into().unwrap();
    assert!(
        plan["may_not_approve"]
            .as_str()
            .unwrap()
            .contains("destroy-risk")
    );
    assert_eq!(operator.decide(&plan, true).await.status, 403);
    assert_eq!(reader.decide(&plan, false).await.status, 403);
    assert!(stranger.inbox().await.is_empty());
    assert_eq!(stranger.decide(&plan, false).await.status, 404);
    assert_eq!(
        stranger
            .get(&format!("/api/plan/{}", plan["id"].as_str().unwrap()))
            .await
            .status,
        404
    );
    assert_eq!(
        stranger.post("/api/audit", json!({})).await.body["rows"],
        json!([])
    );
    let near = Bounds {
        clusters: vec![plan["cluster"].as_str().unwrap().to_owned()],
        ..Bounds::default()
    };
    let neighbour = page.person(&world, "neighbour", near).await;
    let seen = neighbour.post("/api/audit", json!({})).await.body;
    assert_eq!(seen["rows"][0]["caller"], "agent", "{seen}");
    assert_eq!(operator.decide(&plan, false).await.status, 200);
}

#[tokio::test]
async fn with_four_eyes_whoever_asked_cannot_approve() {
    let sim = sim::Sim::start(homelab()).await.unwrap();
    let policy = Policy {
        four_eyes: true,
        ..Policy::default()
    };
    let engine = engine_with(&sim, State::Memory, policy);
    let world = World { sim, engine };
    let page = served(&world, false).await;
    let owner = page.person(&world, "owner", Bounds::default()).await;
    let colleague = page.person(&world, "colleague", Bounds::default()).await;
    let waits = delete(&world, "owner").await;
    assert_eq!(waits["confirm"], Value::Null);
    let [plan] = owner.inbox().await.try_into().unwrap();
    let refused = owner.decide(&plan, true).await;
    assert_eq!(refused.status, 403, "{}", refused.body);
    assert_eq!(colleague.decide(&plan, true).await.status, 200);
    assert_eq!(delete(&world, "owner").await["status"], "applied");
}

#[tokio::test]
async fn with_four_eyes_it_does_not_help_to_come_by_another_door() {
    let sim = sim::Sim::start(homelab()).await.unwrap();
    let policy = Policy {
        four_eyes: true,
        ..Policy::default()
    };
    let engine = engine_with(&sim, State::Memory, policy);
    let world = World { sim, engine };
    let page = served(&world, false).await;
    let alice = page.person(&world, "alice", Bounds::default()).await;
    for caller in ["oauth:alice", "oauth:Alice@example.com"] {
        delete(&world, caller).await;
        let plans = alice.inbox().await;
        let plan = plans.iter().find(|plan| plan["caller"] == caller).unwrap();
        let refused = alice.decide(plan, true).await;
        assert_eq!(refused.status, 403, "{caller}: {}", refused.body);
    }
    assert!(world.writes().is_empty());
}

#[tokio::test]
async fn the_search_in_the_trail_goes_far_back_and_says_how_far() {
    let world = world().await;
    let owner = served(&world, false)
        .await
        .person(&world, "owner", Bounds::default())
        .await;
    delete(&world, "needle").await;
    let later: Vec<_> = (0..12_000).map(closed).collect();
    let store = world.engine.store().await.unwrap();
    store.append_audits(&later).await.unwrap();
    let found = owner.post("/api/audit", json!({"words": "needle"})).await;
    let found = found.body;
    assert_eq!(found["rows"][0]["caller"], "needle", "{found}");
    assert_eq!(found["rows"][0]["result"], "needs_confirmation", "{found}");
    // To the very beginning.
    assert_eq!(found["searched"], 12_002);
    assert_eq!(found["back_to"], Value::Null);
}

fn closed(number: i64) -> AuditEntry {
    AuditEntry::Closed {
        at: number,
        plan: format!("of elsewhere {number}"),
        result: "applied".to_owned(),
        reason: None,
        affects: Vec::new(),
        steps: Vec::new(),
    }
}

#[tokio::test]
async fn other_sites_change_nothing() {
    let world = world().await;
    let owner = served(&world, false)
        .await
        .person(&world, "owner", Bounds::default())
        .await;
    delete(&world, "agent").await;
    let [plan] = owner.inbox().await.try_into().unwrap();
    let path = format!("/api/inbox/{}", plan["id"].as_str().unwrap());
    let body = json!({"approve": true, "digest": plan["digest"]}).to_string();
    let cookie = ("Cookie", owner.cookie.as_str());
    let own = ("X-Oxmox-Page", "1");
    for headers in [
        vec![cookie],
        vec![cookie, ("Content-Type", "text/plain")],
        vec![cookie, own, ("Sec-Fetch-Site", "cross-site")],
        vec![cookie, own, ("Origin", "http://evil.example")],
    ] {
        assert_eq!(
            owner.raw("POST", &path, &headers, &body).await.status,
            403,
            "{headers:?}"
        );
    }
    assert_eq!(owner.inbox().await.len(), 1);
}

#[tokio::test]
async fn the_page_looks_by_tools_that_only_look() {
    let world = world().await;
    let owner = served(&world, false)
        .await
        .person(&world, "owner", Bounds::default())
        .await;
    let seen = owner
        .post("/api/look/get_proxmox_vm_status", json!({"vmid": 100}))
        .await;
    assert_eq!(
        (seen.status, &seen.body["data"]["name"]),
        (200, &json!("web"))
    );
    let history = json!({"vmid": 100, "timeframe": "hour", "points": true, "chart": false});
    let history = owner
        .post("/api/look/get_proxmox_metrics", history)
        .await
        .body;
    assert!(
        history["data"]["series"][0]["points"]
            .as_array()
            .unwrap()
            .len()
            > 10,
        "{history}"
    );
    for tool in [
        "delete_proxmox_vm",
        "read_proxmox_api",
        "write_proxmox_api",
        "call_proxmox_tool",
        "vm_agent_file_read",
    ] {
        let refused = owner
            .post(&format!("/api/look/{tool}"), json!({"vmid": 105}))
            .await;
        assert_eq!(refused.status, 404, "{tool}");
    }
    assert!(world.writes().is_empty());
}

#[tokio::test]
async fn tasks_are_told_of_clusters_that_a_person_reaches() {
    let world = world().await;
    let page = served(&world, false).await;
    let owner = page.person(&world, "owner", Bounds::default()).await;
    let told = owner.get("/api/tasks/homelab").await;
    assert_eq!(told.status, 200, "{}", told.body);
    let tasks = told.body["tasks"].as_array().unwrap();
    let failed = tasks.iter().find(|task| task["status"] == "job errors");
    let failed = failed.unwrap_or_else(|| panic!("{}", told.body));
    assert_eq!(
        (&failed["node"], &failed["type"], &failed["id"]),
        (&json!("pve3"), &json!("vzdump"), &json!("107"))
    );
    let elsewhere = Bounds {
        clusters: vec!["another".to_owned()],
        ..Bounds::default()
    };
    let other = page.person(&world, "other", elsewhere).await;
    for (person, cluster) in [(&owner, "another"), (&other, "homelab")] {
        let refused = person.get(&format!("/api/tasks/{cluster}")).await;
        assert_eq!(refused.status, 404, "{cluster}");
    }
}

#[tokio::test]
async fn nothing_in_the_page_is_inline() {
    let world = world().await;
    let page = served(&world, false).await;
    let index = page.get("/").await;
    for wanted in [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "frame-ancestors 'none'",
        "nosniff",
    ] {
        assert!(index.head.contains(wanted), "{}", index.head);
    }
    assert!(!index.head.contains("unsafe"));
    let html = index.body.as_str().unwrap();
    for tag in html.split('<').filter(|tag| tag.starts_with("script")) {
        assert!(tag.contains("src=\"/page/"), "{tag}");
    }
    assert!(!html.contains("<style") && !html.contains(" style=") && !html.contains(" on"));
    for part in html.split("\"/page/").skip(1) {
        let path = format!("/page/{}", part.split('"').next().unwrap());
        assert_eq!(page.get(&path).await.status, 200, "{path}");
    }
    assert_eq!(page.get("/page/../mod.rs").await.status, 404);
}
