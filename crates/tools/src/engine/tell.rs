//! What only PVE can tell after a step: looked up once, said beside the step's result.

use pve::console::Settled;
use pve::{GuestRef, Reader};
use serde_json::Value;

use super::Engine;
use crate::fault::explain;
use crate::plan::{Plan, Step, Tell};
use crate::screen;
use crate::tool::{Image, Object};

impl Engine {
    /// What PVE tells after a step.
    pub(super) async fn told(&self, plan: &Plan, step: &Step) -> Option<Told> {
        let pve = &self.cluster(&plan.cluster).ok()?.pve;
        Some(match step.tells.as_ref()? {
            Tell::Pending { at, keys } => pending(pve, at, keys).await.into(),
            Tell::Screen(at) => {
                let mut told = seen(pve, at).await;
                if step.action.is_secret() {
                    // The screen may echo it. The picture is kept nowhere; its text would be.
                    told.result = None;
                }
                told
            }
        })
    }
}

/// What was looked up.
pub(super) struct Told {
    pub(super) words: String,
    pub(super) result: Option<Object>,
    pub(super) picture: Option<Image>,
}

impl From<String> for Told {
    fn from(words: String) -> Self {
        Self {
            words,
            result: None,
            picture: None,
        }
    }
}

async fn pending(pve: &Reader, at: &GuestRef, keys: &[String]) -> String {
    match pve.list::<Value>(at.path("pending")).await {
        Ok(rows) => in_effect(&rows, keys),
        Err(error) => format!(
            "whether it is in effect cannot be read ({})",
            explain(&error)
        ),
    }
}

/// A VM's screen, once it stands still.
async fn seen(pve: &Reader, at: &GuestRef) -> Told {
    match screen::settled(pve, at).await {
        Ok((shown, settled)) => {
            let picture = screen::picture(&shown, shown.whole(), None);
            let (width, height) = picture.size;
            let still = match settled {
                Settled::Still => "the screen after it",
                Settled::Changing => "the screen after it, still changing",
            };
            Told {
                words: format!("{still} is in the picture ({width}x{height})"),
                result: picture.text.map(|text| {
                    let text = ("screen".to_owned(), Value::String(text));
                    Object::from_iter([text])
                }),
                picture: Some(picture.image),
            }
        }
        Err(error) => format!("the screen cannot be seen ({})", explain(&error)).into(),
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
