//! What the role and the token that setup makes can do, and cannot.

use super::Place;

fn words<'a>(level: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let all = [
        "--level",
        level,
        "--name",
        "home",
        "--secret-store",
        "file",
        "--yes",
    ];
    [&all[..], more].concat()
}

fn role(place: &Place, name: &str) -> Vec<String> {
    place.sim.world(|world| {
        let role = world.access.roles.get(name);
        role.map(|role| role.privs.iter().cloned().collect())
            .unwrap_or_default()
    })
}

#[tokio::test]
async fn read_looks_and_changes_nothing() {
    let place = Place::new().await;
    place.setup(&words("read", &[])).await.exits(0);
    let held = role(&place, "oxmox-read");
    assert!(
        held.iter()
            .all(|it| it.ends_with(".Audit") || it == "Sys.Syslog"),
        "{held:?}"
    );
    let call = ["call", "get_proxmox_vm_status", "--vmid", "105"];
    place.run(&call).await.exits(0);
    let start = ["call", "start_proxmox_vm", "--vmid", "105", "--yes"];
    place.run(&start).await.exits(1).says("VM.PowerMgmt");
}

#[tokio::test]
async fn screens_are_for_those_who_ask_for_them() {
    let place = Place::new().await;
    place.setup(&words("read", &[])).await.exits(0);
    let ran = place.setup(&words("read", &["--screens"])).await.exits(0);
    ran.says("add to the role oxmox-read: VM.Console");
    assert!(role(&place, "oxmox-read").contains(&"VM.Console".to_owned()));
}

#[tokio::test]
async fn operate_changes_and_hands_out_nothing() {
    let place = Place::new().await;
    place.setup(&words("operate", &[])).await.exits(0);
    let held = role(&place, "oxmox-operate");
    for never in [
        "Permissions.Modify",
        "Sys.Modify",
        "VM.GuestAgent.Unrestricted",
        "Sys.Console",
        "User.Modify",
    ] {
        assert!(!held.contains(&never.to_owned()), "{held:?}");
    }
    let start = ["call", "start_proxmox_vm", "--vmid", "105", "--yes"];
    place.run(&start).await.exits(0);
    let all = Place::new().await;
    all.setup(&words("operate", &["--toolsets", "all"]))
        .await
        .exits(0)
        .says("it goes without User.Modify");
    let held = role(&all, "oxmox-operate");
    for never in ["Permissions.Modify", "User.Modify", "Realm.AllocateUser"] {
        assert!(!held.contains(&never.to_owned()), "{held:?}");
    }
}

#[tokio::test]
async fn before_version_9_the_role_has_that_versions_privileges() {
    let mut world = sim::worlds::homelab();
    world.version = "8.4.1".to_owned();
    let place = Place::with(world, crate::cli::Machine::new()).await;
    place.setup(&words("full", &[])).await.exits(0);
    let held = role(&place, "oxmox-full");
    assert!(held.contains(&"VM.Monitor".to_owned()), "{held:?}");
    assert!(
        !held.iter().any(|it| it.starts_with("VM.GuestAgent")),
        "{held:?}"
    );
    place.lists().await;
}

#[tokio::test]
async fn the_doctor_finds_nothing_lacking_in_a_full_role() {
    let place = Place::new().await;
    place.setup(&words("full", &[])).await.exits(0);
    let ran = place.run(&["doctor", "--json"]).await;
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap();
    let rights = findings.iter().find(|one| one["check"] == "privileges");
    let detail = &rights.unwrap()["detail"];
    assert_eq!(detail["cannot"], serde_json::json!([]), "{detail:#}");
    assert!(detail["allow"].is_null(), "{detail:#}");
}

