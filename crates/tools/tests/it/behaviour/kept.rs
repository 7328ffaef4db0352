//! What is shown once and kept nowhere, and what is kept and shown as it is.

use serde_json::json;
use sim::world::agent::Program;
use sim::world::shell::Outcome;
use tools::policy::Mode;

use crate::house::House;

const CANARY: &str = "canary-5f0";

/// Everything in the files of a state directory.
fn files(dir: &std::path::Path) -> String {
    let files = std::fs::read_dir(dir).unwrap().flatten();
    let files = files.filter(|file| file.path().is_file());
    let bytes: Vec<u8> = files
        .flat_map(|file| std::fs::read(file.path()).unwrap())
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[tokio::test]
async fn what_a_file_of_a_guest_holds_is_kept_nowhere() {
    let (house, dir) = (House::new().await, tempfile::tempdir().unwrap());
    let policy = tools::policy::Policy {
        mode: Mode::Trusted,
        ..tools::policy::Policy::default()
    };
    let engine = house.kept_in(dir.path(), policy);
    let node = house.sim.world(|world| {
        let guest = world.guests.get_mut(&106).unwrap();
        let file = ("/root/secret".to_owned(), CANARY.as_bytes().to_vec());
        guest.agent.files.extend([file]);
        guest.node.clone()
    });
    let typed = json!({"vmid": 106, "file": "/root/secret"});
    let raw = json!({"method": "GET", "path": format!("/nodes/{node}/qemu/106/agent/file-read"), "params": {"file": "/root/secret"}});
    for (tool, args) in [("vm_agent_file_read", typed), ("write_proxmox_api", raw)] {
        let call = crate::house::call(tool, &args.to_string());
        let done = crate::house::done(engine.call(call, &crate::house::Nobody).await).unwrap();
        assert_eq!(done.data["status"], "applied", "{}", done.text);
        let read = done.data["steps"][0]["result"].to_string();
        assert!(read.contains(CANARY), "{}", done.text);
        assert!(!files(dir.path()).contains(CANARY), "{tool}");
        let plan = done.data["plan"].as_str().unwrap();
        let outcome = engine.handle(plan).await.unwrap().outcome;
        let kept = outcome.steps[0].result.as_ref().unwrap();
        assert!(
            kept["sha256"].is_string() && kept["bytes"].is_u64(),
            "{kept:?}"
        );
        let detail = outcome.steps[0].detail.as_ref().unwrap();
        assert!(detail.contains("the same call reads it again"), "{detail}");
    }
}

#[tokio::test]
async fn a_file_is_asked_about_as_the_guest_gets_it() {
    let house = House::new().await;
    let args = json!({"vmid": 106, "file": "/root/grün", "content": "ä Привет\n"});
    let asked = house.call("vm_agent_file_write", &args.to_string()).await;
    let asked = asked.unwrap().text;
    assert!(asked.contains("file=/root/grün"), "{asked}");
    assert!(asked.contains(r#"content="ä Привет\n""#), "{asked}");
    let long = "ä".repeat(4_000);
    let args = json!({"vmid": 106, "file": "/root/x", "content": long});
    let asked = house.call("vm_agent_file_write", &args.to_string()).await;
    let asked = asked.unwrap().text;
    // printf 'ä%.0s' $(seq 4000) | sha256sum
    let sha256 = "a114e30b1e66a89c0f952cc570c22e72ab8de56ef09ae4174beb8e71f02693bd";
    let told = format!("4000 characters, sha256 {sha256}");
    assert!(asked.contains(&told), "{asked}");
}

#[tokio::test]
async fn a_word_of_a_command_is_shown_as_one() {
    let house = House::logged_in(Mode::Ask).await;
    house.set(200, "cmode", "shell");
    house.sim.world(|world| {
        let program = Program {
            line: "echo".to_owned(),
            outcome: Outcome::default(),
        };
        let guest = world.guests.get_mut(&200).unwrap();
        guest.agent.programs.push(program);
    });
    let args = json!({"vmid": 200, "command": ["echo", "a\" \"b"]}).to_string();
    let shown = house.preview("run_proxmox_vm_command", &args);
    let shown = shown.await.unwrap().text;
    assert!(shown.contains(r#"run=echo "a\" \"b""#), "{shown}");
}
