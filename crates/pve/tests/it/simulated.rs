//! The client against the simulator: whole conversations instead of single faults.

use std::io::Write;
use std::time::Duration;

use pve::{
    Credentials, Guest, GuestKind, GuestRef, Host, Identity, NodeName, Reader, Request, Settings,
    TaskEnd, Trust, Upid, Vmid, Writer, connect,
};
use sim::worlds::{ROOT_PASSWORD, ROOT_TOKEN, homelab};
use sim::{Fault, Sim};

const NODES: [&str; 3] = ["pve1", "pve2", "pve3"];

fn host(sim: &Sim, node: &str) -> Host {
    let host: Host = sim.node_addr(node).unwrap().to_string().parse().unwrap();
    host.with_pin(sim.node_fingerprint(node).unwrap().parse().unwrap())
}

pub(crate) fn root_token() -> Credentials {
    let (user, name, secret) = ROOT_TOKEN;
    Credentials::Token {
        user: user.to_owned(),
        name: name.to_owned(),
        secret: secret.into(),
    }
}

pub(crate) fn root_password() -> Credentials {
    Credentials::Password {
        user: "root@pam".to_owned(),
        password: ROOT_PASSWORD.into(),
    }
}

pub(crate) async fn homelab_as(credentials: Credentials) -> (Sim, Reader, Writer) {
    let sim = Sim::start(homelab()).await.unwrap();
    let hosts = NODES.iter().map(|node| host(&sim, node)).collect();
    let mut settings = Settings::new(hosts, credentials);
    settings.timeouts.task_poll = Duration::from_millis(1);
    let (reader, writer) = connect(settings).unwrap();
    (sim, reader, writer)
}

pub(crate) fn vmid(number: u64) -> Vmid {
    Vmid::new(number).unwrap()
}

fn upid(answer: &serde_json::Value) -> Upid {
    answer.as_str().unwrap().parse().unwrap()
}

#[tokio::test]
async fn the_inventory_is_read() {
    let (_sim, reader, _) = homelab_as(root_token()).await;
    assert!(reader.version().await.unwrap().at_least(8, 4));
    let cluster = reader.cluster_status().await.unwrap();
    assert!(cluster.quorate);
    let names: Vec<&str> = cluster
        .nodes
        .iter()
        .map(|node| node.name.as_str())
        .collect();
    assert_eq!(names, NODES);
    let web = reader.find_guest(vmid(100)).await.unwrap().unwrap();
    assert_eq!(
        (web.name.as_deref(), web.at.kind),
        (Some("web"), GuestKind::Qemu)
    );
    assert_eq!(reader.find_guest(vmid(999)).await.unwrap(), None);
    let status = reader.node_status(&web.at.node).await.unwrap();
    assert!(status.memory.unwrap().total.is_some());
}

#[tokio::test]
async fn every_guest_has_disks_and_an_identity() {
    let (_sim, reader, _) = homelab_as(root_token()).await;
    let guests = reader.guests().await.unwrap();
    for kind in [GuestKind::Qemu, GuestKind::Lxc] {
        assert!(guests.iter().any(|guest| guest.at.kind == kind));
    }
    for guest in &guests {
        let config = reader.guest_config(&guest.at).await.unwrap();
        assert_eq!(config.name(), guest.name, "{}", guest.at);
        assert!(!config.disks().is_empty(), "{}", guest.at);
        let identity = Identity::of(guest.at.kind, &config);
        let again = reader.guest_identity(&guest.at).await.unwrap();
        assert_eq!(identity.difference(&again), None);
        let status = reader.guest_status(&guest.at).await.unwrap();
        assert_eq!(status.is_running(), guest.is_running(), "{}", guest.at);
    }
}

/// A VM that can be started.
async fn stopped_vm(reader: &Reader) -> GuestRef {
    let guests = reader.guests().await.unwrap();
    let startable = |g: &Guest| g.at.kind == GuestKind::Qemu && !g.is_running() && !g.template;
    guests.into_iter().find(startable).unwrap().at
}

#[tokio::test]
async fn a_change_is_sent_and_its_task_awaited() {
    for credentials in [root_token(), root_password()] {
        let (_sim, reader, writer) = homelab_as(credentials).await;
        let guest = stopped_vm(&reader).await;
        let start = Request::post(guest.path("status/start"));
        let upid = upid(&writer.send(&start).await.unwrap());
        assert_eq!((upid.node(), upid.vmid()), (&guest.node, Some(guest.vmid)));
        let within = Duration::from_mins(1);
        let end = reader.wait_task(&upid, within, |_| {}).await.unwrap();
        assert_eq!(end, Some(TaskEnd::Ok));
        assert_eq!(reader.task_log_tail(&upid, 1).await.unwrap(), ["TASK OK"]);
        assert!(reader.guest_status(&guest).await.unwrap().is_running());
    }
}

