//! What a token that may do little can do, and the line that lets it do more.

use std::collections::BTreeSet;

use serde_json::Value;
use sim::world::access::{Role, Rule, Subject};
use sim::{Sim, World};

use super::{Clinic, findings, homelab_sim, of_sim};
use crate::setup::Place;

const TOKEN: &str = "carl@pve!ci";
const SECRET: &str = "carls-secret";

async fn with_rights(path: &str, privileges: &[&str]) -> Sim {
    let sim = homelab_sim().await;
    sim.world(|world| {
        world.add_token(TOKEN, SECRET);
        world.grant("carl@pve", path, privileges);
    });
    sim
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_without_a_right_are_named_with_the_line_that_allows_them() {
    let sim = with_rights("/vms", &["VM.Audit", "VM.PowerMgmt"]).await;
    let clinic = Clinic::new();
    clinic.configure(&[of_sim("lab", &sim, TOKEN)], SECRET);
    // Few rights are what somebody meant; it is no failure.
    let report = clinic.doctor(&["--json"]).exits(0).json();
    let found = findings(&report, "privileges")[0];
    let detail = &found["detail"];
    let can: Vec<_> = detail["can"].as_array().unwrap().iter().collect();
    for tool in [
        "list_proxmox_resources",
        "start_proxmox_vm",
        "get_proxmox_vm_status",
    ] {
        assert!(can.iter().any(|one| *one == tool), "{tool}: {found:#}");
    }
    let lacks = |tool: &str| {
        let cannot = detail["cannot"].as_array().unwrap();
        let one = cannot.iter().find(|one| one["tool"] == tool);
        one.unwrap_or_else(|| panic!("{tool}: {found:#}"))["lacks"].to_string()
    };
    assert_eq!(
        lacks("snapshot_proxmox_vm"),
        r#"["VM.Snapshot on /vms/VMID"]"#
    );
    assert!(lacks("backup_proxmox_vm").contains("Datastore.AllocateSpace on /storage/STORAGE"));
    let line = detail["allow"].as_str().unwrap();
    assert!(
        line.contains("pveum role add oxmox-more-vms --privs "),
        "{line}"
    );
    assert!(
        line.contains("pveum acl modify /vms --roles oxmox-more-vms --tokens 'carl@pve!ci'"),
        "{line}"
    );
    assert!(
        line.contains("VM.Snapshot") && !line.contains("VM.Audit"),
        "{line}"
    );
    // The world runs a PVE 9, which has no VM.Monitor.
    assert!(
        line.contains("VM.GuestAgent.Unrestricted") && !line.contains("VM.Monitor"),
        "{line}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn no_right_at_all_is_a_problem() {
    let sim = with_rights("/vms", &[]).await;
    let clinic = Clinic::new();
    clinic.configure(&[of_sim("lab", &sim, TOKEN)], SECRET);
    clinic
        .doctor(&[])
        .exits(1)
        .prints("there is no right anywhere")
        .prints("hint: to allow all of them, on a node: pveum role add");
}

/// What a node makes of `pveum role` and `pveum acl`.
fn type_on_a_node(world: &mut World, line: &str) {
    for command in line.split(" && ") {
        let words: Vec<_> = command
            .split(' ')
            .map(|word| word.trim_matches('\''))
            .collect();
        let flag = |name: &str| {
            let at = words.iter().position(|word| *word == name)?;
            Some(words[at + 1].to_owned())
        };
        let privs = || -> BTreeSet<String> {
            flag("--privs")
                .unwrap()
                .split(',')
                .map(str::to_owned)
                .collect()
        };
        match words[1..3] {
            ["role", "add"] => {
                let role = Role {
                    privs: privs(),
                    special: false,
                };
                let known = world.access.roles.insert(words[3].to_owned(), role);
                assert!(known.is_none(), "{command}: it is there already");
            }
            ["role", "modify"] => {
                let role = world.access.roles.get_mut(words[3]).unwrap();
                role.privs.extend(privs());
            }
            ["acl", "modify"] => {
                let subjects = [
                    flag("--users").map(Subject::User),
                    flag("--tokens").map(Subject::Token),
                ];
                for subject in subjects.into_iter().flatten() {
                    world.access.acl.push(Rule {
                        path: words[3].to_owned(),
                        subject,
                        role: flag("--roles").unwrap(),
                        propagate: true,
                    });
                }
            }
            _ => panic!("{command}"),
        }
    }
}

/// What doctor finds out about all tools there are.
async fn privileges(place: &Place) -> Value {
    let words = ["--toolsets", "all", "doctor", "--json"];
    let report = place.run(&words).await.exits(0).json();
    findings(&report, "privileges")[0].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_line_allows_every_tool_that_the_token_of_setup_lacks() {
    for bounds in [&[][..], &["--pools", "prod"]] {
        let place = Place::new().await;
        let words = [
            "--level",
            "read",
            "--name",
            "home",
            "--secret-store",
            "file",
        ];
        place
            .setup(&[&words[..], &["--yes"], bounds].concat())
            .await
            .exits(0);
        let before = privileges(&place).await["detail"].clone();
        let cannot = before["cannot"].as_array().unwrap();
        let update = cannot.iter().find(|one| one["tool"] == "update_proxmox_vm");
        let lacks = update.unwrap()["lacks"].to_string();
        for setting in ["VM.Config.CPU", "VM.Config.Memory", "VM.Config.Network"] {
            assert!(lacks.contains(setting), "{lacks}");
        }
        let line = before["allow"].as_str().unwrap();
        place.sim.world(|world| type_on_a_node(world, line));
        let after = privileges(&place).await["detail"].clone();
        let still = serde_json::json!([]);
        assert_eq!(after["cannot"], still, "{bounds:?}: {line}");
        let arguments = r#"{"vmid": 100, "set": {"memory": 4096}}"#;
        let call = ["call", "update_proxmox_vm", "--args", arguments, "--yes"];
        place.run(&call).await.exits(0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn setup_itself_raises_a_token_of_its_own() {
    for toolsets in ["core", "all"] {
        let place = Place::new().await;
        let words = |level| {
            let more = ["--name", "home", "--yes", "--toolsets", toolsets];
            [&["--level", level][..], &more].concat()
        };
        place.setup(&words("read")).await.exits(0);
        let report = place.run(&["doctor", "--json"]).await.exits(0).json();
        let found = findings(&report, "privileges")[0].clone();
        let level = found["detail"]["setup_level"].as_str().unwrap();
        assert!(
            found["hint"]
                .as_str()
                .unwrap()
                .contains(&format!("oxmox setup --level {level}")),
            "{found:#}"
        );
        place.setup(&words(level)).await.exits(0);
        let report = place.run(&["doctor", "--json"]).await.exits(0).json();
        let cannot = &findings(&report, "privileges")[0]["detail"]["cannot"];
        assert_eq!(*cannot, serde_json::json!([]), "{toolsets}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_user_has_by_other_rules_stays() {
    let place = Place::new().await;
    place
        .setup(&["--level", "read", "--name", "home", "--yes"])
        .await
        .exits(0);
    place.sim.world(|world| {
        world.grant("oxmox@pve", "/vms", &["VM.Audit", "VM.Console"]);
    });
    let line = privileges(&place).await["detail"]["allow"].clone();
    let line = line.as_str().unwrap();
    let user = sim::call::Identity::parse("oxmox@pve");
    let held = |world: &World| world.privileges(&user, "/vms/100");
    place.sim.world(|world| {
        let before = held(world);
        type_on_a_node(world, line);
        let after = held(world);
        assert!(before.keys().all(|it| after.contains_key(it)), "{line}");
    });
    let cannot = &privileges(&place).await["detail"]["cannot"];
    assert_eq!(*cannot, serde_json::json!([]));
}
