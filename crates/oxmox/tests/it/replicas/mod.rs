//! Two replicas of the binary on a real PostgreSQL, one of which is killed. `OXMOX_TEST_POSTGRES` is the address of a
//! database where tests may make schemas of their own; without it they are skipped, and say so.

mod balancer;
mod database;
mod session;

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::{Value, json};
use sim::Sim;
use sim::worlds::{ROOT_PASSWORD, fleet, homelab};
use tempfile::TempDir;

use crate::cli::store::{exported, machine_with_a_store};
use crate::cli::{Machine, Ran};
use crate::server::{self, Server};
use balancer::Balancer;
use database::Database;
use session::{Heard, Session};

/// How many changes are under way when one replica is killed.
const CHANGES: usize = 200;
/// Calls that one client of the 2025 protocol makes, one after the other.
const PER_SESSION: usize = 5;
/// How many of them the cluster has got by then.
const BEFORE_THE_KILL: usize = 40;

/// A cluster, a database, and two machines with the same keys.
struct Service {
    sim: Sim,
    machines: [Machine; 2],
    _database: Database,
    _config: TempDir,
}

impl Service {
    async fn new(test: &str) -> Option<Self> {
        let database = Database::new(test).await?;
        let sim = Sim::start(fleet(1_000)).await.unwrap();
        let config = tempfile::tempdir().unwrap();
        let file = config.path().join("config.toml");
        let settings = "mode = \"trusted\"\ntoolsets = [\"all\"]\n\n\
                    [[rules]]\ntool = \"stop_proxmox_vm\"\nverdict = \"ask\"\n";
        std::fs::write(&file, settings).unwrap();
        let machine = || {
            Machine::new()
                .with("PROXMOX_HOST", &sim.addr().to_string())
                .with("PROXMOX_FINGERPRINT", sim.fingerprint())
                .with("PROXMOX_USER", "root@pam")
                .with("PROXMOX_PASSWORD", ROOT_PASSWORD)
                .with("OXMOX_CONFIG", file.to_str().unwrap())
                .with("OXMOX_STORE", &database.url())
        };
        let machines = [machine(), machine()];
        // The first makes the keys, a person copies them.
        machines[0].run(&["audit"]).exits(0);
        std::fs::create_dir(machines[1].state_dir()).unwrap();
        let key = |machine: &Machine| machine.state_dir().join("key");
        std::fs::copy(key(&machines[0]), key(&machines[1])).unwrap();
        Some(Self {
            sim,
            machines,
            _database: database,
            _config: config,
        })
    }

    async fn replica(&self, machine: usize) -> Server {
        let arguments = ["serve", "--http", "127.0.0.1:0"];
        Server::start(self.machines[machine].command(&arguments)).await
    }

    /// How often the cluster got each change.
    fn got(&self) -> BTreeMap<String, usize> {
        let mut got = BTreeMap::new();
        for logged in self.sim.requests() {
            if let Some(change) = change_of(&logged) {
                *got.entry(change).or_default() += 1;
            }
        }
        got
    }

    /// Guests that can be started.
    fn stopped(&self) -> Vec<u32> {
        self.sim.world(|world| {
            let guests = world.guests.iter();
            let stopped = guests.filter(|(_, guest)| !guest.is_running());
            stopped.map(|(vmid, _)| *vmid).collect()
        })
    }
}

/// The change that a request is, in the words of [`Change::key`].
fn change_of(logged: &sim::Logged) -> Option<String> {
    if logged.method != "POST" {
        return None;
    }
    if logged.path == "/pools" {
        return Some(format!("pool {}", logged.params.text("poolid")?));
    }
    let (before, _) = logged.path.split_once("/status/start")?;
    Some(format!("start {}", before.rsplit('/').next()?))
}

/// A call that changes something, each something else.
#[derive(Clone)]
struct Change {
    tool: &'static str,
    arguments: Value,
}

impl Change {
    fn key(&self) -> String {
        key_of(&self.arguments)
    }
}

fn key_of(arguments: &Value) -> String {
    match &arguments["poolid"] {
        Value::String(pool) => format!("pool {pool}"),
        _ => format!("start {}", arguments["vmid"]),
    }
}

