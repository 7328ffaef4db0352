//! The guest agent of a machine that runs one.

use std::time::Duration;

use sim::worlds::homelab;
use sim::{Clock, Sim};

use crate::client::Client;

const AGENT: &str = "/nodes/pve3/qemu/106/agent";

#[tokio::test]
async fn the_agent_tells_addresses_of_network_cards() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let reply = Client::root(&sim)
        .get(&format!("{AGENT}/network-get-interfaces"))
        .await;
    let cards = &reply.data()["result"];
    assert_eq!(cards[0]["name"], "lo");
    assert_eq!(cards[1]["hardware-address"], "bc:24:11:00:01:06");
    assert_eq!(cards[1]["ip-addresses"][0]["ip-address"], "192.168.1.16");
    assert_eq!(cards[1]["ip-addresses"][0]["prefix"], 24);
}

#[tokio::test]
async fn a_program_runs_in_its_time_and_tells_its_end_once() {
    let sim = Sim::builder(homelab())
        .clock(Clock::Manual)
        .start()
        .await
        .expect("starts");
    let client = Client::root(&sim);
    let form = "command=sh&command=-c&command=sleep+5%3B+echo+done";
    let reply = client.post(&format!("{AGENT}/exec"), form).await;
    let pid = reply.data()["pid"].as_u64().expect("a process id");
    let status = format!("{AGENT}/exec-status?pid={pid}");
    assert_eq!(client.get(&status).await.data()["exited"], 0);
    sim.advance(Duration::from_secs(5));
    let ended = client.get(&status).await;
    assert_eq!(ended.data()["exitcode"], 0);
    assert_eq!(ended.data()["out-data"], "done\n");
    assert_eq!(client.get(&status).await.status, 500);
}

#[tokio::test]
async fn what_is_written_can_be_read_and_survives_a_restart() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let client = Client::root(&sim);
    let form = "file=/root/note&content=remember";
    let written = client.post(&format!("{AGENT}/file-write"), form).await;
    assert_eq!(written.status, 200);
    let upid = client
        .post("/nodes/pve3/qemu/106/status/reboot", "")
        .await
        .upid();
    assert_eq!(client.wait_for("pve3", &upid).await, "OK");
    let read = client
        .get(&format!("{AGENT}/file-read?file=/root/note"))
        .await;
    assert_eq!(read.data()["content"], "remember");
    let part = format!("{AGENT}/file-read?file=/root/note&offset=2&count=3");
    let read = client.get(&part).await;
    assert_eq!(read.data()["content"], "mem");
    assert_eq!(read.data()["truncated"], 1);
}

#[tokio::test]
async fn a_machine_told_to_shut_down_is_gone_a_little_later() {
    let sim = Sim::builder(homelab())
        .clock(Clock::Manual)
        .start()
        .await
        .expect("starts");
    let client = Client::root(&sim);
    assert_eq!(
        client.post(&format!("{AGENT}/shutdown"), "").await.status,
        200
    );
    let silent = client.post(&format!("{AGENT}/ping"), "").await;
    assert_eq!(silent.reason, "QEMU guest agent is not running");
    sim.advance(Duration::from_secs(5));
    let gone = client.post(&format!("{AGENT}/ping"), "").await;
    assert_eq!(gone.reason, "VM 106 is not running");
}
