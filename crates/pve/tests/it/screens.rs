//! Screens and keyboards of the simulator.

use std::time::Duration;

use pve::console::Key;
use pve::{GuestKind, GuestRef, NodeName};
use sim::Sim;

use crate::simulated::{homelab_as, root_token, vmid};

const LIMIT: Duration = Duration::from_secs(10);
const SHIFT: Key = Key {
    scan_code: 0x2a,
    symbol: 0xffe1,
};

fn vm() -> GuestRef {
    GuestRef {
        node: NodeName::new("pve1").unwrap(),
        kind: GuestKind::Qemu,
        vmid: vmid(100),
    }
}

/// Waits until these keys, and no others, are down.
async fn until_held(sim: &Sim, keys: &[&str]) {
    while sim.world(|world| world.guests[&100].display.keyboard.held() != keys) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn no_key_stays_down_when_the_connection_ends() {
    let (sim, _, writer) = homelab_as(root_token()).await;
    let mut keyboard = writer.keyboard(&vm(), LIMIT).await.unwrap();
    let keys = [SHIFT];
    tokio::select! {
        _ = keyboard.press(&keys, Duration::from_hours(1)) => panic!("it was held"),
        () = until_held(&sim, &["shift"]) => {}
    }
    drop(keyboard);
    until_held(&sim, &[]).await;
}

#[tokio::test]
async fn a_screen_that_changes_its_size_is_seen_whole() {
    let (sim, reader, _) = homelab_as(root_token()).await;
    let mut view = reader.watch_screen(&vm(), LIMIT).await.unwrap();
    let before = (view.screen().width(), view.screen().height());
    sim.world(|world| {
        let now = world.now;
        let guest = world.guests.get_mut(&100).unwrap();
        guest.config.set("vga", "virtio");
        guest.reset_display(now);
    });
    while (view.screen().width(), view.screen().height()) == before {
        view.change(LIMIT).await.unwrap();
    }
    let painted = view.screen().pixels().iter().any(|pixel| *pixel != [0; 3]);
    assert!(painted, "{:?} is black", view.screen());
}
