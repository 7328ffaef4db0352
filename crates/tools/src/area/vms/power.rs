//! Power of VMs.

use super::hibernate::SuspendVm;
use crate::area::power::{StartVm, stopping};
use crate::plain::{Alias, Arg, VM, alias, flag, whole};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::{Change, Tool};

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[
    &START,
    &STOP,
    &SHUTDOWN,
    &REBOOT,
    &Change::<SuspendVm>::NEW,
    &RESUME,
    &RESET,
];

const TIMEOUT: Arg = whole("timeout", "Seconds that the system inside gets.").within(1, 3600);

const START: Alias = alias(
    (Toolset::Qemu, Risk::Change),
    "start_vm",
    "Start a VM",
    &Change::<StartVm>::NEW,
)
.says(
    "Starts one VM, or wakes a hibernated one; one that runs is left alone.\n\nThe same as start_proxmox_vm, which takes several and containers. Refused: templates, locked VMs, offline nodes. It waits until it is seen running, not for the system inside; HA only queues it. Needs VM.PowerMgmt and VM.Audit on /vms/VMID. Undo: shutdown_vm.",
)
.takes(&[VM])
.idempotent()
.examples(&[Example {
    ask: "Start staging",
    args: r#"{"vmid": 105}"#,
}]);

const STOP: Alias = stopping(Toolset::Qemu, "stop_vm", "Switch a VM off")
    .says(
        "Switches one VM off at once, like pulling its plug: what it has not written is lost.\n\nOnly for a VM that does not react; shutdown_vm ends it properly. One that is off is left alone, a locked one is refused. It asks for a confirmation. Needs VM.PowerMgmt and VM.Audit on /vms/VMID. Undo: start_vm.",
    )
    .takes(&[VM])
    .with(&[("action", "\"stop\"")])
    .idempotent()
    .examples(&[Example {
        ask: "Pull the plug on the desktop",
        args: r#"{"vmid": 110}"#,
    }]);

const SHUTDOWN: Alias = stopping(Toolset::Qemu, "shutdown_vm", "Shut a VM down")
    .says(
        "Asks the system inside one VM to shut down and waits until it is off.\n\nA VM without guest agent and ACPI does not react: force_stop then switches it off after the timeout, which can lose data. stop_proxmox_vm takes several. It asks for a confirmation. Needs VM.PowerMgmt and VM.Audit on /vms/VMID. Undo: start_vm.",
    )
    .takes(&[
        VM,
        TIMEOUT,
        flag("force_stop", "Switch it off after the timeout.").sent_as("force"),
    ])
    .with(&[("action", "\"shutdown\"")])
    .idempotent()
    .examples(&[
        Example {
            ask: "Shut down the web server",
            args: r#"{"vmid": 100}"#,
        },
        Example {
            ask: "Shut the desktop down, the hard way if it takes over a minute",
            args: r#"{"vmid": 110, "timeout": 60, "force_stop": true}"#,
        },
    ]);

const REBOOT: Alias = stopping(Toolset::Qemu, "reboot_vm", "Reboot a VM")
    .says(
        "Shuts one VM down and starts it again, so that pending changes of its settings take effect.\n\nFor a VM that does not react use reset_vm. get_vm_pending shows what it takes over. Refused unless it runs. It asks for a confirmation. Needs VM.PowerMgmt and VM.Audit on /vms/VMID. Undo: none; a restart has happened or it has not.",
    )
    .takes(&[VM, TIMEOUT])
    .with(&[("action", "\"reboot\"")])
    .examples(&[Example {
        ask: "Reboot the web server",
        args: r#"{"vmid": 100}"#,
    }]);

const RESUME: Alias = alias(
    (Toolset::Qemu, Risk::Change),
    "resume_vm",
    "Resume a VM",
    &Change::<StartVm>::NEW,
)
.says(
    "Lets one VM that suspend_vm paused or hibernated go on where it was; one that is off is started, one that runs is left alone.\n\nThe same as start_proxmox_vm. Needs VM.PowerMgmt and VM.Audit on /vms/VMID. Undo: suspend_vm.",
)
.takes(&[VM])
.idempotent()
.examples(&[Example {
    ask: "Let the paused kiosk go on",
    args: r#"{"vmid": 108}"#,
}]);

const RESET: Alias = stopping(Toolset::Qemu, "reset_vm", "Reset a VM")
    .says(
        "Restarts one VM at once, like its reset button: what it has not written is lost, and pending settings stay pending.\n\nOnly for a VM that does not react; reboot_vm restarts it properly. Refused unless it runs. It asks for a confirmation. Needs VM.PowerMgmt and VM.Audit on /vms/VMID. Undo: none.",
    )
    .takes(&[VM])
    .with(&[("action", "\"reset\"")])
    .examples(&[Example {
        ask: "Reset the desktop, it hangs",
        args: r#"{"vmid": 110}"#,
    }]);
