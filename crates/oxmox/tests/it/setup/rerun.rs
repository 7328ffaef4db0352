//! Setup where something is there already: from an earlier run, another machine, or a person's own hand.

use sim::world::access::User;

use super::Place;

const READ: &[&str] = &[
    "--level=read",
    "--name=home",
    "--secret-store=file",
    "--yes",
];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [READ, more].concat()
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
