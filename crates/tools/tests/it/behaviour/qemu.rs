//! A real QEMU behind the simulator: its firmware's screen is read, and reacts to keys sent both ways.

use std::time::Duration;

use sim::Qemu;
use tools::policy::Mode;

use crate::house::House;

/// A machine without acceleration on a busy host takes a few seconds.
const PATIENCE: Duration = Duration::from_mins(1);

/// Looks until the screen shows this.
async fn wait_for(house: &House, words: &str) {
    let look = r#"{"vmid": 100, "wait_for_change": 1}"#;
    loop {
        let seen = house.call("capture_vm_screen", look).await.unwrap();
        if seen.text.contains(words) {
            return;
        }
    }
}

async fn operate(house: &House) {
    wait_for(house, "Press ESC for boot menu").await;
    // Through PVE's own request for a key.
    let escape = r#"{"vmid": 100, "key": "esc", "look": true}"#;
    let menu = house.call("send_vm_key", escape).await.unwrap();
    assert!(menu.text.contains("Select boot device:"), "{}", menu.text);
    assert!(menu.images[0].png.starts_with(b"\x89PNG"));
    // Through the VNC keyboard: the first device, of which there is nothing to boot.
    let first = r#"{"vmid": 100, "text": "1", "look": true}"#;
    let booting = house.call("type_vm_text", first).await.unwrap();
    assert!(
        booting.text.contains("QEMU has taken 1 stroke"),
        "{}",
        booting.text
    );
    wait_for(house, "Booting from").await;
}

#[tokio::test]
async fn a_real_machine_is_seen_and_operated() {
    let qemu = match Qemu::start().await {
        Ok(qemu) => qemu,
        Err(error) => {
            eprintln!("skipped: qemu-system-x86_64 does not start here: {error}");
            return;
        }
    };
    let house = House::in_mode(Mode::Trusted).await;
    let shown = house.sim.show_display(100, qemu.vnc, qemu.monitor).await;
    shown.unwrap();
    let done = tokio::time::timeout(PATIENCE, operate(&house)).await;
    done.expect("in time");
}
