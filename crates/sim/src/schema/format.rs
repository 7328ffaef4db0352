//! Named formats, each a check on one value. The texts are what PVE puts after `invalid format - `.

use crate::calendar::CalendarEvent;
use crate::permission::{OLD_AGENT_PRIVILEGE, PRIVILEGES};

fn when(ok: bool, error: impl FnOnce() -> String) -> Result<(), String> {
    if ok { Ok(()) } else { Err(error()) }
}

fn starts_with_letter(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
}

/// `pve-vmid`: 100 to 999999999.
pub fn vmid(text: &str) -> Result<(), String> {
    let plain = text.len() <= 9 && !text.starts_with(['0', '+', '-']);
    let valid = plain && text.parse::<u32>().is_ok_and(|id| id >= 100);
    when(valid, || {
        "value does not look like a valid VM ID".to_owned()
    })
}

/// `pve-node`: a host name without dots.
pub fn node(text: &str) -> Result<(), String> {
    when(is_dns_label(text), || {
        "value does not look like a valid node name".to_owned()
    })
}

/// `pve-configid`: names of snapshots, jobs and the like.
pub fn config_id(text: &str) -> Result<(), String> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let valid = starts_with_letter(text) && text.len() >= 2 && text.chars().all(word);
    when(valid, || format!("invalid configuration ID '{text}'"))
}

/// `pve-storage-id`.
pub fn storage_id(text: &str) -> Result<(), String> {
    if text.len() < 2 {
        return Err(format!(
            "storage ID '{text}' cannot be shorter than 2 characters"
        ));
    }
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let valid = starts_with_letter(text)
        && text.ends_with(|last: char| last.is_ascii_alphanumeric())
        && text.chars().all(word);
    when(valid, || {
        format!("storage ID '{text}' contains illegal characters")
    })
}

/// `pve-storage-content`: what a storage may hold.
pub fn content(text: &str) -> Result<(), String> {
    let known = [
        "images", "rootdir", "vztmpl", "iso", "backup", "none", "snippets", "import",
    ];
    when(known.contains(&text), || {
        format!("invalid content type '{text}'")
    })
}

/// `pve-volume-id`: `local:iso/x.iso`.
pub fn volume_id(text: &str) -> Result<(), String> {
    let valid = text
        .split_once(':')
        .is_some_and(|(storage, name)| storage_id(storage).is_ok() && !name.is_empty());
    when(valid, || format!("unable to parse volume ID '{text}'"))
}

/// `disk-size`: `32G`, `1500M`, `1024`.
pub fn disk_size(text: &str) -> Result<(), String> {
    let number = text.strip_suffix("iB").unwrap_or(text);
    when(crate::world::config::parse_size(number).is_some(), || {
        format!("value does not look like a valid disk size: {text}")
    })
}

/// `pve-tag`.
pub fn tag(text: &str) -> Result<(), String> {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '.');
    let valid = text.chars().all(word) && !text.starts_with(['-', '+', '.']) && !text.is_empty();
    when(valid, || "invalid characters in tag".to_owned())
}

/// `pve-startup-order`: `order=1,up=30,down=60`.
pub fn startup_order(text: &str) -> Result<(), String> {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let part = |part: &str| match part.split_once('=') {
        Some(("order" | "up" | "down", value)) => number(value),
        Some(_) => false,
        None => part.trim().is_empty() || number(part),
    };
    when(!text.is_empty() && text.split(',').all(part), || {
        "unable to parse startup options".to_owned()
    })
}

/// `urlencoded`.
pub fn urlencoded(text: &str) -> Result<(), String> {
    let valid = |c: char| c.is_ascii_alphanumeric() || "-%_.!~*'()".contains(c);
    when(text.chars().all(valid), || {
        format!("invalid urlencoded string: {text}")
    })
}

/// `dns-name`: labels separated by dots.
pub fn dns_name(text: &str) -> Result<(), String> {
    when(
        !text.is_empty() && text.split('.').all(is_dns_label),
        || "value does not look like a valid DNS name".to_owned(),
    )
}

/// `pve-realm`.
pub fn realm(text: &str) -> Result<(), String> {
    when(is_realm(text), || {
        format!("value '{text}' does not look like a valid realm")
    })
}

/// `pve-priv`.
pub fn privilege(text: &str) -> Result<(), String> {
    when(
        PRIVILEGES.contains(&text) || text == OLD_AGENT_PRIVILEGE,
        || format!("invalid privilege '{text}'"),
    )
}

/// `pve-task-status-type`.
pub fn task_status(text: &str) -> Result<(), String> {
    when(
        matches!(
            text.to_ascii_lowercase().as_str(),
            "ok" | "error" | "warning" | "unknown"
        ),
        || format!("invalid status '{text}'"),
    )
}

/// `pve-calendar-event`.
pub fn calendar_event(text: &str) -> Result<(), String> {
    CalendarEvent::parse(text).map(|_| ())
}

