//! Callers who bring a token of PVE along: what they do is theirs, and what they do not reach is nobody else's loss.

use sim::Sim;
use tools::caller::Scope;
use tools::store::AuditEntry;

use crate::house::{House, Nobody, call, done};

const ALICE: (&str, &str, &str) = ("alice@pve", "own", "canary-of-alice");

fn know_alice(sim: &Sim) {
    sim.world(|world| {
        world.add_token("alice@pve!own", ALICE.2);
        let may = ["VM.Audit", "VM.PowerMgmt", "Sys.Audit"];
        world.grant("alice@pve", "/", &may);
    });
}

/// Whoever of them calls first after a start.
#[tokio::test]
async fn a_caller_who_reaches_one_cluster_takes_the_other_from_nobody() {
    let house = House::new().await;
    let branch = Sim::start(sim::worlds::fleet(20)).await.unwrap();
    let engine = house.with_cluster("branch", &branch);
    let theirs = house.on_behalf(&engine, ALICE);
    for scope in [Scope::Read, Scope::Operate, Scope::Full] {
        assert!(theirs.registry_for(scope).has_several_clusters());
        assert!(engine.registry_for(scope).has_several_clusters());
    }
}

#[tokio::test]
async fn the_trail_names_whom_pve_takes_them_for() {
    let house = House::new().await;
    know_alice(&house.sim);
    let theirs = house.on_behalf(&house.engine, ALICE);
    let calls = [
        (&theirs, r#"{"vmid": 105}"#, Some("alice@pve!own")),
        (&house.engine, r#"{"vmid": 203}"#, None),
        // Refused before there is a plan.
        (&theirs, r#"{"vmid": 99999}"#, Some("alice@pve!own")),
    ];
    for (engine, arguments, expected) in calls {
        let _ = done(
            engine
                .call(call("start_proxmox_vm", arguments), &Nobody)
                .await,
        );
        let store = house.engine.store().await.unwrap();
        let mut trail = store.audit_trail(2).await.unwrap();
        let AuditEntry::Opened { pve_identity, .. } = trail.remove(0).entry else {
            panic!("{trail:?}");
        };
        assert_eq!(pve_identity.as_deref(), expected, "{arguments}");
        assert!(!format!("{trail:?}").contains("canary"));
    }
}
