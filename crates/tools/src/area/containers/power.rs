//! Power of one container.

use crate::area::power::{StartVm, stopping};
use crate::plain::{Alias, Arg, CONTAINER, alias, flag, whole};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::{Change, Tool};

/// The tools of this subject.
pub(super) const TOOLS: &[&dyn Tool] = &[&START, &SHUTDOWN, &STOP, &REBOOT];

const TIMEOUT: Arg = whole("timeout", "Seconds it is given.").within(1, 3600);

const START: Alias = alias(
    (Toolset::Lxc, Risk::Change),
    "start_container",
    "Start a container",
    &Change::<StartVm>::NEW,
)
.says(
    "Starts a stopped container and waits until it is seen running; one that runs is left alone.\n\nThe same as start_proxmox_vm, which starts several at once; to restart use reboot_container. Refused: templates, locked containers. Under HA it is only queued. Needs VM.PowerMgmt. Undo: shutdown_container.",
)
.takes(&[CONTAINER])
.idempotent()
.examples(&[Example {
    ask: "Start the media container",
    args: r#"{"vmid": 203}"#,
}]);

const SHUTDOWN: Alias = stopping(Toolset::Lxc, "shutdown_container", "Shut down a container")
    .says(
        "Asks the system in a running container to shut down, and waits; what it serves is interrupted.\n\nforce_stop switches it off if it has not ended in time; without it the container may stay up, and the answer says so. stop_container switches off at once, stop_proxmox_vm stops several. It asks for a confirmation. Needs VM.PowerMgmt. Undo: start_container.",
    )
    .takes(&[
        CONTAINER,
        TIMEOUT,
        flag("force_stop", "Switch it off after timeout.").sent_as("force"),
    ])
    .with(&[("action", "\"shutdown\"")])
    .examples(&[
        Example {
            ask: "Shut down the proxy",
            args: r#"{"vmid": 201}"#,
        },
        Example {
            ask: "Shut down grafana, by force after a minute",
            args: r#"{"vmid": 207, "timeout": 60, "force_stop": true}"#,
        },
    ]);

const STOP: Alias = stopping(Toolset::Lxc, "stop_container", "Switch off a container")
    .says(
        "Switches a running container off at once; what its programs have not written to disk is lost.\n\nOnly for one that does not react: shutdown_container ends it cleanly. It asks for a confirmation. Under HA it is only queued. Needs VM.PowerMgmt. Undo: start_container.",
    )
    .takes(&[CONTAINER])
    .with(&[("action", "\"stop\"")])
    .examples(&[Example {
        ask: "The VPN container hangs, kill it",
        args: r#"{"vmid": 204}"#,
    }]);

const REBOOT: Alias = stopping(Toolset::Lxc, "reboot_container", "Reboot a container")
    .says(
        "Shuts a running container down cleanly and starts it again, which brings pending settings into force; what it serves is interrupted.\n\nget_container_pending shows what waits for that; for a stopped one use start_container. It asks for a confirmation. Needs VM.PowerMgmt. Undo: none.",
    )
    .takes(&[CONTAINER, TIMEOUT])
    .with(&[("action", "\"reboot\"")])
    .examples(&[Example {
        ask: "Reboot the DNS container",
        args: r#"{"vmid": 200}"#,
    }]);
