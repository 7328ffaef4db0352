//! The kinds of steps, each by a call that makes one.

use serde_json::{Value, json};
use sim::Sim;

/// A kind of step.
pub(super) struct Kind {
    pub(super) tool: &'static str,
    pub(super) arguments: Value,
    /// Whatever the demo's cluster lacks for it.
    pub(super) furnish: fn(&Sim),
    /// How often the cluster got it, or how much of it.
    pub(super) count: fn(&Sim) -> usize,
    /// Method and path of the request that it is, if it is one whose answer can be held up; `*` stands for any text.
    pub(super) sent: Option<(&'static str, &'static str)>,
    /// Whether it has a task, or a process, that is written down.
    has_task: bool,
    /// Whether it can be read afterwards that it was done, though its answer was lost.
    is_seen: bool,
}

impl Kind {
    /// Where it is killed.
    pub(super) fn places(&self) -> Vec<&'static str> {
        let all = [
            "unopened",
            "intent-recorded",
            "step-sending",
            "sent",
            "answered",
            "task-kept",
            "step-kept",
            "closing",
            "closed",
        ];
        let has = |place: &&str| self.has_task || *place != "task-kept";
        all.into_iter().filter(has).collect()
    }

    /// The word in the audit trail after a kill there.
    pub(super) fn outcome_at(&self, place: &str) -> &'static str {
        match place {
            "intent-recorded" => "not_applied",
            // Whoever comes later cannot tell that it was not sent.
            "step-sending" => "unknown",
            "sent" | "answered" if !self.is_seen => "unknown",
            _ => "applied",
        }
    }
}

/// How many requests of a method had paths that end like this.
fn requests(sim: &Sim, method: &str, end: &str) -> usize {
    let requests = sim.requests().into_iter();
    let of_it = requests.filter(|logged| logged.method == method && logged.path.ends_with(end));
    of_it.count()
}

/// How many bytes were typed on the terminals of guests.
fn typed(sim: &Sim) -> usize {
    sim.world(|world| {
        let guests = world.guests.values();
        guests.map(|guest| guest.terminals.typed).sum()
    })
}

fn nothing(_: &Sim) {}

pub(super) fn request() -> Kind {
    Kind {
        tool: "update_proxmox_vm",
        arguments: json!({"vmid": 200, "set": {"description": "killed"}}),
        furnish: nothing,
        count: |sim| requests(sim, "PUT", "/lxc/200/config"),
        sent: Some(("PUT", "/nodes/*/lxc/200/config")),
        has_task: false,
        is_seen: true,
    }
}

pub(super) fn request_with_task() -> Kind {
    Kind {
        tool: "start_proxmox_vm",
        arguments: json!({"vmid": 105}),
        furnish: nothing,
        count: |sim| requests(sim, "POST", "/qemu/105/status/start"),
        sent: Some(("POST", "/nodes/*/qemu/105/status/start")),
        has_task: true,
        is_seen: true,
    }
}

pub(super) fn upload() -> Kind {
    Kind {
        tool: "upload_to_storage",
        arguments: json!({"node": "pve1", "storage": "nas", "content": "iso", "filename": "image.iso"}),
        furnish: nothing,
        count: |sim| requests(sim, "POST", "/storage/nas/upload"),
        sent: Some(("POST", "/nodes/*/storage/nas/upload")),
        has_task: true,
        is_seen: true,
    }
}

pub(super) fn download() -> Kind {
    let volume = "vault:backup/ct/202/2026-11-15T01:00:04Z";
    Kind {
        tool: "download_file_restore",
        arguments: json!({
            "node": "pve1", "storage": "vault", "volume": volume, "filepath": "/root.pxar.didx/etc/hosts"
        }),
        furnish: nothing,
        count: |sim| requests(sim, "GET", "/file-restore/download"),
        sent: None,
        has_task: false,
        is_seen: false,
    }
}

/// No step, but what it looks at is in a guest.
pub(super) fn look() -> Kind {
    let mut arguments = download().arguments;
    arguments["filepath"] = json!("/root.pxar.didx/etc");
    Kind {
        tool: "list_file_restore",
        arguments,
        count: |sim| requests(sim, "GET", "/file-restore/list"),
        ..download()
    }
}

pub(super) fn keys() -> Kind {
    Kind {
        tool: "type_vm_text",
        arguments: json!({"vmid": 100, "text": "a"}),
        furnish: nothing,
        // A key goes down and up.
        count: |sim| {
            let inputs = sim.world(|world| world.guests[&100].display.inputs);
            usize::try_from(inputs).unwrap() / 2
        },
        sent: None,
        has_task: false,
        is_seen: false,
    }
}

pub(super) fn agent_exec() -> Kind {
    Kind {
        tool: "run_proxmox_vm_command",
        arguments: json!({"vmid": 106, "command": "echo out"}),
        furnish: nothing,
        count: |sim| requests(sim, "POST", "/qemu/106/agent/exec"),
        sent: Some(("POST", "/nodes/*/qemu/106/agent/exec")),
        has_task: true,
        is_seen: false,
    }
}

pub(super) fn terminal_line() -> Kind {
    Kind {
        tool: "send_vm_terminal_line",
        // Enter alone, which is one byte.
        arguments: json!({"vmid": 200, "line": ""}),
        furnish: nothing,
        count: typed,
        sent: None,
        has_task: false,
        is_seen: false,
    }
}

pub(super) fn terminal_exec() -> Kind {
    Kind {
        tool: "run_proxmox_vm_command",
        arguments: json!({"vmid": 200, "command": ["echo", "out"]}),
        furnish: |sim| {
            sim.world(|world| {
                let guest = world.guests.get_mut(&200).unwrap();
                guest.config.set("cmode", "shell");
            });
        },
        count: typed,
        sent: None,
        has_task: false,
        is_seen: false,
    }
}
