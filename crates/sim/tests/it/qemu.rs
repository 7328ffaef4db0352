//! A real QEMU behind the simulator: its firmware's screen, seen and operated through a console.

use std::time::Duration;

use sim::{Qemu, Sim, worlds};

use crate::client::Client;
use crate::rfb::Rfb;

const MACHINE: &str = "/nodes/pve1/qemu/100";
/// A machine without acceleration on a busy host takes a few seconds.
const PATIENCE: Duration = Duration::from_mins(1);

#[tokio::test]
async fn the_firmware_of_a_real_machine_is_seen_and_operated() {
    let Ok(qemu) = Qemu::start().await else {
        eprintln!("skipped: there is no qemu-system-x86_64 here");
        return;
    };
    let sim = Sim::start(worlds::recorded()).await.expect("a simulator");
    sim.world(|world| {
        let now = world.now;
        let machine = world.guests.get_mut(&100).expect("the machine");
        machine.start(now, 4711);
    });
    let shown = sim.show_display(100, qemu.vnc, qemu.monitor).await;
    shown.expect("a monitor");

    let seen = tokio::time::timeout(PATIENCE, operate(&sim)).await;
    seen.expect("in time");
}

/// Opens the firmware's boot menu, and chooses from it.
async fn operate(sim: &Sim) {
    let mut rfb = Rfb::connect(sim, MACHINE).await;
    rfb.encodings(&[0, -223]).await;
    rfb.look().await;
    rfb.wait_for("Press ESC for boot menu").await;
    let put = format!("/api2/json{MACHINE}/sendkey");
    let sent = Client::root(sim).send("PUT", &put, "key=esc").await;
    assert_eq!(sent.expect("an answer").status, 200);
    rfb.wait_for("Select boot device:").await;
    // A key of the client's own: the first device, of which there is nothing to boot.
    rfb.key(u32::from('1')).await;
    rfb.wait_for("Booting from").await;
}