/// Half of them are requests that PVE answers at once, half start tasks.
fn changes(service: &Service) -> Vec<Change> {
    let pools = (0..CHANGES / 2).map(|number| Change {
        tool: "create_pool",
        arguments: json!({"poolid": format!("p{number}")}),
    });
    let starts = service.stopped().into_iter().take(CHANGES / 2);
    let starts = starts.map(|vmid| Change {
        tool: "start_proxmox_vm",
        arguments: json!({ "vmid": vmid }),
    });
    let both: Vec<_> = pools
        .zip(starts)
        .flat_map(|(pool, start)| [pool, start])
        .collect();
    assert_eq!(both.len(), CHANGES);
    both
}

/// What a client was told of a change; `None`: nothing.
type Told = (String, Option<String>);

/// One call of the 2026 protocol.
async fn as_2026(at: std::net::SocketAddr, change: Change) -> Vec<Told> {
    let result = server::call(at, change.tool, &change.arguments).await;
    vec![(change.key(), result.as_ref().and_then(status))]
}

/// Several calls of a session. A call that was lost is not made again; one that no session took is.
async fn as_2025(at: std::net::SocketAddr, changes: Vec<Change>) -> Vec<Told> {
    let mut told = Vec::new();
    let mut session = Session::begin(at).await;
    for change in changes {
        let heard = loop {
            let Some(open) = &session else {
                session = Session::begin(at).await;
                continue;
            };
            match open.call(change.tool, &change.arguments).await {
                Heard::NoSession => session = Session::begin(at).await,
                Heard::Nothing => break None,
                Heard::Result(result) => break status(&result),
            }
        };
        told.push((change.key(), heard));
    }
    told
}

fn status(result: &Value) -> Option<String> {
    let status = result["structuredContent"]["status"].as_str();
    let refused = result["isError"] == true;
    status
        .map(ToOwned::to_owned)
        .or(refused.then(|| format!("refused: {result}")))
}

