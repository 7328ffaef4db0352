//! The same by write_proxmox_api: like a request that a tool sends by an example, or made from sample values.

use pve::Request;
use pve::apidoc::{Format, Kind, Method, Parameter, Schema};
use serde_json::{Map, Value, json};
use tools::risk::Danger;
use tools::tool::Object;

pub(super) const NAME: &str = "write_proxmox_api";

/// What stands in the places of templates in the demo world.
const PLACES: &[(&str, &str)] = &[
    ("cidr", "10.9.9.0%2F24"),
    ("flag", "noout"),
    ("groupid", "family"),
    ("node", "pve1"),
    ("poolid", "lab"),
    ("pos", "0"),
    ("realm", "pve"),
    ("roleid", "PowerUser"),
    ("service", "pveproxy"),
    ("sid", "vm:102"),
    ("snapname", "before"),
    ("storage", "nas"),
    ("tokenid", "t"),
    ("userid", "alice@pve"),
    ("volume", "nas:iso%2Fdebian-13.iso"),
];

/// What parameters can hold, by their names, in the demo world.
const VALUES: &[(&str, &str)] = &[
    ("action", "DROP"),
    (
        "archive",
        "nas:backup/vzdump-qemu-100-2026_11_08-03_00_02.vma.zst",
    ),
    ("cidr", "10.9.9.0/24"),
    ("command", "shutdown"),
    ("content", "iso"),
    ("dev", "/dev/sdb"),
    ("device", "/dev/sdb"),
    ("devices", "/dev/sdb"),
    (
        "directory",
        "https://acme-v02.api.letsencrypt.org/directory",
    ),
    ("disk", "/dev/sdb"),
    ("email", "a@example.org"),
    ("iface", "vmbr9"),
    ("key", "ret"),
    ("newid", "9000"),
    ("password", "correct-horse-1"),
    ("path", "/vms/105"),
    ("resources", "vm:105"),
    ("roles", "PVEAuditor"),
    ("schedule", "02:30"),
    ("sid", "vm:105"),
    ("size", "+1G"),
    ("target", "pve2"),
    ("url", "https://example.org/x.iso"),
    ("userid", "x1@pve"),
    ("users", "alice@pve"),
    ("vmid", "9000"),
    ("vms", "105"),
];

/// What a parameter of this form can hold.
const FORMS: &[(&str, &str)] = &[
    ("CIDR", "10.9.9.0/24"),
    ("CIDRv4", "10.9.9.0/24"),
    ("CIDRv6", "fd00::/64"),
    ("IPorCIDR", "10.9.9.0/24"),
    ("address", "10.9.9.1"),
    ("address-list", "10.9.9.1"),
    ("email", "a@example.org"),
    ("ip", "10.9.9.1"),
    ("ipv4", "10.9.9.1"),
    ("ipv4mask", "255.255.255.0"),
    ("ipv6", "fd00::1"),
    ("mac-addr", "BC:24:11:00:09:09"),
    ("pve-node", "pve2"),
    ("pve-node-list", "pve2"),
    ("pve-poolid", "lab"),
    ("pve-storage-id", "nas"),
    ("pve-storage-server", "10.9.9.1"),
    ("pve-userid", "alice@pve"),
    ("pve-vmid", "105"),
    ("pve-vmid-list", "105"),
];

/// A value that PVE's schema takes for this parameter.
fn sample(parameter: &Parameter) -> String {
    if let Some(choice) = parameter.choices.first() {
        return choice.clone();
    }
    let known = VALUES.iter().find(|(name, _)| *name == parameter.name);
    let form = match &parameter.format {
        Some(Format::Named(form)) => FORMS.iter().find(|(name, _)| name == form),
        _ => None,
    };
    match (known.or(form), parameter.kind) {
        (Some((_, value)), _) => (*value).to_owned(),
        (None, Kind::Boolean) => "1".to_owned(),
        (None, Kind::Integer | Kind::Number) => {
            format!("{:.0}", parameter.minimum.unwrap_or(1.0).max(1.0))
        }
        (None, _) => {
            let shortest = parameter.shortest.unwrap_or_default().max(2);
            "x1".repeat(shortest.div_ceil(2))
        }
    }
}

/// Whether the cluster has the method, and the method the parameter.
pub(super) fn is_there(danger: &Danger, schema: &Schema) -> bool {
    let method = schema.method(danger.verb, &danger.path);
    method.is_some_and(|method| {
        let param = danger.param.as_deref();
        param.is_none_or(|name| method.parameter(name).is_some())
    })
}

/// Calls that may send it.
pub(super) fn calls(danger: &Danger, schema: &Schema, like: &[&Request]) -> Vec<Object> {
    let Some(method) = schema.method(danger.verb, &danger.path) else {
        return Vec::new();
    };
    let any = || {
        let param = danger.param.as_deref();
        param.and_then(|name| method.parameter(name)).map(sample)
    };
    let values: Vec<Option<String>> = match danger.values.as_slice() {
        [] => vec![any()],
        values => values.iter().cloned().map(Some).collect(),
    };
    let with = |value: &Option<String>| -> Vec<Object> {
        let like = like.iter().map(|it| (it.path.clone(), params_of(it)));
        let all = like.chain([samples(danger, method)]);
        all.map(|(path, params)| call(danger, value.as_deref(), &path, params))
            .collect()
    };
    values.iter().flat_map(with).collect()
}

fn call(
    danger: &Danger,
    value: Option<&str>,
    path: &str,
    mut params: Map<String, Value>,
) -> Object {
    if let (Some(name), Some(value)) = (&danger.param, value) {
        params.insert(name.clone(), json!(value));
    }
    let call = json!({"method": danger.verb.as_str(), "path": path, "params": params});
    call.as_object().cloned().unwrap()
}

/// The parameters of a tool's request.
fn params_of(request: &Request) -> Map<String, Value> {
    let params = request.params.iter().map(|(name, value)| {
        let value = match value {
            pve::Value::Bool(flag) => json!(flag),
            pve::Value::Int(number) => json!(number),
            pve::Value::Text(text) => json!(text),
            pve::Value::Hole(_) | pve::Value::Filled(_) => json!("correct-horse-1"),
        };
        (name.clone(), value)
    });
    params.collect()
}

/// A path and the required parameters of a method.
fn samples(danger: &Danger, method: &Method) -> (String, Map<String, Value>) {
    let vmid = if danger.path.contains("/lxc") {
        "200"
    } else {
        "105"
    };
    let parts = danger.path.split('/').map(|part| {
        let name = part
            .strip_prefix('{')
            .and_then(|part| part.strip_suffix('}'));
        let known = PLACES.iter().find(|(place, _)| Some(*place) == name);
        match (name, known) {
            (None, _) => part,
            (Some("vmid"), _) => vmid,
            (_, Some((_, value))) => value,
            (_, None) => "x1",
        }
    });
    let path = parts.collect::<Vec<_>>().join("/");
    let required = method.own_parameters().filter(|it| !it.optional);
    let params = required.map(|it| (it.name.clone(), json!(sample(it))));
    (path, params.collect())
}
