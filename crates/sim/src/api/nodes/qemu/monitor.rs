//! `monitor`: a command for QEMU, answered in QEMU's words.

use serde_json::json;

use crate::call::Call;
use crate::clock::Time;
use crate::error::{ApiError, Reply};
use crate::permission::{Perm, require};
use crate::route::{Route, post};
use crate::schema::common::{NODE, VMID};
use crate::schema::text;
use crate::world::guest::Guest;
use crate::world::guest::Kind::Qemu;
use crate::world::guest::Power;
use crate::world::{World, keys};

/// The route of the monitor.
pub const ROUTES: &[Route] = &[post("/nodes/{node}/qemu/{vmid}/monitor", run)
    .allow(Perm::AnyOn("/vms/{vmid}", &["Sys.Audit", "Sys.Modify"]))
    .proxied()
    .params(&[NODE, VMID, text("command")])];

/// Commands that need no further privilege.
const FREE: &str = "? help info";
/// Commands that need `Sys.Modify` on `/`.
const MODIFY: &str = "announce_self backup_cancel balloon block_job_cancel block_job_complete block_job_pause \
    block_job_resume block_job_set_speed block_resize block_set_io_throttle boot_set c calc_dirty_rate \
    cancel_vcpu_dirty_limit chardev-send-break closefd commit cont cpu delvm eject exit_preconfig \
    expire_password getfd gpa2hpa gpa2hva gva2gpa i loadvm log migrate_cancel migrate_continue \
    migrate_pause migrate_set_capability migrate_set_parameter migrate_start_postcopy mouse_button \
    mouse_move mouse_set one-insn-per-tb p print q qemu-io qom-get qom-list quit replay_break \
    replay_delete_break replay_seek ringbuf_read ringbuf_write s savevm sendkey set_link set_password \
    set_vcpu_dirty_limit snapshot_blkdev_internal snapshot_delete_blkdev_internal stop stopcapture sum \
    sync-profile system_powerdown system_reset system_wakeup trace-event x x_colo_lost_heartbeat xp";
/// Commands that only `root@pam` itself may use.
const ROOT: &str = "backup block_stream change chardev-add chardev-change chardev-remove client_migrate_info \
    device_add device_del drive_add drive_backup drive_del drive_mirror dump-guest-memory dumpdtb \
    gdbserver hostfwd_add hostfwd_remove logfile mce memsave migrate migrate_incoming migrate_recover \
    nbd_server_add nbd_server_remove nbd_server_start nbd_server_stop netdev_add netdev_del nmi o \
    object_add object_del pcie_aer_inject_error pmemsave qom-set savevm-end savevm-start screendump \
    snapshot_blkdev watchdog_action wavcapture xen-event-inject xen-event-list";

fn lists(list: &str, name: &str) -> bool {
    list.split_whitespace().any(|known| known == name)
}

fn run(world: &mut World, call: &Call) -> Reply {
    let command = call.text("command").unwrap_or_default();
    let Some(name) = command.split_whitespace().next() else {
        return Err(ApiError::fail("no command specified"));
    };
    check_right(world, call, name)?;
    world.need_guest(Qemu, call.node(), call.vmid())?;
    let vmid = call.vmid();
    let machine = world.guest_mut(Qemu, call.node(), vmid);
    let answer = match machine.filter(|machine| machine.is_running()) {
        Some(machine) => execute(machine, command, call.now),
        None => format!("ERROR: VM {vmid} not running\n"),
    };
    Ok(json!(answer).into())
}

fn check_right(world: &World, call: &Call, name: &str) -> Result<(), ApiError> {
    if lists(FREE, name) || call.who.is_root() {
        return Ok(());
    }
    if lists(MODIFY, name) {
        return require(world, &call.who, "/", &["Sys.Modify"]);
    }
    Err(ApiError::fail(if lists(ROOT, name) {
        format!("root-only command '{name}'")
    } else {
        format!(
            "command '{name}' non-existent or not assigned a required permission yet, limiting to root user"
        )
    }))
}

/// Carries out the commands whose effect shows from outside; others are accepted in silence.
fn execute(machine: &mut Guest, command: &str, now: Time) -> String {
    let words: Vec<&str> = command.split_whitespace().collect();
    match words[..] {
        ["info", "status"] => format!("VM status: {}\r\n", machine.qmp_status()),
        ["info", "version"] => "10.1.2pve-qemu-kvm_10.1.2\r\n".to_owned(),
        ["info", "name"] => format!("{}\r\n", machine.name()),
        ["info", "uuid"] => {
            let smbios = machine.config.get("smbios1").unwrap_or_default();
            let uuid = crate::world::config::property(smbios, "uuid").unwrap_or_default();
            format!("{uuid}\r\n")
        }
        ["quit" | "q"] => {
            machine.stop();
            String::new()
        }
        ["system_reset"] => {
            machine.reset_display(now);
            String::new()
        }
        ["stop" | "s"] => set_paused(machine, true),
        ["cont" | "c"] => set_paused(machine, false),
        ["sendkey", keys, ..] => match keys::parse(keys) {
            Ok(names) => {
                machine.keys.push(keys.to_owned());
                machine.press_together(&names, now);
                String::new()
            }
            Err(text) => format!("{text}\r\n"),
        },
        [name, ..] if lists(FREE, name) || lists(MODIFY, name) || lists(ROOT, name) => {
            String::new()
        }
        [name, ..] => format!("unknown command: '{name}'\r\n"),
        [] => String::new(),
    }
}

fn set_paused(machine: &mut Guest, pause: bool) -> String {
    if let Power::Running { paused, .. } = &mut machine.power {
        *paused = pause;
    }
    String::new()
}
