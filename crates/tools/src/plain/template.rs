//! Paths and sentences with the values of arguments in them: `/nodes/{node}/qemu/{vmid}`.
//!
//! A part of a value can be asked for: `{userid|realm}` is the realm of a user, `{sid|id}` the guest of an HA resource,
//! `{id|guest}` the guest of a replication job, `{subnet|dashed}` a network as PVE writes it in names.

use serde_json::Value;

use crate::tool::Object;

/// The template filled in, as a path of the API.
pub(super) fn path(template: &str, values: &Object) -> String {
    filled(template, values, |word| pve::encode_segment(word))
}

/// The same for people, and for paths of access rules.
pub(super) fn fill(template: &str, values: &Object) -> String {
    filled(template, values, str::to_owned)
}

fn filled(template: &str, values: &Object, write: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, behind) = after.split_once('}').unwrap_or((after, ""));
        out.push_str(before);
        out.push_str(&write(&part(name, values)));
        rest = behind;
    }
    out.push_str(rest);
    out
}

fn part(name: &str, values: &Object) -> String {
    let (name, part) = name.split_once('|').unwrap_or((name, ""));
    let whole = word(values.get(name));
    if part == "dashed" {
        return whole.replace('/', "-");
    }
    let found = match part {
        "realm" => whole.rsplit_once('@').map(|(_, realm)| realm),
        "id" => whole.rsplit_once(':').map(|(_, id)| id),
        "guest" => whole.split_once('-').map(|(guest, _)| guest),
        _ => None,
    };
    found.map(str::to_owned).unwrap_or(whole)
}

/// A value as it stands in a path or a sentence.
pub(super) fn word(value: Option<&Value>) -> String {
    value.and_then(pve::lenient::as_text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parts_of_values() {
        let values = json!({"userid": "an@b@pve", "sid": "vm:105", "id": "100-0", "vmid": 100, "name": "a/b"});
        let values = values.as_object().expect("an object");
        assert_eq!(
            fill("/access/realm/{userid|realm}", values),
            "/access/realm/pve"
        );
        assert_eq!(fill("/vms/{sid|id}", values), "/vms/105");
        assert_eq!(
            fill("/vms/{id|guest} {vmid}{other}", values),
            "/vms/100 100"
        );
        assert_eq!(path("/pools/{name}", values), "/pools/a%2Fb");
        assert_eq!(path("/x/{name|dashed}", values), "/x/a-b");
    }
}
