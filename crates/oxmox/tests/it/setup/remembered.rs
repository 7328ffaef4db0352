//! A token is known again by more than its name, which is free once the token is gone.

use std::sync::Arc;

use sim::world::access::Subject;

use super::exactly::{setup, undo};
use super::rerun::tokens;
use super::{Place, READ_HOME};
use crate::cli::Machine;

/// A run that replaces the token of home, and cannot remove the old one. Answers the name of that.
async fn replaced(place: &Place) -> String {
    setup(place, "home", &[]).await;
    let old = tokens(place).remove(0);
    place.sim.world(|world| {
        let user = world.access.users.get_mut("oxmox@pve").unwrap();
        let token = user.tokens.get_mut(&old).unwrap();
        "another".clone_into(&mut token.secret);
    });
    let stuck = sim::Fault::refuse(500, "got no lock");
    place.sim.fault(stuck.on("DELETE", "/access/users/*"));
    let ran = place.setup(READ_HOME).await.exits(1);
    ran.says("and this is left to do: remove the token");
    place.sim.clear_faults();
    old
}

/// Somebody removes it by hand.
fn remove(place: &Place, token: &str) {
    let id = format!("oxmox@pve!{token}");
    place.sim.world(|world| {
        let user = world.access.users.get_mut("oxmox@pve").unwrap();
        user.tokens.remove(token).unwrap();
        let is_its = |whom: &Subject| matches!(whom, Subject::Token(of) if *of == id);
        world.access.acl.retain(|rule| !is_its(&rule.subject));
    });
}

#[tokio::test]
async fn a_token_that_is_gone_is_forgotten_and_its_name_is_anybodys() {
    let place = Place::new().await;
    let old = replaced(&place).await;
    remove(&place, &old);
    let names_it = || {
        let journal = place.text("state/setup/home.json");
        journal.contains(&format!("\"name\": \"{old}\"")) || journal.contains(&format!("!{old}\""))
    };
    // The secret of the old one goes; then there is nothing to do.
    setup(&place, "home", &[]).await;
    assert!(!names_it());
    setup(&place, "other", &[]).await;
    assert!(tokens(&place).contains(&old));
    setup(&place, "home", &["--screens"]).await;
    place.run(&["secret", "test", "other"]).await.exits(0);
    undo(&place, "home").await;
    place.run(&["secret", "test", "other"]).await.exits(0);
}

/// It is forgotten where nothing else is to be done, too.
#[tokio::test]
async fn a_token_that_is_gone_is_forgotten_though_there_is_nothing_to_do() {
    const JOURNAL: &str = "state/setup/home.json";
    let place = Place::new().await;
    setup(&place, "home", &[]).await;
    let journal = place.text(JOURNAL);
    let gone = "{\"token\": {\"user\": \"oxmox@pve\", \"name\": \"gone\"}}";
    let made = format!("\"made\": [{gone},");
    place.write(JOURNAL, &journal.replace("\"made\": [", &made));
    assert_ne!(place.text(JOURNAL), journal);
    let dry = [READ_HOME, &["--dry-run"]].concat();
    place.setup(&dry).await.exits(0);
    assert_ne!(place.text(JOURNAL), journal);
    place.setup(READ_HOME).await.exits(0).says("nothing to do");
    assert_eq!(place.text(JOURNAL), journal);
}

#[tokio::test]
async fn a_token_of_that_name_that_another_machine_has_made_since() {
    for is_set_up_again in [false, true] {
        let mut place = Place::new().await;
        let old = replaced(&place).await;
        remove(&place, &old);
        let first = std::mem::replace(&mut place.machine, Arc::new(Machine::new()));
        setup(&place, "home", &[]).await;
        assert!(tokens(&place).contains(&old));
        let second = std::mem::replace(&mut place.machine, first);
        if is_set_up_again {
            setup(&place, "home", &[]).await;
            undo(&place, "home").await;
        } else {
            let ran = undo(&place, "home").await;
            ran.says(&format!(
                "stays: the token oxmox@pve!{old}: another oxmox has made it since"
            ));
        }
        assert_eq!(tokens(&place), [old], "{is_set_up_again}");
        place.machine = second;
        place.lists().await;
    }
}

/// Nobody can tell which it is: a person can.
#[tokio::test]
async fn a_token_that_is_not_certainly_the_one_is_left_to_a_person() {
    let place = Place::new().await;
    let old = replaced(&place).await;
    place.sim.world(|world| {
        let user = world.access.users.get_mut("oxmox@pve").unwrap();
        user.tokens.get_mut(&old).unwrap().comment = Some("for the backups".to_owned());
    });
    for _ in 0..2 {
        let ran = place.setup(READ_HOME).await.exits(0);
        ran.says("cannot tell whether it is that one")
            .says(&format!("`pveum user token remove oxmox@pve {old}`"));
        assert_eq!(tokens(&place).len(), 2);
    }
    place.lists().await;
}
