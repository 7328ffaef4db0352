//! Pages: nothing twice, nothing lost.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use tools::context::{Cluster, Context};
use tools::registry;
use tools::tool::{Ran, Rendered};

use super::{LIST, values};
use crate::house::House;

#[tokio::test]
async fn pages_stay_right_while_guests_come_and_go() {
    const NEW: u32 = 150;
    let house = House::new().await;
    for sort in [json!(null), json!("name"), json!("-size")] {
        let args = json!({"limit": 7, "sort": sort});
        let whole: BTreeSet<_> = house.paged(args.clone(), "id").await.into_iter().collect();
        assert_eq!(whole.len(), 26, "{sort}");
        let first = house.list(&args).await;
        let seen = values(&first, "id");
        let gone = seen[0].parse::<u32>().unwrap();
        let guest = house.sim.world(|world| {
            let guest = world.guests.remove(&gone).unwrap();
            let mut new = guest.clone();
            new.vmid = NEW;
            world.guests.insert(NEW, new);
            guest
        });
        let mut rest = args.clone();
        rest["cursor"] = first.data["next_cursor"].clone();
        let after = house.paged(rest, "id").await;
        let mut all: BTreeSet<_> = seen.iter().chain(&after).cloned().collect();
        assert_eq!(
            all.len(),
            seen.len() + after.len(),
            "{sort}: a row came twice"
        );
        all.remove(&NEW.to_string());
        assert_eq!(all, whole, "{sort}: a row was lost");
        house.sim.world(|world| {
            world.guests.insert(gone, guest);
            world.guests.remove(&NEW);
        });
    }
}

#[tokio::test]
async fn a_page_of_moving_figures_says_so() {
    let house = House::new().await;
    let first = house.list(&json!({"sort": "-cpu", "limit": 5})).await;
    let args = json!({"sort": "-cpu", "limit": 5, "cursor": first.data["next_cursor"]});
    let second = house.list(&args).await;
    assert!(
        second.text.contains("changes from moment to moment"),
        "{}",
        second.text
    );
}

/// Two clusters that look the same, as a tool sees them.
fn two_clusters(one: &House, other: &House) -> Context {
    let mut context = one.context();
    let reader = other.context().clusters[0].pve.clone();
    context
        .clusters
        .push(Arc::new(Cluster::new("second", reader)));
    context
}

async fn list_of(context: &Context, args: &Value) -> Rendered {
    let tool = registry::all()
        .find(|tool| tool.spec().name == LIST)
        .unwrap();
    match tool.run(args.as_object().unwrap().clone(), context).await {
        Ok(Ran::Answer(answer)) => answer,
        Ok(Ran::Plan(_)) => panic!("a list that changes something"),
        Err(fault) => panic!("{args}: {fault}"),
    }
}

#[tokio::test]
async fn several_clusters_are_one_list() {
    let (one, other) = (House::new().await, House::new().await);
    let context = two_clusters(&one, &other);
    for args in [
        json!({"limit": 9}),
        json!({"limit": 9, "sort": "-size"}),
        json!({"resource_type": "backup", "limit": 3}),
        json!({"resource_type": "snapshot", "limit": 3}),
        json!({"resource_type": "template", "limit": 4}),
    ] {
        let (mut seen, mut next) = (Vec::new(), args.clone());
        loop {
            let page = list_of(&context, &next).await;
            let of = |field| values(&page, field);
            let places = of("cluster").into_iter().zip(of("id")).zip(of("node"));
            seen.extend(places.zip(of("vmid")));
            match page.data.get("next_cursor") {
                Some(cursor) => next["cursor"] = cursor.clone(),
                None => break,
            }
        }
        let whole = list_of(
            &context,
            &json!({"resource_type": args["resource_type"], "limit": 500}),
        )
        .await;
        assert_eq!(seen.len(), values(&whole, "id").len(), "{args}");
        assert_eq!(
            seen.iter().collect::<BTreeSet<_>>().len(),
            seen.len(),
            "{args}: a row came twice"
        );
        assert_eq!(
            seen.iter()
                .filter(|(((cluster, _), _), _)| cluster == "second")
                .count()
                * 2,
            seen.len(),
            "{args}"
        );
    }
}

#[tokio::test]
async fn a_cluster_that_does_not_answer_is_a_note() {
    let (one, other) = (House::new().await, House::new().await);
    let context = two_clusters(&one, &other);
    other
        .sim
        .fault(sim::Fault::refuse(500, "out of order").on("GET", "*/cluster/resources"));
    let answer = list_of(&context, &json!({})).await;
    assert_eq!(answer.data["total"], 26);
    assert!(
        answer.text.contains("cluster second is left out: ")
            && answer.text.contains("out of order"),
        "{}",
        answer.text
    );
}