#[tokio::test]
async fn pools_bound_what_it_sees() {
    let place = Place::new().await;
    let pool = place
        .sim
        .world(|world| world.pools.keys().next().unwrap().clone());
    let members = place.sim.world(|world| world.pools[&pool].guests.clone());
    let ran = place
        .setup(&words("operate", &["--pools", &pool]))
        .await
        .exits(0);
    ran.says("tools that need rights outside these pools will not work")
        .says("get_proxmox_node_status")
        .says("--storages NAMES");
    let rules = place.ours();
    assert!(
        rules.contains(&format!("oxmox-operate on /pool/{pool}")),
        "{rules:?}"
    );
    assert!(
        !rules.contains(&"oxmox-operate on /".to_owned()),
        "{rules:?}"
    );
    let ran = place
        .run(&[
            "call",
            "list_proxmox_resources",
            "--resource-type",
            "vm",
            "--json",
        ])
        .await;
    let seen = ran.exits(0).stdout;
    for vmid in members {
        assert!(seen.contains(&vmid.to_string()), "{vmid}: {seen}");
    }
    let outside = place.sim.world(|world| {
        let all = world.guests.keys();
        let inside = &world.pools[&pool].guests;
        all.copied().find(|vmid| !inside.contains(vmid)).unwrap()
    });
    assert!(!seen.contains(&format!("\"vmid\": {outside}")), "{seen}");
}

#[tokio::test]
async fn an_existing_role_holds_what_it_should_and_gets_back_what_it_held() {
    let place = Place::new().await;
    place.sim.world(|world| {
        let privs = ["VM.Audit", "VM.Migrate"].map(str::to_owned).into();
        let role = sim::world::access::Role {
            privs,
            special: false,
        };
        world.access.roles.insert("oxmox-read".to_owned(), role);
    });
    place
        .setup(&words("read", &[]))
        .await
        .exits(0)
        .says("take from the role oxmox-read: VM.Migrate");
    let held = role(&place, "oxmox-read");
    assert!(!held.contains(&"VM.Migrate".to_owned()) && held.contains(&"Sys.Audit".to_owned()));
    place.undo().await.exits(0);
    assert_eq!(role(&place, "oxmox-read"), ["VM.Audit", "VM.Migrate"]);
}

#[tokio::test]
async fn a_lower_level_takes_the_higher_one_from_the_token() {
    let place = Place::new().await;
    place.setup(&words("operate", &[])).await.exits(0);
    let ran = place.setup(&words("read", &[])).await.exits(0);
    ran.says("take the role oxmox-operate on / from oxmox@pve!");
    let start = ["call", "start_proxmox_vm", "--vmid", "105", "--yes"];
    place.run(&start).await.exits(1).says("VM.PowerMgmt");
    place.lists().await;
    place.undo().await.exits(0);
    assert_eq!(place.ours(), [""; 0]);
}

/// A token without privilege separation has whatever its user has: what setup gives that user for its own token, too.
#[tokio::test]
async fn a_token_that_will_gain_is_named_before_the_yes() {
    let place = Place::new().await;
    let words = [
        "--level=full",
        "--name=home",
        "--secret-store=file",
        "--yes",
    ];
    let shown = [&words[..], &["--dry-run"]].concat();
    let ran = place.setup(&shown).await.exits(0);
    assert!(!ran.stdout.contains("WARNING"), "{}", ran.stdout);
    place
        .sim
        .world(|world| world.add_token("oxmox@pve!mine", "x"));
    let ran = place.setup(&shown).await.exits(0);
    ran.prints("WARNING: oxmox@pve!mine will have the role oxmox-full on /")
        .prints("--privsep 1");
    place.setup(&words).await.exits(0).says("oxmox@pve!mine");
    // It has it by now, and gains nothing more.
    let ran = place.setup(&words).await.exits(0);
    assert!(!ran.stderr.contains("WARNING"), "{}", ran.stderr);
    // One that is held apart gains nothing.
    let place = Place::new().await;
    place.sim.world(|world| {
        world.add_token("oxmox@pve!mine", "x");
        let user = world.access.users.get_mut("oxmox@pve").unwrap();
        user.tokens.get_mut("mine").unwrap().privsep = true;
    });
    let ran = place.setup(&shown).await.exits(0);
    assert!(!ran.stdout.contains("WARNING"), "{}", ran.stdout);
}
