//! What a machine writes while it boots.

use std::time::Duration;

use super::screen::Mode;
use crate::world::config::property;
use crate::world::guest::Guest;
use crate::world::shell::KERNEL;

/// One step of a boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// When it happens, from the start on.
    pub(super) after: Duration,
    /// The mode that the screen changes to, which empties it.
    pub(super) mode: Option<Mode>,
    /// What is written.
    pub(super) text: String,
}

/// The system that is installed in every machine that has one.
pub(super) const SYSTEM: &str = "Debian GNU/Linux 13";

fn step(seconds: u64, mode: Option<Mode>, text: impl Into<String>) -> Step {
    Step {
        after: Duration::from_secs(seconds),
        mode,
        text: text.into(),
    }
}

/// The steps until the machine asks for a login, or finds nothing to boot.
pub(super) fn steps(guest: &Guest) -> Vec<Step> {
    let smbios = guest.config.get("smbios1").unwrap_or_default();
    let uuid = property(smbios, "uuid").map(|uuid| format!("Machine UUID {uuid}\n"));
    let firmware = format!(
        "SeaBIOS (version rel-1.16.3-0-ga6ed6b701f0a-prebuilt.qemu.org)\n{}\n\n",
        uuid.unwrap_or_default()
    );
    let mut steps = vec![step(0, Some(Mode::TEXT), firmware)];
    if !guest.inside.os {
        let nothing =
            "Booting from Hard Disk...\nBoot failed: not a bootable disk\n\nNo bootable device.\n";
        steps.push(step(1, None, nothing));
        return steps;
    }
    if is_windows(guest) {
        let locked = "Windows\n\nPress Ctrl+Alt+Delete to unlock.\n";
        steps.push(step(1, None, "Booting from Hard Disk...\n"));
        steps.push(step(3, Some(Mode::GRAPHIC), locked));
        return steps;
    }
    steps.push(step(
        1,
        None,
        "Booting from Hard Disk...\nGRUB loading.\nWelcome to GRUB!\n\n",
    ));
    steps.push(step(2, Some(Mode::TEXT), kernel()));
    steps.push(step(3, Some(final_mode(guest)), ""));
    steps
}

/// Whether another system is inside, of which no more than a locked screen is shown.
pub(super) fn is_windows(guest: &Guest) -> bool {
    let kind = guest.config.get("ostype");
    kind.is_some_and(|kind| kind.starts_with('w'))
}

/// A kernel with a driver for the display leaves VGA's text mode.
fn final_mode(guest: &Guest) -> Mode {
    let display = guest.config.get("vga").unwrap_or_default();
    let display = display.trim_start_matches("type=");
    if display.starts_with("virtio") {
        Mode::GRAPHIC
    } else {
        Mode::TEXT
    }
}

fn kernel() -> String {
    let lines = [
        format!("[    0.000000] Linux version {KERNEL} (debian-kernel@lists.debian.org)"),
        "[    0.000000] Hypervisor detected: KVM".to_owned(),
        "[    0.412886] Run /init as init process".to_owned(),
        "[    0.935104] EXT4-fs (sda1): mounted filesystem with ordered data mode.".to_owned(),
        "[    1.102377] systemd[1]: Detected virtualization kvm.".to_owned(),
        "[    1.104210] systemd[1]: Reached target multi-user.target.".to_owned(),
    ];
    lines.join("\n") + "\n"
}
