//! The API schema that every node serves at [`PATH`], written from the route tables. It tells what is simulated: a client
//! that reads it knows what it can ask for here.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde_json::{Map, Value, json};

use crate::api::{self, bit};
use crate::http::Response;
use crate::permission::Perm;
use crate::route::Route;
use crate::schema::property::Alias;
use crate::schema::{Format, Kind, Param, Properties, names};

/// Where a node serves it, to everybody.
pub const PATH: &str = "/pve-docs/api-viewer/apidoc.js";

/// The document, as PVE's web server gives it.
pub(crate) fn response() -> Response {
    static DOCUMENT: OnceLock<String> = OnceLock::new();
    let document = DOCUMENT.get_or_init(document);
    Response {
        status: 200,
        reason: "OK".to_owned(),
        content_type: Some("application/javascript"),
        body: document.clone().into_bytes(),
    }
}

/// JavaScript that assigns the tree, with code after it as PVE's has.
fn document() -> String {
    let tree = json!(branch("", &methods()));
    format!("const apiSchema = {tree};\n\nlet method2cmd = {{}};\n")
}

/// The methods of each path.
type Methods = BTreeMap<&'static str, Map<String, Value>>;

fn methods() -> Methods {
    let mut all = Methods::new();
    let routes = api::TABLES.iter().copied().flatten();
    for route in routes.filter(|route| route.path != "/") {
        let verbs = all.entry(route.path).or_default();
        verbs.insert(route.method.to_owned(), method(route));
    }
    all
}

/// The nodes of the tree right below a path.
fn branch(above: &str, methods: &Methods) -> Vec<Value> {
    let mut children: Vec<&str> = methods
        .keys()
        .filter_map(|path| path.strip_prefix(above)?.strip_prefix('/'))
        .filter_map(|below| below.split('/').next())
        .collect();
    children.sort_unstable();
    children.dedup();
    let nodes = children.into_iter().map(|text| {
        let path = format!("{above}/{text}");
        let below = branch(&path, methods);
        let mut node = json!({"path": path, "text": text, "leaf": bit(below.is_empty())});
        if let Some(info) = methods.get(path.as_str()) {
            node["info"] = json!(info);
        }
        if !below.is_empty() {
            node["children"] = json!(below);
        }
        node
    });
    nodes.collect()
}

/// One method. What it gives is known to its handler alone.
fn method(route: &Route) -> Value {
    let words: Vec<&str> = route
        .path
        .split('/')
        .filter(|part| !part.is_empty() && !part.starts_with('{'))
        .collect();
    let (verb, does) = match route.method {
        "GET" => ("read", "Reads"),
        "POST" => ("create", "Creates or runs"),
        "PUT" => ("update", "Changes"),
        _ => ("delete", "Deletes"),
    };
    let last = words.last().copied().unwrap_or_default();
    let mut method = json!({
        "name": format!("{verb}_{last}"),
        "description": format!("{does}: {}.", words.join(" ")),
        "method": route.method,
        "parameters": {"additionalProperties": 0, "properties": properties(route.all_params())},
        "allowtoken": bit(route.token),
    });
    if route.proxied {
        method["proxyto"] = json!("node");
    }
    if let Some(permissions) = permissions(&route.perm) {
        method["permissions"] = permissions;
    }
    method
}

fn permissions(perm: &Perm) -> Option<Value> {
    match perm {
        Perm::RootOnly => None,
        Perm::World => Some(json!({"user": "world"})),
        Perm::User => Some(json!({"user": "all"})),
        other => Some(json!({"check": check(other)})),
    }
}

/// A permission as PVE's schema writes it.
pub fn check(perm: &Perm) -> Value {
    let all = |name: &str, perms: &[Perm]| {
        let parts = perms.iter().map(check);
        std::iter::once(json!(name)).chain(parts).collect::<Value>()
    };
    match perm {
        Perm::World => json!("world"),
        Perm::User => json!("all"),
        Perm::RootOnly => Value::Null,
        Perm::On(path, privs) => json!(["perm", path, privs]),
        Perm::AnyOn(path, privs) => json!(["perm", path, privs, "any", 1]),
        Perm::IfGiven(name, perm) => {
            let mut perm = check(perm);
            if let Value::Array(parts) = &mut perm {
                parts.extend([json!("require_param"), json!(name)]);
            }
            perm
        }
        Perm::OwnUser => json!(["userid-param", "self"]),
        Perm::RealmOfUser => json!(["userid-param", "Realm.AllocateUser"]),
        Perm::GroupOfUser(privs) => json!(["userid-group", privs]),
        Perm::GroupsOfNewUser(privs) => json!(["userid-group", privs, "groups_param", "create"]),
        Perm::GroupsOfChangedUser(privs) => {
            json!(["userid-group", privs, "groups_param", "update"])
        }
        Perm::Modify(path) => json!(["perm-modify", path]),
        Perm::All(perms) => all("and", perms),
        Perm::Either(perms) => all("or", perms),
    }
}

fn properties<'a>(params: impl Iterator<Item = &'a Param>) -> Value {
    let named = |param: &Param| match param.count {
        0 => param.name.to_owned(),
        _ => format!("{}[n]", param.name),
    };
    let entries = params.map(|param| (named(param), parameter(param)));
    Value::Object(entries.collect())
}

/// A parameter as PVE's schema writes it.
pub fn parameter(param: &Param) -> Value {
    let mut entry = json!({"type": param.kind.name()});
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            entry[key] = value;
        }
    };
    set("optional", param.optional.then(|| bit(true)));
    set("minimum", param.range.0.map(Value::from));
    set("maximum", param.range.1.map(Value::from));
    set("minLength", param.length.0.map(Value::from));
    set("maxLength", param.length.1.map(Value::from));
    set(
        "enum",
        (!param.one_of.is_empty()).then(|| json!(param.one_of)),
    );
    set("requires", param.requires.map(Value::from));
    let format = param.format.as_ref().and_then(form);
    if param.kind == Kind::Array {
        let item = json!({"type": "string"});
        set(
            "items",
            Some(format.map_or(item, |form| json!({"type": "string", "format": form}))),
        );
    } else {
        set("format", format);
    }
    entry
}

/// The name of a form, or the keys of a property string. A form that PVE has no name for is left out.
fn form(format: &Format) -> Option<Value> {
    match format {
        Format::One(check) => names::of(*check).map(Value::from),
        Format::List(check) => names::of(*check).map(|name| json!(format!("{name}-list"))),
        Format::Properties(form) => Some(keys(form)),
    }
}

fn keys(form: &Properties) -> Value {
    let mut keys = properties(form.all());
    if let Some(key) = form.default_key
        && keys.get(key).is_some()
    {
        keys[key]["default_key"] = bit(true);
    }
    for Alias { names, value, key } in form.aliases {
        for name in *names {
            keys[*name] = match key {
                Some(key) => json!({"alias": value, "keyAlias": key}),
                None => json!({"alias": value}),
            };
        }
    }
    keys
}
