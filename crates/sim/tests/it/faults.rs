//! Injected faults.

use std::time::Duration;

use sim::worlds::homelab;
use sim::{Clock, Fault, Sim};

use crate::client::Client;

const START: &str = "/api2/json/nodes/pve1/qemu/105/status/start";

#[tokio::test]
async fn a_request_may_be_lost_before_or_after_it_was_carried_out() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let client = Client::root(&sim);
    sim.fault(
        Fault::drop_before()
            .on("POST", "/nodes/*/status/start")
            .times(1),
    );
    assert!(client.send("POST", START, "").await.is_none());
    assert!(sim.requests().is_empty());
    sim.fault(
        Fault::drop_after()
            .on("POST", "/nodes/*/status/start")
            .times(1),
    );
    assert!(client.send("POST", START, "").await.is_none());
    assert_eq!(sim.requests().len(), 1);
    sim.advance(Duration::from_secs(5));
    let running = sim.world(|world| world.guests[&105].is_running());
    assert!(running, "the lost request was carried out");
}

/// What a client cannot read was carried out all the same, but for the page of somebody else.
#[tokio::test]
async fn an_answer_may_be_spoiled_in_every_way() {
    let spoiled = [
        (Fault::cut_answer(), true, None),
        (Fault::gibberish(), true, Some(200)),
        (Fault::refuse_after(596, "Broken pipe"), true, Some(596)),
        (Fault::login_page(), false, Some(200)),
    ];
    for (fault, carried_out, status) in spoiled {
        let name = format!("{fault:?}");
        let sim = Sim::start(homelab()).await.expect("starts");
        sim.fault(fault.on("POST", "/nodes/*/status/start").times(1));
        let reply = Client::root(&sim).send("POST", START, "").await;
        assert_eq!(reply.as_ref().map(|reply| reply.status), status, "{name}");
        let has_data = reply.is_some_and(|reply| reply.body.get("data").is_some());
        assert!(!has_data, "{name}");
        assert_eq!(sim.requests().len(), usize::from(carried_out), "{name}");
        assert_eq!(sim.arrivals(), ["POST /nodes/pve1/qemu/105/status/start"]);
        sim.advance(Duration::from_secs(5));
        let running = sim.world(|world| world.guests[&105].is_running());
        assert_eq!(running, carried_out, "{name}");
    }
}

#[tokio::test]
async fn a_node_goes_down_under_a_request() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let client = Client::root(&sim);
    sim.fault(Fault::outage("pve2").on("GET", "/nodes/pve2/status"));
    assert_eq!(client.get("/nodes/pve2/version").await.status, 200);
    assert_eq!(client.get("/nodes/pve2/status").await.status, 595);
    assert_eq!(client.get("/nodes/pve2/version").await.status, 595);
    sim.fault(Fault::outage("pve1").on("GET", "/version"));
    for _ in 0..2 {
        let silent = client.send("GET", "/api2/json/version", "").await;
        assert!(silent.is_none());
    }
}

#[tokio::test]
async fn an_idle_task_ends_well_and_nothing_is_done() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let client = Client::root(&sim);
    sim.fault(Fault::idle_task("qmstart").vmid(105));
    let upid = client
        .post("/nodes/pve1/qemu/105/status/start", "")
        .await
        .upid();
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    assert!(!sim.world(|world| world.guests[&105].is_running()));
}

#[tokio::test]
async fn a_refusal_is_limited_to_what_it_matches() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let client = Client::root(&sim);
    sim.fault(Fault::refuse(503, "busy").on("GET", "/version").times(1));
    assert_eq!(client.get("/nodes").await.status, 200);
    let reply = client.get("/version").await;
    assert_eq!((reply.status, reply.reason.as_str()), (503, "busy"));
    assert_eq!(client.get("/version").await.status, 200);
}

#[tokio::test]
async fn a_task_fails_half_way() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let client = Client::root(&sim);
    sim.fault(Fault::fail_task("qmpause", "qemu went away", "interrupted").vmid(100));
    let upid = client
        .post("/nodes/pve1/qemu/100/status/suspend", "")
        .await
        .upid();
    assert_eq!(client.wait_for("pve1", &upid).await, "interrupted");
    let log = client.get(&format!("/nodes/pve1/tasks/{upid}/log")).await;
    assert_eq!(log.data()[0]["t"], "qemu went away");
    let paused = client.get("/nodes/pve1/qemu/100/status/current").await;
    assert_eq!(paused.data()["qmpstatus"], "running");
}

#[tokio::test]
async fn a_lost_node_answers_nothing_and_its_guests_become_unknown() {
    let sim = Sim::builder(homelab())
        .clock(Clock::Manual)
        .start()
        .await
        .expect("starts");
    let client = Client::root(&sim);
    sim.set_online("pve3", false);
    let reply = client.get("/nodes/pve3/status").await;
    assert_eq!(
        (reply.status, reply.reason.as_str(), &reply.body),
        (595, "Connection timed out", &"".into())
    );
    let lost = client.clone().at(sim.node_addr("pve3").expect("a port"));
    assert!(lost.send("GET", "/api2/json/version", "").await.is_none());
    let status = |reply: crate::client::Reply| {
        let guests = reply.data().as_array().expect("a list").clone();
        let guest = guests
            .into_iter()
            .find(|guest| guest["vmid"] == 106)
            .expect("guest 106");
        guest["status"].as_str().expect("a status").to_owned()
    };
    assert_eq!(
        status(client.get("/cluster/resources?type=vm").await),
        "running"
    );
    sim.advance(Duration::from_mins(5));
    assert_eq!(
        status(client.get("/cluster/resources?type=vm").await),
        "unknown"
    );
    assert_eq!(
        client.get("/nodes/pve3/status").await.reason,
        "No route to host"
    );
}

#[tokio::test]
async fn without_quorum_nothing_starts() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let client = Client::root(&sim);
    sim.set_online("pve2", false);
    sim.set_online("pve3", false);
    let reply = client.post("/nodes/pve1/qemu/105/status/start", "").await;
    assert_eq!(
        (reply.status, reply.reason.as_str()),
        (500, "cluster not ready - no quorum?")
    );
    assert_eq!(client.get("/cluster/status").await.data()[0]["quorate"], 0);
}

#[tokio::test]
async fn a_delay_holds_the_answer_back() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let client = Client::root(&sim);
    sim.fault(Fault::delay(Duration::from_mins(10)).on("GET", "/version"));
    let late = tokio::time::timeout(Duration::from_millis(50), client.get("/version")).await;
    assert!(late.is_err(), "still waiting");
}

#[tokio::test]
async fn an_answer_takes_the_place_of_the_real_one() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let client = Client::root(&sim);
    sim.fault(Fault::answer("GET", "/nodes/*/qemu", "not a list").times(1));
    assert_eq!(client.get("/nodes/pve1/qemu").await.data(), "not a list");
    assert_eq!(sim.requests().len(), 1);
    assert!(client.get("/nodes/pve1/qemu").await.data().is_array());
}

#[tokio::test]
async fn another_release_shows_wherever_a_release_is_told() {
    let mut world = homelab();
    "8.4.1".clone_into(&mut world.version);
    let sim = Sim::start(world).await.expect("starts");
    let client = Client::root(&sim);
    let version = client.get("/version").await;
    assert_eq!(version.data()["version"], "8.4.1");
    assert_eq!(version.data()["release"], "8.4");
    let status = client.get("/nodes/pve1/status").await;
    let text = status.data()["pveversion"]
        .as_str()
        .expect("a version")
        .to_owned();
    assert!(text.starts_with("pve-manager/8.4.1/"), "{text}");
}
