//! What a plan tells of itself, and small plans for the tests of what deals with them.

use serde_json::json;

use super::*;

pub(crate) fn at(vmid: &str) -> GuestRef {
    GuestRef {
        vmid: vmid.parse().unwrap(),
        node: "pve1".parse().unwrap(),
        kind: pve::GuestKind::Qemu,
    }
}

pub(crate) fn guard(vmid: &str) -> Guard {
    let config: pve::GuestConfig = serde_json::from_value(json!({"name": vmid})).unwrap();
    Guard::SameGuest {
        at: at(vmid),
        identity: pve::Identity::of(pve::GuestKind::Qemu, &config),
        name: vmid.to_owned(),
        config: Fingerprints::of(&config),
    }
}

pub(crate) fn target(vmid: &str) -> Target {
    Target {
        at: at(vmid),
        name: String::new(),
        pool: None,
        tags: Vec::new(),
        protection: false,
        only_read: false,
    }
}

pub(crate) fn post(path: impl Into<String>) -> Step {
    Step::request("", Request::post(path.into()))
}

pub(crate) fn stop(vmid: &str) -> Step {
    post(at(vmid).path("status/stop"))
}

pub(crate) fn plan(targets: &[&str], steps: Vec<Step>) -> Plan {
    let any = crate::registry::all().next().unwrap();
    Plan {
        steps,
        targets: targets.iter().map(|vmid| target(vmid)).collect(),
        guards: targets.iter().map(|vmid| guard(vmid)).collect(),
        ..Plan::new(any.spec(), "homelab", "")
    }
}

/// Of two guests each is looked at again, before the first step that is its own.
#[test]
fn each_of_several_guests_is_guarded_at_its_first_step() {
    let two = plan(
        &["100", "101"],
        vec![
            stop("100"),
            post("/cluster/backup"),
            stop("101"),
            stop("100"),
        ],
    );
    let guarded = |index| {
        let guard = two.guard_of_one_among_many(index)?;
        guard.guest().map(|at| at.vmid.get())
    };
    assert_eq!(
        [0, 1, 2, 3, 4].map(guarded),
        [Some(100), None, Some(101), None, None]
    );
    let one = plan(&["100"], vec![stop("100")]);
    assert!(one.guard_of_one_among_many(0).is_none());
}

#[test]
fn a_node_is_acted_on_by_itself_where_no_guest_is_meant() {
    let nodes = |plan: Plan| plan.nodes().into_iter().collect::<Vec<_>>().join(" ");
    assert_eq!(nodes(plan(&["100"], vec![stop("100")])), "");
    assert_eq!(nodes(plan(&[], vec![stop("100")])), "pve1");
    assert_eq!(
        nodes(plan(&["100"], vec![post("/nodes/pve2/status")])),
        "pve2"
    );
    assert_eq!(nodes(plan(&["100"], vec![post("/nodes/pve2/vzdump")])), "");
    assert_eq!(nodes(plan(&["100"], vec![post("/nodes/pve2")])), "pve2");
    assert_eq!(nodes(plan(&[], vec![post("/cluster/backup")])), "");
}

#[test]
fn a_plan_is_about_guests_alone_where_all_that_is_sent_is() {
    let alone = |targets: &[&str], steps| plan(targets, steps).is_about_guests_alone();
    assert!(alone(&["100"], vec![stop("100")]));
    assert!(!alone(&[], vec![]));
    assert!(!alone(&[], vec![stop("100")]));
    assert!(!alone(&["100"], vec![stop("100"), post("/cluster/backup")]));
    assert!(!alone(&["100"], vec![post("/nodes/pve1/status")]));
}
