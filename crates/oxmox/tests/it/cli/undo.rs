//! Taking changes back, and the second pair of eyes, on a cluster that outlives the commands.

use serde_json::Value;
use sim::Sim;
use sim::worlds::{ROOT_PASSWORD, homelab};

use super::Machine;

struct Scene {
    sim: Sim,
    machine: Machine,
    _config: tempfile::TempDir,
}

impl Scene {
    async fn new(config: &str) -> Self {
        let sim = Sim::start(homelab()).await.unwrap();
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config.toml");
        std::fs::write(&file, config).unwrap();
        let machine = Machine::new()
            .with("PROXMOX_HOST", &sim.addr().to_string())
            .with("PROXMOX_FINGERPRINT", sim.fingerprint())
            .with("PROXMOX_USER", "root@pam")
            .with("PROXMOX_PASSWORD", ROOT_PASSWORD)
            .with("OXMOX_CONFIG", file.to_str().unwrap());
        Self {
            sim,
            machine,
            _config: dir,
        }
    }

    fn runs(&self, vmid: u32) -> bool {
        self.sim.world(|world| world.guests[&vmid].is_running())
    }

    /// The plan of a call.
    fn plan(&self, arguments: &[&str], code: i32) -> String {
        let call = [&["call", "--json"], arguments].concat();
        let answer = self.machine.run(&call).exits(code).json();
        answer["plan"].as_str().unwrap().to_owned()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_taken_back_by_a_call_like_any_other() {
    let scene = Scene::new("").await;
    let started = scene.plan(&["start_proxmox_vm", "--vmid", "105"], 0);
    assert!(scene.runs(105));
    let undo = ["undo", started.as_str()];
    // What interrupts is asked about, also here.
    scene
        .machine
        .run(&undo)
        .exits(4)
        .says("to take back: Start VM 105");
    assert!(scene.runs(105));
    scene
        .machine
        .run(&["undo", &started, "--preview"])
        .exits(0)
        .prints("nothing was changed");
    scene
        .machine
        .run(&["undo", &started, "--yes"])
        .exits(0)
        .prints("applied");
    assert!(!scene.runs(105));
}

#[tokio::test(flavor = "multi_thread")]
async fn old_values_come_back() {
    let scene = Scene::new("").await;
    let set = r#"--set={"description": "new"}"#;
    let changed = scene.plan(&["update_proxmox_vm", "--vmid", "105", set], 0);
    let description = || {
        scene.sim.world(|world| {
            let guest = &world.guests[&105];
            guest.config.get("description").map(str::to_owned)
        })
    };
    assert_eq!(description().as_deref(), Some("new"));
    scene
        .machine
        .run(&["undo", &changed])
        .exits(0)
        .prints("applied");
    assert_ne!(description().as_deref(), Some("new"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_taken_back_is_said() {
    let scene = Scene::new("").await;
    scene
        .machine
        .run(&["undo", "zzzzzzzz"])
        .exits(1)
        .says("there is no plan");
    let waits = scene.plan(&["send_vm_key", "--vmid", "110", "--key", "ret"], 4);
    scene
        .machine
        .run(&["undo", &waits])
        .exits(1)
        .says("has not come to an end");
    let pressed = scene.plan(
        &["send_vm_key", "--vmid", "110", "--key", "ret", "--yes"],
        0,
    );
    scene
        .machine
        .run(&["undo", &pressed])
        .exits(1)
        .says("a key press cannot be undone");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_asked_cannot_approve_with_four_eyes() {
    let scene = Scene::new("four_eyes = true\n").await;
    // A yes of one's own is none, and nobody waits here for another's.
    let stop = "stop_proxmox_vm --vmid 110 --action stop --yes --wait 0";
    let stop: Vec<_> = stop.split(' ').collect();
    let asked = scene.plan(&stop, 4);
    scene
        .machine
        .run(&["approve", &asked, "--yes"])
        .exits(1)
        .says("asked for it and cannot approve it");
    // A no needs no second person.
    scene.machine.run(&["reject", &asked, "--yes"]).exits(0);
    assert!(scene.runs(110));
    let trail = scene.machine.run(&["audit", "--json"]).exits(0).stdout;
    let last: Value = serde_json::from_str(trail.lines().last().unwrap()).unwrap();
    assert_eq!(last["decision"], "rejected");
}
