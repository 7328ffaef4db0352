//! Setup where something is there already: from an earlier run, another machine, or a person's own hand.

use sim::world::access::{Role, Rule, Subject, User};

use super::Place;

const READ: &[&str] = &[
    "--level=read",
    "--name=home",
    "--secret-store=file",
    "--yes",
];

fn read<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [READ, more].concat()
}

/// The names of oxmox's tokens on the cluster.
fn tokens(place: &Place) -> Vec<String> {
    place.sim.world(|world| {
        let user = world.access.users.get("oxmox@pve");
        user.map(|user| user.tokens.keys().cloned().collect())
            .unwrap_or_default()
    })
}

#[tokio::test]
async fn a_user_that_has_no_token_yet() {
    let place = Place::new().await;
    place.sim.world(|world| {
        let users = &mut world.access.users;
        users.insert("oxmox@pve".to_owned(), User::default());
    });
    let ran = place.setup(READ).await.exits(0);
    ran.says("stays as it is: the user oxmox@pve");
    place.lists().await;
}

#[tokio::test]
async fn a_row_that_cannot_be_read_is_not_taken_for_one_that_is_not_there() {
    let place = Place::new().await;
    let rows = serde_json::json!([{ "userid": ["oxmox@pve"] }]);
    place
        .sim
        .fault(sim::Fault::answer("GET", "/access/users", rows));
    let ran = place.setup(READ).await.exits(1);
    ran.says("GET /access/users").says("cannot be read");
    assert_eq!(place.ours(), [""; 0]);
}

#[tokio::test]
async fn a_run_without_screens_takes_them_back() {
    let place = Place::new().await;
    place.setup(&read(&["--screens"])).await.exits(0);
    let ran = place.setup(READ).await.exits(0);
    ran.says("take from the role oxmox-read: VM.Console");
    let held = place
        .sim
        .world(|world| world.access.roles["oxmox-read"].privs.clone());
    assert!(!held.contains("VM.Console"), "{held:?}");
    place.lists().await;
    place.undo().await.exits(0);
    assert_eq!(place.ours(), [""; 0]);
}

#[tokio::test]
async fn what_a_person_gave_the_token_stays() {
    let place = Place::new().await;
    place.setup(READ).await.exits(0);
    let token = format!("oxmox@pve!{}", tokens(&place)[0]);
    place.sim.world(|world| {
        let privs = ["VM.Snapshot".to_owned()].into();
        let role = Role {
            privs,
            special: false,
        };
        let name = "oxmox-more-vms".to_owned();
        world.access.roles.insert(name.clone(), role);
        world.access.acl.push(Rule {
            path: "/vms".to_owned(),
            subject: Subject::Token(token),
            role: name,
            propagate: true,
        });
    });
    let before = place.ours();
    place.setup(READ).await.exits(0).says("nothing to do");
    assert_eq!(place.ours(), before);
}
