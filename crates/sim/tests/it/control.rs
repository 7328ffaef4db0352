//! The control endpoint, for tests in other languages.

use serde_json::json;
use sim::worlds::homelab;
use sim::{Clock, Sim};

use crate::client::Client;

#[tokio::test]
async fn time_nodes_and_faults_can_be_moved_from_outside() {
    let sim = Sim::builder(homelab())
        .clock(Clock::Manual)
        .start()
        .await
        .expect("starts");
    let client = Client::root(&sim);
    let before = client
        .send("GET", "/sim/clock", "")
        .await
        .expect("an answer")
        .body["now"]
        .as_u64();
    let after = client
        .send("POST", "/sim/advance", r#"{"seconds": 30}"#)
        .await
        .expect("an answer");
    assert_eq!(after.body["now"].as_u64(), before.map(|now| now + 30));

    let down = r#"{"node": "pve2", "online": false}"#;
    assert_eq!(
        client
            .send("POST", "/sim/node", down)
            .await
            .expect("an answer")
            .status,
        200
    );
    assert_eq!(client.get("/nodes/pve2/version").await.status, 595);

    let fault =
        r#"{"kind": "refuse", "status": 500, "reason": "no", "path": "/version", "times": 1}"#;
    assert_eq!(
        client
            .send("POST", "/sim/fault", fault)
            .await
            .expect("an answer")
            .status,
        200
    );
    assert_eq!(client.get("/version").await.reason, "no");
    assert_eq!(client.get("/version").await.status, 200);
}

#[tokio::test]
async fn the_request_log_is_served_without_the_control_requests() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let client = Client::root(&sim);
    client.get("/nodes/pve1/tasks?limit=1").await;
    let log = client
        .send("GET", "/sim/requests", "")
        .await
        .expect("an answer")
        .body;
    let expected = json!([{
        "method": "GET", "path": "/nodes/pve1/tasks", "params": { "limit": "1" }, "status": 200, "node": "pve1",
    }]);
    assert_eq!(log, expected);
}

#[tokio::test]
async fn a_wrong_command_says_so() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let reply = Client::anonymous(&sim)
        .send("POST", "/sim/advance", "{}")
        .await
        .expect("an answer");
    assert_eq!(reply.status, 400);
    assert!(
        reply.body["error"]
            .as_str()
            .is_some_and(|error| error.contains("seconds"))
    );
}

async fn steer(client: &Client, path: &str, order: &str) -> Option<u16> {
    let reply = client.send("POST", &format!("/sim/{path}"), order).await;
    reply.map(|reply| reply.status)
}

#[tokio::test]
async fn nodes_that_were_all_lost_can_be_brought_back() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let client = Client::root(&sim);
    for node in ["pve3", "pve2", "pve1"] {
        let down = format!(r#"{{"node": "{node}", "online": false}}"#);
        assert_eq!(steer(&client, "node", &down).await, Some(200), "{node}");
    }
    let version = "/api2/json/version";
    assert!(client.send("GET", version, "").await.is_none());
    let elsewhere = client.clone().at(sim.node_addr("pve2").expect("a port"));
    assert!(elsewhere.send("GET", "/sim/clock", "").await.is_none());
    let up = r#"{"node": "pve2", "online": true}"#;
    assert_eq!(steer(&client, "node", up).await, Some(200));
    assert_eq!(elsewhere.get("/version").await.status, 200);
    assert!(client.send("GET", "/sim/clock", "").await.is_none());
}

#[tokio::test]
async fn lost_nodes_take_no_connections_where_nobody_steers() {
    let sim = Sim::start(homelab()).await.expect("starts");
    for node in ["pve1", "pve2", "pve3"] {
        sim.set_online(node, false);
    }
    let client = Client::root(&sim);
    assert!(client.send("GET", "/sim/clock", "").await.is_none());
}

#[tokio::test]
async fn what_cannot_be_is_refused_in_words() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let client = Client::root(&sim);
    for (path, order, words) in [
        (
            "advance",
            r#"{"seconds": 18446744073709551615}"#,
            "at most 315360000",
        ),
        (
            "fault",
            r#"{"kind": "delay", "seconds": 1e300}"#,
            "1e300 seconds late: 0 to 86400",
        ),
        ("fault", r#"{"kind": "delay", "seconds": -1}"#, "0 to 86400"),
        (
            "node",
            r#"{"node": "pve9", "online": false}"#,
            "no node pve9: pve1, pve2, pve3",
        ),
        (
            "fault",
            r#"{"kind": "outage", "node": "pve9"}"#,
            "no node pve9",
        ),
        (
            "fault",
            r#"{"kind": "refuse", "status": 99, "reason": "no"}"#,
            "200 to 599",
        ),
        (
            "fault",
            r#"{"kind": "refuse_after", "status": 600, "reason": "no"}"#,
            "200 to 599",
        ),
    ] {
        let reply = client.send("POST", &format!("/sim/{path}"), order).await;
        let reply = reply.expect("an answer");
        let error = reply.body["error"].as_str().unwrap_or_default();
        assert_eq!(reply.status, 400, "{order}");
        assert!(error.contains(words), "{order}: {error}");
    }
    assert_eq!(client.get("/nodes/pve1/qemu").await.status, 200);
    let all = r#"{"seconds": 315360000}"#;
    assert_eq!(steer(&client, "advance", all).await, Some(200));
    assert_eq!(client.get("/nodes/pve1/qemu").await.status, 200);
}
