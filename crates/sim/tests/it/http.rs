//! The wire: TLS, headers, reason phrases, formats.

use sim::{Sim, worlds};

use crate::client::Client;

#[tokio::test]
async fn answers_look_like_those_of_pve() {
    let sim = Sim::start(worlds::homelab()).await.expect("starts");
    let client = Client::root(&sim);
    let reply = client.get("/version").await;
    assert_eq!((reply.status, reply.reason.as_str()), (200, "OK"));
    assert_eq!(reply.headers["server"], "pve-api-daemon/3.0");
    assert_eq!(
        reply.headers["content-type"],
        "application/json;charset=UTF-8"
    );
    assert_eq!(reply.data()["version"], "9.1.8");
}

#[tokio::test]
async fn errors_stand_in_the_reason_phrase_and_in_the_message() {
    let sim = Sim::start(worlds::homelab()).await.expect("starts");
    let client = Client::root(&sim);
    let reply = client.get("/nodes/pve1/qemu/999/config").await;
    let text = "Configuration file 'nodes/pve1/qemu-server/999.conf' does not exist";
    assert_eq!((reply.status, reply.reason.as_str()), (500, text));
    assert_eq!(reply.body["message"], format!("{text}\n"));
    let reply = client
        .send("GET", "/api2/extjs/nodes/pve1/qemu/999/config", "")
        .await
        .expect("an answer");
    assert_eq!(
        (reply.status, &reply.body["success"], &reply.body["status"]),
        (200, &0.into(), &500.into())
    );
    // What breaks a status line breaks nothing where the message is not in it.
    let key = "/nodes/pve1/qemu/109/sendkey";
    for (format, status) in [("json", 400), ("extjs", 200)] {
        let path = format!("/api2/{format}{key}");
        let reply = client.send("PUT", &path, "key=nosuch").await;
        let reply = reply.expect("an answer");
        assert_eq!(reply.status, status, "{format}");
        let told = reply.body["message"].as_str().unwrap_or_default();
        assert_eq!(told.contains('\r'), format == "extjs", "{told:?}");
    }
}

#[tokio::test]
async fn unknown_paths_and_methods_are_501() {
    let sim = Sim::start(worlds::homelab()).await.expect("starts");
    let client = Client::root(&sim);
    assert_eq!(
        client.get("/nosuch").await.reason,
        "Method 'GET /nosuch' not implemented"
    );
    let reply = client
        .send("PATCH", "/api2/json/version", "")
        .await
        .expect("an answer");
    assert_eq!(
        (reply.status, reply.reason.as_str()),
        (501, "method 'PATCH' not available")
    );
}

#[tokio::test]
async fn every_node_has_a_port_and_a_certificate_of_its_own() {
    let sim = Sim::start(worlds::homelab()).await.expect("starts");
    let client = Client::root(&sim).at(sim.node_addr("pve2").expect("a port"));
    let status = client.get("/cluster/status").await;
    let local = status
        .data()
        .as_array()
        .expect("a list")
        .iter()
        .find(|node| node["local"] == 1);
    assert_eq!(local.expect("one is local")["name"], "pve2");
    let nodes = client.get("/nodes").await;
    for node in nodes.data().as_array().expect("a list") {
        let name = node["node"].as_str().expect("a name");
        assert_eq!(node["ssl_fingerprint"].as_str(), sim.node_fingerprint(name));
    }
    assert_ne!(sim.node_fingerprint("pve1"), sim.node_fingerprint("pve2"));
}

#[tokio::test]
async fn the_request_log_tells_what_was_sent() {
    let sim = Sim::start(worlds::homelab()).await.expect("starts");
    let client = Client::root(&sim);
    client.get("/nodes/pve1/tasks?limit=3").await;
    let logged = sim.requests().pop().expect("one request");
    assert_eq!(
        (logged.method.as_str(), logged.path.as_str()),
        ("GET", "/nodes/pve1/tasks")
    );
    assert_eq!(
        (
            logged.params.text("limit"),
            logged.status,
            logged.node.as_str()
        ),
        (Some("3"), 200, "pve1")
    );
    sim.clear_requests();
    assert!(sim.requests().is_empty());
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_before_it_has_come() {
    let sim = Sim::start(worlds::homelab()).await.expect("starts");
    let client = Client::anonymous(&sim);
    let ticket = "POST /api2/json/access/ticket HTTP/1.1\r\nhost: localhost\r\n";
    let (long, unsaid) = (
        "for data too large",
        "chunked transfer encoding not supported",
    );
    let endless = format!(
        "transfer-encoding: chunked\r\n\r\n80001\r\n{}",
        "a".repeat(0x80001)
    );
    for (rest, words) in [
        ("content-length: 524289\r\n\r\n", long),
        (&endless, unsaid),
        (
            "transfer-encoding: chunked\r\n\r\n3\r\na=1\r\n0\r\n\r\n",
            unsaid,
        ),
    ] {
        let answer = client.say(&format!("{ticket}{rest}")).await;
        let (line, body) = (
            format!("HTTP/1.1 501 {words}\r\n"),
            format!("\r\n\r\n{words}"),
        );
        assert!(answer.starts_with(&line), "{answer}");
        assert!(answer.ends_with(&body), "{answer}");
        let logged = sim.requests().pop().expect("one request");
        assert_eq!((logged.status, logged.params.iter().count()), (501, 0));
    }
    let unasked = client.say("POST /api2/json/pools HTTP/1.1\r\ncontent-length: 524289\r\n\r\n");
    assert!(unasked.await.starts_with("HTTP/1.1 401 "));
}
