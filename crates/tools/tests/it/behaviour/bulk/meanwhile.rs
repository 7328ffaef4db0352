//! A guest changes while others of the same plan are at work.

use std::time::Duration;

use futures_util::future::BoxFuture;
use sim::{Clock, Fault as Answer};
use tokio::sync::Notify;
use tools::engine::{Asked, Progress, Question, Talk};
use tools::fault::{Fault, Kind};
use tools::policy::Mode;
use tools::tool::Rendered;

use super::{crowd, running, states};
use crate::house::House;

/// Tells when the first step goes.
#[derive(Default)]
struct Watcher(Notify);

impl Talk for Watcher {
    fn progress(&self, _: Progress) {
        self.0.notify_one();
    }

    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Asked> {
        unreachable!("a trusted start asks nobody")
    }
}

/// Starts six guests, of which four go side by side, and does something to one of the rest while those are at work.
async fn meanwhile(act: impl FnOnce(&House)) -> (House, Fault) {
    let furnish = crate::house::Furnish {
        clock: Clock::Manual,
        ..crowd(6, Mode::Trusted)
    };
    let house = House::furnished(furnish).await;
    let watcher = Watcher::default();
    let time_passes = async {
        watcher.0.notified().await;
        act(&house);
        loop {
            house.sim.advance(Duration::from_secs(1));
            tokio::task::yield_now().await;
        }
    };
    let args = r#"{"filter": "tag:crowd"}"#;
    let answer = tokio::select! {
        answer = house.ask("start_proxmox_vm", args, &watcher) => answer,
        () = time_passes => unreachable!(),
    };
    (house, answer.unwrap_err())
}

fn state_of(fault: Fault, vmid: u32) -> String {
    let outcome = Rendered::of(&*fault.outcome.unwrap()).unwrap();
    let named = format!("Start VM {vmid} (crowd{vmid})");
    let found = states(&outcome)
        .into_iter()
        .find(|(step, _)| *step == named);
    found.unwrap().1
}

#[tokio::test]
async fn a_guest_that_was_replaced_is_not_started() {
    let (house, fault) = meanwhile(|house| house.set(1006, "smbios1", "uuid=other")).await;
    assert_eq!(fault.kind, Kind::Failed);
    assert!(
        fault
            .message
            .contains("the vmid 1006 now belongs to another guest"),
        "{fault}"
    );
    assert!((1001..=1005).all(|vmid| running(&house, vmid)));
    assert!(!running(&house, 1006), "it was not sent");
    // The undo of the plan would stop it, too.
    let hint = fault.hint.as_deref().unwrap_or_default();
    assert!(hint.contains("leave the guest that has the id now alone"));
    assert!(!hint.contains("1006"), "{fault}");
    assert_eq!(state_of(fault, 1006), "failed");
}

#[tokio::test]
async fn a_guest_that_was_changed_is_not_started() {
    let (house, fault) = meanwhile(|house| house.set(1005, "memory", "65536")).await;
    assert!(
        fault
            .message
            .contains("changed since it was planned: memory; it was not sent"),
        "{fault}"
    );
    assert!(running(&house, 1006) && !running(&house, 1005));
}

#[tokio::test]
async fn a_guest_that_cannot_be_looked_at_is_not_started() {
    let (house, fault) = meanwhile(|house| {
        let refused = Answer::refuse(500, "got timeout").on("GET", "/nodes/*/qemu/1006/config");
        house.sim.fault(refused);
    })
    .await;
    let unsent = fault.message.lines().find(|line| line.contains("1006"));
    let unsent = unsent.unwrap_or_default();
    assert!(unsent.contains("got timeout"), "{fault}");
    assert!(unsent.ends_with("; it was not sent"), "{fault}");
    assert!(!running(&house, 1006));
}

#[tokio::test]
async fn a_guest_that_moved_away_is_not_started_where_it_was() {
    let (_, fault) = meanwhile(|house| {
        house
            .sim
            .world(|world| world.guests.get_mut(&1006).unwrap().node = "pve2".to_owned());
    })
    .await;
    assert!(
        fault
            .message
            .contains("VM 1006 (crowd1006) is not on node pve1 any more; it was not sent"),
        "{fault}"
    );
}
