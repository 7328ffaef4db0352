//! How PVE writes back what it was sent: numbers as text, parts in another order, lists with other separators.

use pve::lenient::as_text;
use pve::parse_size;
use serde_json::Value;

/// Whether two values are written alike: `4096` and `"4096"` are, and a text's last line break does not count. What PVE takes as a
/// property string it shows as an object here and there: the retention of a backup job.
pub(super) fn reads_as(found: &Value, wanted: &Value) -> bool {
    match (as_text(found), as_text(wanted)) {
        (Some(found), Some(wanted)) => found.trim_end() == wanted.trim_end(),
        (None, Some(_)) if found.is_object() => has_parts(&parts(found), &parts(wanted)),
        _ => found == wanted,
    }
}

/// The parts of a property string or list, which PVE separates in several ways.
pub fn parts(value: &Value) -> Vec<String> {
    if let Value::Array(items) = value {
        return items.iter().flat_map(parts).collect();
    }
    if let Value::Object(fields) = value {
        let pairs = fields.iter();
        let pairs = pairs.filter_map(|(key, value)| Some(format!("{key}={}", as_text(value)?)));
        return pairs.collect();
    }
    let text = as_text(value).unwrap_or_default();
    text.split(|c: char| matches!(c, ',' | ';' | '\0') || c.is_whitespace())
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Whether each wanted part is among those found, however PVE writes it.
pub(super) fn has_parts(found: &[String], wanted: &[String]) -> bool {
    wanted
        .iter()
        .all(|wanted| found.iter().any(|found| is_part(found, wanted)))
}

/// Whether PVE's way to write a part is what was asked for: `virtio=BC:24:…` is `virtio`, `firewall=1` is `firewall=on`, and a
/// size may have been rounded up.
fn is_part(found: &str, wanted: &str) -> bool {
    let Some((key, value)) = wanted.split_once('=') else {
        let name = found.split_once('=').map_or(found, |(name, _)| name);
        return name.eq_ignore_ascii_case(wanted) || found.eq_ignore_ascii_case(wanted);
    };
    let Some(found) = found
        .strip_prefix(key)
        .and_then(|rest| rest.strip_prefix('='))
    else {
        return false;
    };
    match (key, parse_size(found), parse_size(value)) {
        ("size", Some(found), Some(wanted)) => found >= wanted,
        _ => {
            found.eq_ignore_ascii_case(value)
                || truth(found).is_some_and(|it| truth(value) == Some(it))
        }
    }
}

fn truth(word: &str) -> Option<bool> {
    match word {
        "1" | "on" | "yes" | "true" => Some(true),
        "0" | "off" | "no" | "false" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use pve::Request;
    use serde_json::json;

    use super::*;
    use crate::plan::{Check, Expect};

    fn holds(expect: Expect, answer: &Value) -> bool {
        let check = Check::list(Request::get("/x"), "", expect);
        check.holds(answer)
    }

    fn words(list: &[&str]) -> Vec<String> {
        list.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn values_are_compared_as_they_read() {
        let config = json!({"memory": "4096", "cores": 2, "description": "a\n"});
        assert!(holds(Expect::Is("memory".into(), json!(4096)), &config));
        assert!(holds(Expect::Is("cores".into(), json!("2")), &config));
        assert!(holds(Expect::Is("description".into(), json!("a")), &config));
        assert!(holds(Expect::Is("onboot".into(), json!(null)), &config));
        assert!(!holds(Expect::Is("cores".into(), json!(null)), &config));
        assert!(!holds(Expect::Not("cores".into(), json!("2")), &config));
        assert!(holds(Expect::Not("cores".into(), json!(null)), &config));
    }

    /// The retention of a backup job comes back as an object; a list is no text, whatever is in it.
    #[test]
    fn an_object_reads_as_the_property_string_that_it_came_from() {
        let kept = json!({"keep-last": 3});
        assert!(reads_as(&kept, &json!("keep-last=3")));
        assert!(!reads_as(&kept, &json!("keep-last=4")));
        assert!(!reads_as(&json!(["keep-last=3"]), &json!("keep-last=3")));
    }

    #[test]
    fn a_property_string_has_its_parts_however_it_is_written() {
        let config = json!({"net0": "virtio=BC:24:11:00:01:05,bridge=vmbr0,firewall=1,tag=20,link_down=0", "scsi0": "a:b,size=10G"});
        let has = |parts: &[&str]| holds(Expect::Has("net0".into(), words(parts)), &config);
        assert!(has(&["virtio", "bridge=vmbr0", "tag=20", "firewall=on"]));
        assert!(has(&["virtio=bc:24:11:00:01:05"]));
        assert!(has(&["link_down=off"]) && !has(&["link_down=on"]));
        assert!(!has(&["tag=2"]) && !has(&["e1000"]) && !has(&["firewall=0"]));
        let size = |part: &str| holds(Expect::Has("scsi0".into(), words(&[part])), &config);
        assert!(size("size=10G") && size("size=10236M") && !size("size=11G"));
    }

    #[test]
    fn an_object_has_the_parts_of_a_property_string() {
        let job = json!({"prune-backups": {"keep-last": "1", "keep-weekly": 4}});
        let has = |part: &str| holds(Expect::Has("prune-backups".into(), words(&[part])), &job);
        assert!(has("keep-last=1") && has("keep-weekly=4"));
        assert!(!has("keep-last=2") && !has("keep-daily=1"));
        let is = |text: &str| holds(Expect::Is("prune-backups".into(), json!(text)), &job);
        assert!(is("keep-last=1,keep-weekly=4") && !is("keep-last=2"));
    }

    #[test]
    fn a_list_has_these_and_no_others() {
        let config = json!({"tags": "a;b"});
        let only = |list: &[&str]| holds(Expect::Only("tags".into(), words(list)), &config);
        assert!(only(&["B", "a"]));
        assert!(!only(&["a"]) && !only(&["a", "b", "c"]));
    }

    #[test]
    fn nowhere_means_in_no_row() {
        let nowhere = |rows: Value| holds(Expect::Nowhere("pending".into()), &rows);
        assert!(nowhere(json!([{"key": "a"}])) && nowhere(json!([])));
        assert!(!nowhere(json!([{"key": "a", "pending": 1}])) && !nowhere(json!(null)));
    }
}
