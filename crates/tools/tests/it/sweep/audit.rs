//! Every attempted change leaves exactly one opened and one closed entry; reads leave none.

use tools::policy::Mode;
use tools::spec::Risk;
use tools::store::Verified;

use crate::house::{House, Person};

async fn entries_of(house: &House, tool: &str, args: &str, talk: &Person) -> (usize, Vec<String>) {
    let (opened, closed) = house.audit().await;
    let _ = house.ask(tool, args, talk).await;
    let (now_opened, now_closed) = house.audit().await;
    (now_opened - opened, now_closed[closed.len()..].to_vec())
}

#[tokio::test]
async fn an_applied_change_leaves_two_entries() {
    for (tool, args) in super::changes() {
        let house = House::in_mode(Mode::Trusted).await;
        let entries = entries_of(&house, tool.spec().name, args, &Person::saying_yes()).await;
        assert_eq!(
            entries,
            (1, vec!["applied".to_owned()]),
            "{} {args}",
            tool.spec().name
        );
    }
}

#[tokio::test]
async fn a_declined_change_leaves_two_entries() {
    let house = House::new().await;
    for (tool, args) in super::changes() {
        if !super::asks(&house, tool, args).await {
            continue;
        }
        let entries = entries_of(&house, tool.spec().name, args, &Person::saying_no()).await;
        assert_eq!(
            entries,
            (1, vec!["not_applied".to_owned()]),
            "{} {args}",
            tool.spec().name
        );
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_refused_change_leaves_two_entries() {
    let house = House::in_mode(Mode::Trusted).await;
    for tool in
        tools::registry::all().filter(|tool| tool.spec().risk > Risk::Read && !tool.relays())
    {
        let unknown_guest = entries_of(
            &house,
            tool.spec().name,
            r#"{"vmid": 4711, "key": "ret"}"#,
            &Person::saying_yes(),
        )
        .await;
        assert_eq!(
            unknown_guest,
            (1, vec!["failed".to_owned()]),
            "{}",
            tool.spec().name
        );
        let nonsense = entries_of(
            &house,
            tool.spec().name,
            r#"{"nonsense": 1}"#,
            &Person::saying_yes(),
        )
        .await;
        assert_eq!(
            nonsense,
            (1, vec!["failed".to_owned()]),
            "{}",
            tool.spec().name
        );
    }
}

#[tokio::test]
async fn a_read_leaves_nothing_but_a_look_inside_a_guest_does() {
    let house = House::in_mode(Mode::Trusted).await;
    let mut looks = Vec::new();
    for (tool, args) in super::examples().filter(|(tool, _)| tool.spec().risk == Risk::Read) {
        house.call(tool.spec().name, args).await.unwrap();
        if tool.spec().special.looks_inside {
            looks.push("applied".to_owned());
        }
        assert_eq!(
            house.audit().await,
            (looks.len(), looks.clone()),
            "{}",
            tool.spec().name
        );
    }
    assert!(!looks.is_empty() || !super::all_of_them());
}

#[tokio::test]
async fn the_chain_verifies_after_all_of_it() {
    let house = House::in_mode(Mode::Trusted).await;
    house
        .call("start_proxmox_vm", r#"{"vmid": 105}"#)
        .await
        .unwrap();
    house
        .call("delete_proxmox_vm", r#"{"vmid": 101}"#)
        .await
        .unwrap_err();
    let Verified::Whole { entries, .. } = house
        .engine
        .store()
        .await
        .unwrap()
        .verify_audit(None)
        .await
        .unwrap()
    else {
        panic!("the chain is broken");
    };
    assert_eq!(entries, 4);
}
