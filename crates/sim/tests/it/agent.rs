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

#[tokio::test]
async fn a_command_that_the_guest_forbids_is_said_to_be_disabled() {
    let sim = Sim::start(homelab()).await.expect("starts");
    sim.world(|world| {
        let guest = world.guests.get_mut(&106).expect("is there");
        guest.agent.blocked.push("guest-exec".to_owned());
    });
    let client = Client::root(&sim);
    let refused = client.post(&format!("{AGENT}/exec"), "command=id").await;
    let text = "Agent error: Command guest-exec has been disabled: the command is not allowed";
    assert_eq!((refused.status, refused.reason.as_str()), (500, text));
    let info = client.get(&format!("{AGENT}/info")).await;
    let commands = info.data()["result"]["supported_commands"].clone();
    let enabled = |name: &str| {
        let mut commands = commands.as_array().expect("a list").iter();
        commands
            .find(|it| it["name"] == name)
            .expect("it is listed")["enabled"]
            .clone()
    };
    assert_eq!(enabled("guest-exec"), false);
    assert_eq!(enabled("guest-ping"), true);
}

#[tokio::test]
async fn frozen_file_systems_leave_the_agent_little() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let client = Client::root(&sim);
    client.post(&format!("{AGENT}/fsfreeze-freeze"), "").await;
    assert_eq!(client.get(&format!("{AGENT}/get-time")).await.status, 500);
    let info = client.get(&format!("{AGENT}/info")).await;
    let commands = info.data()["result"]["supported_commands"].clone();
    let commands = commands.as_array().expect("a list").iter();
    let mut enabled: Vec<_> = commands.filter(|it| it["enabled"] == true).collect();
    assert_eq!(enabled.len(), 6, "{enabled:?}");
    enabled.retain(|it| it["name"] == "guest-fsfreeze-thaw");
    assert_eq!(enabled.len(), 1);
}

#[tokio::test]
async fn a_character_is_a_byte_for_the_agent() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let client = Client::root(&sim);
    let exec = format!("{AGENT}/exec");
    // One character for each of the two bytes of an umlaut.
    let reply = client
        .post(&exec, "command=echo&command=%C3%83%C2%BC")
        .await;
    let pid = reply.data()["pid"].clone();
    let ended = client.get(&format!("{AGENT}/exec-status?pid={pid}")).await;
    assert_eq!(ended.data()["out-data"], "Ã¼\n");
    let wide = client.post(&exec, "command=echo&command=%E2%86%92").await;
    assert_eq!(wide.status, 500);
}

#[tokio::test]
async fn a_shell_knows_the_programs_of_the_world() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let client = Client::root(&sim);
    let form = "command=sh&command=-c&command=hostname%3B+uptime";
    let reply = client.post(&format!("{AGENT}/exec"), form).await;
    let pid = reply.data()["pid"].clone();
    let ended = client.get(&format!("{AGENT}/exec-status?pid={pid}")).await;
    let out = ended.data()["out-data"]
        .as_str()
        .expect("a text")
        .to_owned();
    assert!(
        out.starts_with("build\n") && out.contains("load average"),
        "{out}"
    );
}