#[tokio::test]
async fn a_ticket_outlived_by_hours_is_replaced() {
    let (sim, reader, writer) = homelab_as(root_password()).await;
    let guest = stopped_vm(&reader).await;
    sim.advance(Duration::from_hours(3));
    reader.version().await.unwrap();
    sim.advance(Duration::from_hours(3));
    let start = Request::post(guest.path("status/start"));
    upid(&writer.send(&start).await.unwrap());
}

#[tokio::test]
async fn a_write_whose_answer_was_lost_is_found_among_the_tasks() {
    let (sim, reader, writer) = homelab_as(root_token()).await;
    let guest = stopped_vm(&reader).await;
    let starts = async || {
        let found = reader
            .find_task(&guest.node, "qmstart", Some(guest.vmid), None)
            .await;
        found.unwrap().len()
    };
    let before = starts().await;
    sim.fault(Fault::drop_after().on("POST", "/nodes/*/status/start"));
    let start = Request::post(guest.path("status/start"));
    let error = writer.send(&start).await.unwrap_err();
    assert!(error.is_maybe_sent(), "{error:?}");
    assert_eq!(
        starts().await,
        before + 1,
        "carried out once, and not sent again"
    );
}

#[tokio::test]
async fn the_lacking_privilege_is_named() {
    let bob = Credentials::Token {
        user: "bob@pve".to_owned(),
        name: "power".to_owned(),
        secret: "b0b00000-0000-4000-8000-000000000001".into(),
    };
    let (_sim, reader, writer) = homelab_as(bob).await;
    let guest = reader.find_guest(vmid(105)).await.unwrap().unwrap().at;
    let rights = reader.permissions_on(&guest.acl_path()).await.unwrap();
    assert!(rights.has("/vms/105", "VM.PowerMgmt") && !rights.has("/vms/105", "VM.Snapshot"));
    assert_eq!(
        reader.find_guest(vmid(100)).await.unwrap(),
        None,
        "not bob's to see"
    );
    let stop = Request::post("/nodes/pve1/qemu/100/status/stop");
    let error = writer.send(&stop).await.unwrap_err();
    let lacking = ("/vms/100".to_owned(), vec!["VM.PowerMgmt".to_owned()]);
    assert_eq!(error.missing_privilege(), Some(lacking), "{error}");
}

#[tokio::test]
async fn a_missing_guest_and_a_bad_parameter_are_told_apart() {
    let (_sim, reader, writer) = homelab_as(root_token()).await;
    let missing = "/nodes/pve1/qemu/999/config";
    let error = reader.get::<()>(missing).await.unwrap_err();
    assert!(error.is_missing_object(), "{error}");
    let guest = stopped_vm(&reader).await;
    let start = Request::post(guest.path("status/start")).with("timeout", "soon");
    let error = writer.send(&start).await.unwrap_err();
    assert!(
        !error.is_missing_object() && error.status() == Some(400),
        "{error}"
    );
    assert!(error.pve_text().unwrap().contains("timeout: "), "{error}");
}

#[tokio::test]
async fn a_node_that_is_down_degrades_only_what_is_on_it() {
    let (sim, reader, _) = homelab_as(root_token()).await;
    sim.set_online("pve3", false);
    let down = NodeName::new("pve3").unwrap();
    let error = reader.node_status(&down).await.unwrap_err();
    assert_eq!(error.status(), Some(595), "{error:?}");
    assert!(error.is_never_sent());
    let up = NodeName::new("pve1").unwrap();
    reader.node_status(&up).await.unwrap();
}

#[tokio::test]
async fn the_clusters_ca_is_enough_for_all_nodes() {
    let sim = Sim::start(homelab()).await.unwrap();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(sim.ca_pem().as_bytes()).unwrap();
    for node in NODES {
        let mut host = host(&sim, node);
        host.pin = None;
        let mut settings = Settings::new(vec![host], root_token());
        settings.trust = Trust::CaFile(file.path().to_owned());
        let (reader, _) = connect(settings).unwrap();
        reader.version().await.unwrap();
    }
}

#[tokio::test]
async fn the_clock_of_the_host_that_answered_is_known() {
    let (_sim, reader, _writer) = homelab_as(root_token()).await;
    assert_eq!(reader.clock_ahead(), None, "nobody was asked yet");
    reader.version().await.unwrap();
    // The simulator stamps its answers by the clock of this machine.
    assert!(reader.clock_ahead().unwrap().abs() <= 5);
}
