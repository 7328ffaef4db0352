//! Tickets for the displays of VMs, for viewers beside oxmox. oxmox itself needs none of them: capture_vm_screen looks.

use pve::Method;

use super::AUDIT;
use super::monitor::MonitorCommand;
use crate::plain::{Entry, Need, Plain, VM, an, change, flag};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::{Change, Tool};

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[&VNC, &SPICE, &Change::<MonitorCommand>::NEW];

const OPEN: Need = Need::All(&[AUDIT, Need::On("/vms/{vmid}", "VM.Console")]);
const TICKET: Entry = an("console ticket", &["vmid"])
    .not_undone("a ticket cannot be revoked; unused, it expires within a minute");

const VNC: Plain = change(
    (Toolset::Qemu, Risk::Grant),
    "get_vm_vncproxy",
    "Get a VNC ticket",
    Method::Post,
    "/nodes/{node}/qemu/{vmid}/vncproxy",
)
.says(
    "Opens a VNC port for one VM's display. The ticket for it goes into a file on the machine that runs oxmox, readable by oxmox's owner alone.\n\nOnly for a program that connects within 10 seconds as the same PVE user; capture_vm_screen shows a screen, send_vm_key and type_vm_text operate it. A person must approve it; you cannot confirm it yourself. Needs VM.Console and VM.Audit on /vms/VMID. Undo: none; the ticket expires.",
)
.takes(&[
    VM,
    flag("websocket", "For a websocket.").otherwise("true"),
])
.needs(OPEN)
.confides()
.does("Open the VNC display", TICKET)
.examples(&[Example {
    ask: "Let my VNC viewer see the web server",
    args: r#"{"vmid": 100}"#,
}]);

const SPICE: Plain = change(
    (Toolset::Qemu, Risk::Grant),
    "get_vm_spiceproxy",
    "Get a SPICE ticket",
    Method::Post,
    "/nodes/{node}/qemu/{vmid}/spiceproxy",
)
.says(
    "Gets what a SPICE viewer needs to show one VM's display. It goes into a file on the machine that runs oxmox, readable by oxmox's owner alone.\n\nOnly for a viewer that connects within 30 seconds; capture_vm_screen shows a screen without. The VM must run and have a qxl display (update_proxmox_vm sets vga). A person must approve it; you cannot confirm it yourself. Needs VM.Console and VM.Audit on /vms/VMID. Undo: none; the ticket expires.",
)
.takes(&[VM])
.needs(OPEN)
.confides()
.does("Open the SPICE display", TICKET)
.examples(&[Example {
    ask: "Let my SPICE viewer see the desktop",
    args: r#"{"vmid": 110}"#,
}]);
