//! A role on a path takes the place of those from above, in PVE: what the user and its other tokens had stays theirs.

use std::sync::Arc;

use sim::call::Identity;
use sim::world::access::{Rule, Subject};

use super::Place;
use crate::cli::Machine;

const STORAGE: &str = "/storage/local-lvm";

fn words<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["--name=home", "--secret-store=file", "--yes"], more].concat()
}

/// What the token of the first machine may do there.
fn held(place: &Place, token: &str, path: &str) -> Vec<String> {
    place.sim.world(|world| {
        let held = world.privileges(&Identity::parse(token), path);
        held.into_keys().collect()
    })
}

fn tokens(place: &Place) -> Vec<String> {
    place.sim.world(|world| {
        let user = &world.access.users["oxmox@pve"];
        let names = user.tokens.keys();
        names.map(|name| format!("oxmox@pve!{name}")).collect()
    })
}

fn give(place: &Place, subject: Subject, path: &str, role: &str) {
    place.sim.world(|world| {
        world.access.acl.push(Rule {
            path: path.to_owned(),
            subject,
            role: role.to_owned(),
            propagate: true,
        });
    });
}

#[tokio::test]
async fn another_machines_token_keeps_what_it_has() {
    let mut place = Place::new().await;
    place.setup(&words(&["--level=operate"])).await.exits(0);
    let first = tokens(&place).remove(0);
    let pool = place
        .sim
        .world(|world| world.pools.keys().next().unwrap().clone());
    let everywhere = [
        STORAGE.to_owned(),
        format!("/pool/{pool}"),
        "/vms".to_owned(),
    ];
    let all = |place: &Place| everywhere.clone().map(|path| held(place, &first, &path));
    let before = all(&place);
    let is_more = |held: &[String]| held.contains(&"Datastore.AllocateSpace".to_owned());
    assert!(is_more(&before[0]), "{before:?}");

    place.machine = Arc::new(Machine::new());
    let bounded = ["--level=read", "--pools", &pool, "--storages=local-lvm"];
    let shown = [&bounded[..], &["--dry-run"]].concat();
    let says = format!(
        "give the role oxmox-operate on {STORAGE} to oxmox@pve, which has it there from above"
    );
    place.setup(&words(&shown)).await.exits(0).prints(&says);
    place.setup(&words(&bounded)).await.exits(0).says(&says);
    assert_eq!(all(&place), before);
    let second = tokens(&place).into_iter().find(|id| *id != first).unwrap();
    assert!(
        !is_more(&held(&place, &second, STORAGE)),
        "no more than asked"
    );
    let ran = place.setup(&words(&bounded)).await.exits(0);
    ran.says("nothing to do");

    place.undo().await.exits(0);
    assert_eq!(all(&place), before);
    let rules = place.sim.world(|world| world.access.acl.clone());
    assert!(rules.iter().all(|rule| rule.path != STORAGE), "{rules:?}");
}

#[tokio::test]
async fn what_is_kept_for_another_stays_as_long_as_the_role_that_hides_it() {
    let mut place = Place::new().await;
    place.setup(&words(&["--level=operate"])).await.exits(0);
    let first = tokens(&place).remove(0);
    let before = held(&place, &first, STORAGE);
    let pool = place
        .sim
        .world(|world| world.pools.keys().next().unwrap().clone());
    let bounded = ["--level=read", "--pools", &pool, "--storages=local-lvm"];
    place.machine = Arc::new(Machine::new());
    place.setup(&words(&bounded)).await.exits(0);
    let second = std::mem::replace(&mut place.machine, Arc::new(Machine::new()));
    place.setup(&words(&bounded)).await.exits(0);
    // The third one's token lives on what the second one gave the user.
    place.machine = second;
    place.undo().await.exits(0).says("stays");
    assert_eq!(held(&place, &first, STORAGE), before);
}

#[tokio::test]
async fn what_a_person_gave_the_token_above_stays_with_it() {
    let place = Place::new().await;
    place.setup(&words(&["--level=read"])).await.exits(0);
    let token = tokens(&place).remove(0);
    let user = Subject::User("oxmox@pve".to_owned());
    give(&place, user, "/", "PVEDatastoreUser");
    give(
        &place,
        Subject::Token(token.clone()),
        "/storage",
        "PVEDatastoreUser",
    );
    let pool = place
        .sim
        .world(|world| world.pools.keys().next().unwrap().clone());
    let before = held(&place, &token, STORAGE);
    let bounded = ["--level=read", "--pools", &pool, "--storages=local-lvm"];
    place.setup(&words(&bounded)).await.exits(0);
    let after = held(&place, &token, STORAGE);
    for privilege in &before {
        assert!(
            after.contains(privilege),
            "{privilege} of {before:?}: {after:?}"
        );
    }
}

#[tokio::test]
async fn a_role_beside_which_no_other_counts_is_found_first() {
    let place = Place::new().await;
    place.sim.world(|world| {
        let users = &mut world.access.users;
        users.insert("oxmox@pve".to_owned(), sim::world::access::User::default());
    });
    let user = Subject::User("oxmox@pve".to_owned());
    give(&place, user, "/", "NoAccess");
    let ran = place.setup(&words(&["--level=read"])).await.exits(1);
    ran.says("oxmox@pve has the role NoAccess on /")
        .says("pveum acl delete / --roles NoAccess --users 'oxmox@pve'");
    assert_eq!(
        (place.ours(), place.files()),
        (vec!["user".to_owned()], vec![])
    );
}

#[tokio::test]
async fn rules_below_that_take_its_place_are_told_before() {
    let place = Place::new().await;
    place.sim.world(|world| {
        let users = &mut world.access.users;
        users.insert("oxmox@pve".to_owned(), sim::world::access::User::default());
    });
    let user = Subject::User("oxmox@pve".to_owned());
    give(&place, user, "/vms/105", "PVEAuditor");
    let ran = place.setup(&words(&["--level=operate", "--dry-run"])).await;
    ran.exits(0)
        .prints("note: on /vms/105 other roles of oxmox@pve take the place of oxmox-operate");
}
