//! What only PVE can tell after a step: looked up once, said beside the step's result.

use serde_json::Value;

use super::Engine;
use crate::fault::explain;
use crate::plan::{Plan, Step, Tell};

impl Engine {
    /// What PVE tells after a step, in words.
    pub(super) async fn told(&self, plan: &Plan, step: &Step) -> Option<String> {
        let Tell::Pending { at, keys } = step.tells.as_ref()?;
        let pve = &self.cluster(&plan.cluster).ok()?.pve;
        Some(match pve.list::<Value>(at.path("pending")).await {
            Ok(rows) => in_effect(&rows, keys),
            Err(error) => format!(
                "whether it is in effect cannot be read ({})",
                explain(&error)
            ),
        })
    }
}

/// Which of the keys wait for a restart, by the rows of `pending`.
fn in_effect(rows: &[Value], keys: &[String]) -> String {
    let waits = |key: &&String| {
        rows.iter().any(|row| {
            row["key"] == key.as_str()
                && (row.get("pending").is_some() || row.get("delete").is_some())
        })
    };
    let waiting: Vec<&String> = keys.iter().filter(waits).collect();
    if waiting.is_empty() {
        return "in effect now".to_owned();
    }
    format!(
        "waiting for a restart: {} (stop_proxmox_vm with action reboot brings it; a restart from inside the guest does not)",
        crate::words::list(&waiting)
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_was_changed_and_waits_is_named() {
        let rows = [
            json!({"key": "cores", "value": 2, "pending": 4}),
            json!({"key": "memory", "value": "2048"}),
            json!({"key": "net1", "value": "x", "delete": 1}),
            json!({"key": "bios", "pending": "ovmf"}),
        ];
        let keys = ["cores", "memory", "net1"].map(str::to_owned);
        let told = in_effect(&rows, &keys);
        assert!(
            told.starts_with("waiting for a restart: cores and net1 ("),
            "{told}"
        );
        assert_eq!(in_effect(&rows, &keys[1..2]), "in effect now");
    }
}
