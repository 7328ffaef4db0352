//! Why an agent does not do what is wanted of it, and the change that makes it.

use pve::{Error, GuestConfig};
use serde_json::Value;

use crate::area::State;
use crate::context::Guest;
use crate::fault::Fault;
use crate::plan::Blocker;

/// What an agent answers even while file systems are frozen tells nothing; this it does not, and nobody forbids it.
const NEVER_FORBIDDEN: &str = "guest-get-time";

/// What stands between us and an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// The VM is off.
    Stopped,
    /// The VM is paused, and the agent with it.
    Paused,
    /// The VM has no channel to an agent.
    NotConfigured,
    /// It will have one after its next start.
    Pending,
    /// Nobody answers on it.
    Silent,
    /// The file systems are frozen; until they are thawed an agent does nothing else.
    Frozen,
    /// Whoever runs the guest has forbidden this command.
    Forbidden(&'static str),
}

impl Obstacle {
    /// Looks for one that keeps the agent from this command. What cannot be found out stands in nobody's way: PVE tells
    /// when it is asked in earnest.
    pub(crate) async fn to(
        command: &'static str,
        guest: &Guest,
        config: &GuestConfig,
    ) -> Result<Option<Self>, Fault> {
        let state = State::of(guest).await?;
        if !state.running {
            return Ok(Some(Self::Stopped));
        }
        if state.paused {
            return Ok(Some(Self::Paused));
        }
        match guest.pve().get::<Value>(guest.at.path("agent/info")).await {
            Ok(info) => Ok(Self::among(command, &info["result"]["supported_commands"])),
            Err(error) if error.status() == Some(403) => {
                Ok((!config.agent_enabled()).then_some(Self::NotConfigured))
            }
            Err(error) => match Self::said(&error) {
                Some(Self::NotConfigured) if config.agent_enabled() => Ok(Some(Self::Pending)),
                Some(Self::Silent) if !config.agent_enabled() => Ok(Some(Self::NotConfigured)),
                None => Err(error.into()),
                found => Ok(found),
            },
        }
    }

    /// By what the agent says it can do.
    fn among(command: &'static str, supported: &Value) -> Option<Self> {
        if !is_off(supported, command) {
            None
        } else if is_off(supported, NEVER_FORBIDDEN) {
            Some(Self::Frozen)
        } else {
            Some(Self::Forbidden(command))
        }
    }

    /// In PVE's own words.
    fn said(error: &Error) -> Option<Self> {
        let text = error.pve_text()?;
        if text.contains("No QEMU guest agent configured") {
            Some(Self::NotConfigured)
        } else if text.contains("QEMU guest agent is not running") {
            Some(Self::Silent)
        } else if text.contains("has been disabled") {
            Some(Self::Forbidden("the command"))
        } else {
            let stopped = text.starts_with("VM ") && text.contains("is not running");
            stopped.then_some(Self::Stopped)
        }
    }

    /// What is true, and what to do about it.
    pub(crate) fn blocker(self, guest: &Guest) -> Blocker {
        let label = guest.label();
        let because = match self {
            Self::Stopped => format!("{label} is not running"),
            Self::Paused => format!("{label} is paused, and its guest agent with it"),
            Self::NotConfigured => {
                format!("no guest agent is configured for {label}: its agent option is off")
            }
            Self::Pending => {
                format!("the agent option of {label} is on, but only from its next start on")
            }
            Self::Silent => {
                format!("the guest agent is not running: nothing inside {label} answers")
            }
            Self::Frozen => format!("the file systems of {label} are frozen"),
            Self::Forbidden(command) => {
                format!("{command} is disabled inside {label}, by the settings of its agent")
            }
        };
        Blocker::new(because, self.remedy())
    }

    /// The change that does away with it.
    fn remedy(self) -> &'static str {
        match self {
            Self::Stopped => "start it with start_proxmox_vm",
            Self::Paused => "resume it with start_proxmox_vm",
            Self::NotConfigured => {
                "update_proxmox_vm with set {\"agent\": \"1\"}, then stop_proxmox_vm with action \"reboot\"; the package qemu-guest-agent must be installed inside"
            }
            Self::Pending => "stop_proxmox_vm with action \"reboot\" brings it",
            Self::Silent => {
                "if it was started a moment ago, try again; otherwise install and start qemu-guest-agent inside (on Windows the QEMU guest agent of virtio-win), for example by type_vm_text at its console"
            }
            Self::Frozen => "thaw them with vm_agent_fsfreeze_thaw (toolset qemu)",
            Self::Forbidden(_) => {
                "inside the guest, take it out of block-rpcs in /etc/qemu/qemu-ga.conf (or put it into allow-rpcs there, or in /etc/sysconfig/qemu-ga) and restart qemu-guest-agent; type_vm_text works without an agent"
            }
        }
    }
}

/// Whether an agent's `info` says that it does not take this command.
fn is_off(supported: &Value, command: &str) -> bool {
    let mut commands = supported.as_array().into_iter().flatten();
    commands.any(|it| it["name"] == command && it["enabled"] == false)
}

/// Whether the file systems are frozen, by an agent's `info`.
pub(crate) fn is_frozen(info: &Value) -> bool {
    is_off(&info["result"]["supported_commands"], NEVER_FORBIDDEN)
}

/// What to do about an error of an agent, where it is one that we know.
pub(crate) fn advice(error: &Error) -> Option<&'static str> {
    Obstacle::said(error).map(Obstacle::remedy)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_forbidden_command_is_told_from_frozen_file_systems() {
        let commands = |exec: bool, time: bool| {
            json!([
                {"name": "guest-exec", "enabled": exec},
                {"name": "guest-get-time", "enabled": time},
            ])
        };
        let found = |exec, time| Obstacle::among("guest-exec", &commands(exec, time));
        assert_eq!(found(true, true), None);
        assert_eq!(found(false, true), Some(Obstacle::Forbidden("guest-exec")));
        assert_eq!(found(false, false), Some(Obstacle::Frozen));
        assert_eq!(Obstacle::among("guest-exec", &Value::Null), None);
    }
}
