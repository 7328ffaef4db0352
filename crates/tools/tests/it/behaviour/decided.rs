//! A person's word on a plan leaves a trace of its own, whether or not anybody comes back for the plan.

use tools::caller::{Bounds, Caller};
use tools::engine::Cancelled;
use tools::outcome::Status;
use tools::store::{AuditEntry, Verified};

use crate::house::{CALLER, House};

const DELETE: (&str, &str) = ("delete_proxmox_vm", r#"{"vmid": 105}"#);

/// What the trail tells, in short.
async fn trail(house: &House) -> Vec<String> {
    let store = house.engine.store().await.unwrap();
    let whole = store.verify_audit(None).await.unwrap();
    assert!(matches!(whole, Verified::Whole { .. }), "{whole:?}");
    let trail = store.audit_trail(100).await.unwrap();
    let in_short = |entry| match entry {
        AuditEntry::Opened { .. } => "opened".to_owned(),
        AuditEntry::Closed { result, .. } => result,
        AuditEntry::Decided {
            decision,
            decided_by,
            summary,
            digest,
            ..
        } => {
            assert!(summary.contains("Delete VM 105") && !digest.is_empty());
            format!("{decision} by {decided_by}")
        }
    };
    trail.into_iter().map(|link| in_short(link.entry)).collect()
}

#[tokio::test]
async fn a_yes_and_a_no_are_in_the_trail_though_nobody_comes_back() {
    for (approve, expected) in [(true, "approved by owner"), (false, "rejected by owner")] {
        let house = House::new().await;
        house.call(DELETE.0, DELETE.1).await.unwrap();
        let store = house.engine.store().await.unwrap();
        let waiting = store.waiting_plans(0).await.unwrap().remove(0);
        let owner = Caller::from("owner");
        let decide = || {
            let (id, digest) = (&waiting.id, &waiting.digest);
            house.engine.decide(id, digest, approve, &owner)
        };
        decide().await.unwrap();
        let so_far = ["opened", "needs_confirmation", expected];
        assert_eq!(trail(&house).await, so_far);
        // What came too late is no decision.
        let late = decide().await.unwrap_err();
        assert!(late.message.contains("already"), "{late}");
        assert_eq!(trail(&house).await, so_far);
    }
}

#[tokio::test]
async fn an_approved_plan_is_opened_and_closed_as_ever() {
    let house = House::new().await;
    let asked = house.call(DELETE.0, DELETE.1).await.unwrap();
    house.approve(asked.data["plan"].as_str().unwrap()).await;
    house.call(DELETE.0, DELETE.1).await.unwrap();
    let expected = [
        "opened",
        "needs_confirmation",
        "approved by person",
        "opened",
        "applied",
    ];
    assert_eq!(trail(&house).await, expected);
}

/// Between the yes and the first step there is a last look at the cluster. Whoever follows the plan meanwhile is never told
/// that it came to nothing.
#[tokio::test]
async fn whoever_follows_a_plan_sees_it_wait_run_and_end() {
    let house = House::new().await;
    let asked = house.call(DELETE.0, DELETE.1).await.unwrap();
    let plan = asked.data["plan"].as_str().unwrap();
    house.approve(plan).await;
    let applied = house.call(DELETE.0, DELETE.1);
    let followed = async {
        let mut seen = Vec::new();
        loop {
            let handle = house.engine.handle(plan).await.unwrap();
            if seen.last() != Some(&handle.outcome.status) {
                seen.push(handle.outcome.status);
            }
            if handle.ended {
                return seen;
            }
            tokio::task::yield_now().await;
        }
    };
    let (applied, seen) = tokio::join!(applied, followed);
    assert_eq!(applied.unwrap().data["status"], "applied");
    let whole = [Status::NeedsConfirmation, Status::Running, Status::Applied];
    let mut order = whole.iter();
    assert!(
        seen.iter().all(|status| order.any(|it| it == status)),
        "{seen:?}"
    );
    assert_eq!(seen.last(), Some(&Status::Applied));
}

#[tokio::test]
async fn a_plan_that_its_caller_ended_is_never_begun() {
    let house = House::new().await;
    let asked = house.call(DELETE.0, DELETE.1).await.unwrap();
    let plan = asked.data["plan"].as_str().unwrap();
    house.approve(plan).await;
    let ended = house.engine.cancel(plan, CALLER).await.unwrap();
    assert_eq!(ended, Cancelled::Stopped);
    let again = house.call(DELETE.0, DELETE.1).await.unwrap();
    assert_eq!(again.data["status"], "needs_confirmation", "{}", again.text);
    assert_ne!(again.data["plan"], plan);
    assert!(house.writes().is_empty());
}

/// Where somebody decides, and what they see there: what waits on the clusters that are theirs.
#[tokio::test]
async fn an_inbox_shows_what_waits_where_its_reader_reaches() {
    let house = House::new().await;
    house.engine.serves_page_at("https://oxmox.example/");
    let asked = house.call(DELETE.0, DELETE.1).await.unwrap();
    let page = "decides at https://oxmox.example/#/inbox/";
    assert!(asked.text.contains(page), "{}", asked.text);
    let person = |clusters: &[&str]| Caller {
        name: "anna".to_owned(),
        bounds: Bounds {
            clusters: clusters.iter().map(|&it| it.to_owned()).collect(),
            ..Bounds::default()
        },
    };
    for everywhere in [&[][..], &["homelab"][..]] {
        let inbox = house.engine.inbox(&person(everywhere)).await.unwrap();
        let [waiting] = inbox.as_slice() else {
            panic!("{inbox:?}");
        };
        let shown = &waiting.preview["summary"];
        assert!(shown.as_str().unwrap().contains("Delete VM 105"), "{shown}");
        assert!(waiting.refusal.is_none(), "{waiting:?}");
    }
    let elsewhere = house.engine.inbox(&person(&["elsewhere"])).await.unwrap();
    assert!(elsewhere.is_empty(), "{elsewhere:?}");
}