/// `pve-day-of-week`.
pub fn day_of_week(text: &str) -> Result<(), String> {
    let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    when(days.contains(&text), || format!("invalid day '{text}'"))
}

/// `pve-ha-resource-or-vm-id`: `vm:100`, or the bare id of a guest.
pub fn ha_resource_or_vmid(text: &str) -> Result<(), String> {
    let bare = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if bare { Ok(()) } else { ha_resource(text) }
}

/// `pve-ha-resource-id`: `vm:100`.
pub fn ha_resource(text: &str) -> Result<(), String> {
    let valid = text.split_once(':').is_some_and(|(kind, name)| {
        !kind.is_empty()
            && kind.bytes().all(|byte| byte.is_ascii_lowercase())
            && !name.is_empty()
            && !name.contains(char::is_whitespace)
    });
    when(valid, || {
        "value does not look like a valid ha resource id".to_owned()
    })
}

/// `pve-ha-node`: a node, or a node with its priority.
pub fn ha_node(text: &str) -> Result<(), String> {
    let (name, priority) = text.split_once(':').unwrap_or((text, "0"));
    let number = !priority.is_empty() && priority.bytes().all(|byte| byte.is_ascii_digit());
    when(is_dns_label(name) && number, || {
        "value does not look like a valid ha node".to_owned()
    })
}

/// `pve-replication-job-id`: a guest's id and a number.
pub fn replication_job(text: &str) -> Result<(), String> {
    when(is_replication_job(text), || {
        format!("invalid replication job id '{text}'")
    })
}

fn is_replication_job(text: &str) -> bool {
    text.split_once('-').is_some_and(|(guest, number)| {
        vmid(guest).is_ok()
            && (1..=9).contains(&number.len())
            && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// `pve-userid`.
pub fn user_id(text: &str) -> Result<(), String> {
    let length = text.chars().count();
    if length < 3 {
        return Err(format!("user name '{text}' is too short"));
    }
    if length > 64 {
        return Err(format!("user name '{text}' is too long ({length} > 64)"));
    }
    when(is_user_id(text), || {
        format!("value '{text}' does not look like a valid user name")
    })
}

/// `pve-tokenid`: a token with its user.
pub fn token_id(text: &str) -> Result<(), String> {
    let valid = text
        .split_once('!')
        .is_some_and(|(user, token)| is_user_id(user) && is_token_name(token));
    when(valid, || {
        format!("value '{text}' does not look like a valid token ID")
    })
}

/// `pve-groupid`.
pub fn group_id(text: &str) -> Result<(), String> {
    when(is_plain(text), || {
        format!("group name '{text}' contains invalid characters")
    })
}

/// `pve-roleid`.
pub fn role_id(text: &str) -> Result<(), String> {
    when(is_plain(text), || {
        format!("role name '{text}' contains invalid characters")
    })
}

/// `storage-pair`: `from:to`, one storage for all, or `1` for each to its own.
pub fn storage_pair(text: &str) -> Result<(), String> {
    if text == "1" {
        return Ok(());
    }
    let (from, to) = text.split_once(':').unwrap_or((text, text));
    storage_id(from).and_then(|()| storage_id(to))
}

/// `pve-poolid`: up to three levels.
pub fn pool_id(text: &str) -> Result<(), String> {
    if text.split('/').count() > 3 {
        return Err(format!(
            "pool name '{text}' nested too deeply (max levels = 3)"
        ));
    }
    when(text.split('/').all(is_plain), || {
        format!("pool name '{text}' contains invalid characters")
    })
}

fn is_plain(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    !text.is_empty() && text.chars().all(word)
}

/// Whether the text is `name@realm`.
pub fn is_user_id(text: &str) -> bool {
    let Some((name, realm)) = text.rsplit_once('@') else {
        return false;
    };
    let legal = |c: char| !c.is_whitespace() && c != ':' && c != '/';
    !name.is_empty() && text.len() <= 64 && name.chars().all(legal) && is_realm(realm)
}

/// Whether the text is the name of a token.
pub fn is_token_name(text: &str) -> bool {
    is_realm(text)
}

fn is_realm(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    starts_with_letter(text) && text.len() >= 2 && text.chars().all(word)
}

fn is_dns_label(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '-';
    !text.is_empty() && !text.starts_with('-') && !text.ends_with('-') && text.chars().all(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guest_ids() {
        for good in ["100", "999999999"] {
            assert_eq!(vmid(good), Ok(()), "{good}");
        }
        for bad in ["99", "1000000000", "0100", "+100", ""] {
            assert!(vmid(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn names() {
        assert!(config_id("before-upgrade").is_ok());
        assert!(config_id("1x").is_err() && config_id("x").is_err() && config_id("a b").is_err());
        assert!(storage_id("local-lvm").is_ok() && storage_id("1x").is_err());
        assert!(dns_name("a.b-c").is_ok() && dns_name("a_b").is_err() && dns_name("-a").is_err());
        assert!(is_user_id("bob@pve") && !is_user_id("carol") && !is_user_id("a:b@pve"));
    }
}
