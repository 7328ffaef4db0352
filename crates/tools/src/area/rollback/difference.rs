//! How a guest's settings will differ afterwards, in words.

use std::collections::BTreeSet;

use pve::GuestConfig;

use crate::clean::is_secret;
use crate::words;

/// What is no setting: PVE's own marks, and what stays as it is.
const NO_SETTINGS: &[&str] = &[
    "description",
    "digest",
    "lock",
    "meta",
    "parent",
    "snapstate",
    "snaptime",
    "vmgenid",
    "vmstate",
];
/// How many are told one by one.
const MOST: usize = 12;

/// "cores 4 -> 2; protection 1 -> unset", without `skip`; `None` if nothing differs. Values of secrets are left out.
pub(super) fn between(
    now: &GuestConfig,
    then: &GuestConfig,
    skip: impl Fn(&str) -> bool,
) -> Option<String> {
    let keys: BTreeSet<_> = now.values().keys().chain(then.values().keys()).collect();
    let changes: Vec<_> = keys
        .into_iter()
        .filter(|key| is_setting(key) && !skip(key))
        .filter_map(|key| change(key, now.text(key), then.text(key)))
        .collect();
    let more = changes.len().saturating_sub(MOST);
    let mut told = changes[..changes.len() - more].join("; ");
    if more > 0 {
        told = format!("{told}; and {more} more");
    }
    (!told.is_empty()).then_some(told)
}

fn is_setting(key: &str) -> bool {
    !NO_SETTINGS.contains(&key) && !key.starts_with("unused") && !key.starts_with("running")
}

fn change(key: &str, now: Option<String>, then: Option<String>) -> Option<String> {
    if now == then {
        return None;
    }
    if is_secret(key) {
        return Some(format!("{key} (not shown)"));
    }
    let show = |value: Option<String>| {
        value.map_or_else(|| "unset".to_owned(), |value| words::clip(&value, 60))
    };
    Some(format!("{key} {} -> {}", show(now), show(then)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn config(value: serde_json::Value) -> GuestConfig {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn settings_are_told_and_secrets_and_marks_are_not() {
        let now = config(json!({
            "cores": 4, "protection": 1, "memory": "2048", "digest": "a", "lock": "backup",
            "cipassword": "**********", "scsi0": "a:1"
        }));
        let then = config(json!({
            "cores": "2", "memory": 2048, "cipassword": "hunter2", "tags": "old", "scsi0": "a:2", "snaptime": 1
        }));
        assert_eq!(
            between(&now, &then, |key| key == "scsi0").unwrap(),
            "cipassword (not shown); cores 4 -> 2; protection 1 -> unset; tags unset -> old"
        );
        assert_eq!(between(&now, &now, |_| false), None);
    }

    #[test]
    fn many_are_counted() {
        let now: GuestConfig = (0..20).map(|n| (format!("x{n:02}"), json!(n))).collect();
        let told = between(&now, &config(json!({})), |_| false).unwrap();
        assert!(told.ends_with("; and 8 more"), "{told}");
    }
}