/// Each attempt of the trail by its change: the plan, and how it was closed.
fn trail(machine: &Machine) -> BTreeMap<String, (String, Option<String>)> {
    machine.run(&["audit", "verify"]).exits(0);
    let printed = machine.run(&["audit", "--json", "--limit", "10000"]);
    let (mut keys, mut found) = (BTreeMap::new(), BTreeMap::new());
    for line in printed.exits(0).stdout.lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        let plan = entry["plan"].as_str().unwrap().to_owned();
        if entry["kind"] == "opened" {
            let key = key_of(&entry["arguments"]);
            keys.insert(plan.clone(), key.clone());
            let before = found.insert(key.clone(), (plan, None));
            assert!(before.is_none(), "{key} was attempted twice");
        } else if entry["kind"] == "closed" {
            let result = entry["result"].as_str().unwrap().to_owned();
            let (_, end) = found.get_mut(&keys[&plan]).unwrap();
            assert!(end.replace(result).is_none(), "{plan} was closed twice");
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn replicas_lose_and_double_nothing_when_one_is_killed() {
    let Some(service) = Service::new("killed_replica").await else {
        return;
    };
    let service = Arc::new(service);
    let (mut doomed, mut other) = (service.replica(0).await, service.replica(1).await);
    let balancer = Balancer::before(vec![doomed.address, other.address]).await;
    let at = balancer.address;

    let changes = changes(&service);
    let (newer, older) = changes.split_at(CHANGES / 2);
    let mut clients = Vec::new();
    for change in newer {
        clients.push(tokio::spawn(as_2026(at, change.clone())));
    }
    for some in older.chunks(PER_SESSION) {
        clients.push(tokio::spawn(as_2025(at, some.to_vec())));
    }
    while service.got().len() < BEFORE_THE_KILL {
        tokio::task::yield_now().await;
    }
    doomed.kill();
    let told: BTreeMap<_, _> = join_all(clients)
        .await
        .into_iter()
        .flat_map(Result::unwrap)
        .collect();
    assert_eq!(told.len(), CHANGES);
    let lost = told.values().filter(|told| told.is_none()).count();
    assert!(lost > 0, "nothing was under way when it was killed");

    // Whoever comes next closes what was left open: the one that is started anew, or the one that went on.
    let mut back = service.replica(0).await;
    let mut ends = trail(&service.machines[1]);
    while ends.values().any(|(_, end)| end.is_none()) {
        let closed = "left open by an oxmox that ended";
        tokio::select! {
            _ = back.hears(closed) => {}
            _ = other.hears(closed) => {}
        }
        ends = trail(&service.machines[1]);
    }

    let got = service.got();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (change, told) in &told {
        let times = got.get(change).copied().unwrap_or_default();
        assert!(times <= 1, "{change} was sent {times} times");
        let Some((plan, end)) = ends.get(change) else {
            // It did not come so far as to leave a trace.
            assert_eq!((times, told), (0, &None), "{change}");
            *counts.entry("no trace").or_default() += 1;
            continue;
        };
        let end = end.as_deref().unwrap();
        *counts.entry(end).or_default() += 1;
        match end {
            "applied" => assert_eq!(times, 1, "{change}"),
            "not_applied" => assert_eq!(times, 0, "{change}"),
            "unknown" => {
                let look = json!({ "upid": plan });
                let said = server::call(at, "get_proxmox_task", &look).await.unwrap();
                let said = said["content"][0]["text"].as_str().unwrap();
                let tells = "do not send it again before looking";
                assert!(said.contains(tells), "{change}: {said}");
            }
            other => panic!("{change} ended as {other}: {told:?}"),
        }
        if let Some(told) = told {
            assert_eq!(told, end, "{change}");
        }
    }
    eprintln!("{counts:?}, {lost} calls were not answered");
    drop((back, other));
}

#[tokio::test(flavor = "multi_thread")]
async fn replicas_keep_an_approval_though_the_one_that_asked_is_killed() {
    let Some(service) = Service::new("kept_approval").await else {
        return;
    };
    let (mut doomed, other) = (service.replica(0).await, service.replica(1).await);
    let running = service.sim.world(|world| {
        let mut guests = world.guests.iter();
        let (vmid, _) = guests.find(|(_, guest)| guest.is_running()).unwrap();
        *vmid
    });
    let stop = json!({"vmid": running, "action": "stop"});
    let asked = server::call(doomed.address, "stop_proxmox_vm", &stop).await;
    let plan = asked.unwrap()["structuredContent"]["plan"].clone();
    let plan = plan.as_str().unwrap();
    let approve = ["approve", plan, "--yes"];
    service.machines[0].run(&approve).exits(0);
    doomed.kill();
    let done = server::call(other.address, "stop_proxmox_vm", &stop).await;
    let done = done.unwrap();
    assert_eq!(status(&done).unwrap(), "applied", "{done:#}");
    assert_eq!(done["structuredContent"]["plan"], plan);
    // It was good for one time.
    let again = server::call(other.address, "stop_proxmox_vm", &stop).await;
    assert_ne!(status(&again.unwrap()).unwrap(), "applied");
}

#[tokio::test(flavor = "multi_thread")]
async fn replicas_answer_404_for_the_session_of_one_that_was_killed() {
    let Some(service) = Service::new("lost_session").await else {
        return;
    };
    let (mut doomed, other) = (service.replica(0).await, service.replica(1).await);
    let balancer = Balancer::before(vec![doomed.address, other.address]).await;
    let session = Session::begin(balancer.address).await.unwrap();
    assert_eq!(balancer.place_of(&session.id), doomed.address);
    let list = json!({"limit": 1});
    let before = session.call("list_proxmox_resources", &list).await;
    assert!(matches!(before, Heard::Result(_)), "{before:?}");
    doomed.kill();
    let after = session.call("list_proxmox_resources", &list).await;
    assert!(matches!(after, Heard::NoSession), "{after:?}");
    let anew = Session::begin(balancer.address).await.unwrap();
    let found = anew.call("list_proxmox_resources", &list).await;
    assert!(matches!(found, Heard::Result(_)), "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn replicas_are_frozen_from_any_machine() {
    let Some(service) = Service::new("frozen_together").await else {
        return;
    };
    let other = service.replica(1).await;
    let pool = json!({"poolid": "frozen"});
    service.machines[0]
        .run(&["freeze"])
        .exits(0)
        .says("by any oxmox on this store");
    let refused = server::call(other.address, "create_pool", &pool).await;
    let refused = refused.unwrap();
    assert!(refused.to_string().contains("frozen"), "{refused:#}");
    set_up(&service.machines[1], &service.sim, &["--yes"])
        .exits(1)
        .says("stopped all changes of all replicas");
    assert!(service.got().is_empty());
    service.machines[0].run(&["thaw"]).exits(0).says("thawed");
    let done = server::call(other.address, "create_pool", &pool).await;
    assert_eq!(status(&done.unwrap()).unwrap(), "applied");
}

fn set_up(machine: &Machine, sim: &Sim, more: &[&str]) -> Ran {
    let address = sim.addr().to_string();
    let words = [
        "setup",
        "--host",
        &address,
        "--pin",
        sim.fingerprint(),
        "--only-host",
        "--user=root@pam",
        "--password-stdin",
        "--level=read",
        "--name=home",
        "--secret-store=file",
    ];
    machine.fed(&[&words, more].concat(), ROOT_PASSWORD)
}

/// Whoever only looks makes no keys: with those a new database would be theirs, and nobody else's.
#[tokio::test(flavor = "multi_thread")]
async fn replicas_are_not_shut_out_by_a_setup_that_nobody_agreed_to() {
    let Some(database) = Database::new("unclaimed_store").await else {
        return;
    };
    let sim = Sim::start(homelab()).await.unwrap();
    let [one, other] = [(); 2].map(|()| Machine::new().with("OXMOX_STORE", &database.url()));
    set_up(&one, &sim, &[]).exits(2).says("--yes");
    assert!(!one.state_dir().exists());
    other
        .run(&["freeze"])
        .exits(0)
        .says("by any oxmox on this store");
    // After a yes it is asked all the same.
    std::fs::create_dir(one.state_dir()).unwrap();
    let key = |machine: &Machine| machine.state_dir().join("key");
    std::fs::copy(key(&other), key(&one)).unwrap();
    set_up(&one, &sim, &["--yes"])
        .exits(1)
        .says("stopped all changes of all replicas");
}

/// From SQLite to PostgreSQL and back: what comes out at the end is what went in.
#[tokio::test(flavor = "multi_thread")]
async fn replicas_take_over_a_store_that_was_kept_in_a_file() {
    let Some(database) = Database::new("moved_store").await else {
        return;
    };
    let from = machine_with_a_store();
    let file = exported(&from);
    let key = from.state_dir().join("demo/key");
    let machine = Machine::new().with("OXMOX_STORE", &database.url());
    std::fs::create_dir(machine.state_dir()).unwrap();
    std::fs::copy(&key, machine.state_dir().join("key")).unwrap();
    let import = ["store", "import", file.to_str().unwrap()];
    machine.run(&import).exits(0).says("is whole: 4 entries");
    machine
        .run(&["audit", "verify"])
        .exits(0)
        .prints("whole: 4");
    machine.run(&["token", "list"]).exits(0).prints("ci");
    machine.run(&["approve"]).exits(0).prints("Press ret");
    machine
        .run(&["baseline", "show"])
        .exits(0)
        .prints("default");
    machine.run(&import).exits(1).says("the store is not empty");

    let back = machine.state_dir().join("back.jsonl");
    let export = ["store", "export", back.to_str().unwrap()];
    machine.run(&export).exits(0);
    let read = |path: &std::path::Path| std::fs::read_to_string(path).unwrap();
    assert_eq!(read(&file), read(&back));
    let home = Machine::new();
    std::fs::create_dir(home.state_dir()).unwrap();
    std::fs::copy(&key, home.state_dir().join("key")).unwrap();
    let import = ["store", "import", back.to_str().unwrap()];
    home.run(&import).exits(0).says("is whole: 4 entries");
}
