//! The reader of API schemas against what the simulator serves, against the real ones of PVE 8.4, 9.1 and 9.2, and its
//! checks against what a real PVE took and refused. The real ones are skipped where that reference is absent.

use std::path::PathBuf;

use pve::Method;
use pve::apidoc::{Format, Permission, SCHEMA_PATH, Schema};
use serde_json::{Map, Value, json};

use super::simulated::{homelab_as, root_token};

fn reference(file: &str) -> Option<String> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let root = std::env::var_os("OXMOX_REFERENCE").map_or(root, PathBuf::from);
    let text = std::fs::read_to_string(root.join(file)).ok();
    if text.is_none() {
        eprintln!("skipped: no {file}");
    }
    text
}

fn methods(version: &str) -> Option<Vec<Value>> {
    let text = reference(&format!("pve-api/apidoc-{version}.json"))?;
    Some(serde_json::from_str(&text).unwrap())
}

#[test]
fn no_method_and_no_parameter_of_the_real_schemas_is_lost() {
    for version in ["8.4", "9.1", "9.2"] {
        let Some(list) = methods(version) else { return };
        let flat = Schema::from_methods(&list);
        // The same as a node serves it: a tree, in JavaScript, with code after it.
        let tree: Vec<_> = list
            .iter()
            .map(|method| json!({"path": method["path"], "info": {method["method"].as_str().unwrap(): method}}))
            .collect();
        let served = format!(
            "const apiSchema = {};\nExt.onReady(() => {{}});",
            json!(tree)
        );
        let served = Schema::parse(served.as_bytes()).unwrap();
        assert_eq!(flat.methods().len(), list.len(), "{version}");
        for (info, (one, other)) in list.iter().zip(flat.methods().iter().zip(served.methods())) {
            assert_eq!(one.to_string(), other.to_string());
            assert_eq!(one.path, info["path"].as_str().unwrap());
            assert_eq!(one.name, info["name"].as_str().unwrap());
            let none = Map::new();
            let properties = info["parameters"]["properties"]
                .as_object()
                .unwrap_or(&none);
            let names: Vec<_> = one.parameters.iter().map(|it| &it.name).collect();
            assert_eq!(names, properties.keys().collect::<Vec<_>>(), "{one}");
            assert_eq!(
                matches!(one.permission, Permission::RootOnly),
                info["permissions"].is_null(),
                "{one}"
            );
        }
    }
}

#[test]
fn every_real_method_is_found_by_its_own_path() {
    for version in ["8.4", "9.1", "9.2"] {
        let Some(list) = methods(version) else { return };
        let schema = Schema::from_methods(&list);
        for method in schema.methods() {
            let path = method.path.replace(['{', '}'], "");
            let found = schema.find(method.verb, &path).unwrap();
            assert_eq!(found.method.to_string(), method.to_string());
        }
    }
}

fn params(exchange: &Value) -> Map<String, Value> {
    let pairs = [&exchange["query"], &exchange["form"]];
    let mut all: Map<String, Value> = Map::new();
    for pair in pairs.into_iter().filter_map(Value::as_array).flatten() {
        let (key, value) = (pair[0].as_str().unwrap(), pair[1].clone());
        match all.get_mut(key) {
            None => drop(all.insert(key.to_owned(), value)),
            Some(Value::Array(list)) => list.push(value),
            Some(one) => *one = json!([one.clone(), value]),
        }
    }
    all
}

fn verb(exchange: &Value) -> Option<Method> {
    serde_json::from_value(exchange["method"].clone()).ok()
}

/// Whether PVE refused by its schema alone. What it finds out later, or by a pattern, is not for us to know beforehand.
fn is_by_schema(errors: &Value) -> bool {
    let text = errors.to_string();
    [
        "is not optional",
        "not defined in schema",
        "type check",
        "minimum",
        "maximum",
        "enumeration",
        "invalid format",
    ]
    .iter()
    .any(|words| text.contains(words))
}

#[test]
fn what_a_real_pve_took_passes_and_what_it_refused_does_not() {
    let (Some(list), Some(exchanges)) = (methods("9.1"), reference("pve-real/exchanges.jsonl"))
    else {
        return;
    };
    let schema = Schema::from_methods(&list);
    let (mut passed, mut refused) = (0, 0);
    let (mut wronged, mut missed) = (Vec::new(), Vec::new());
    for exchange in exchanges.lines() {
        let exchange: Value = serde_json::from_str(exchange).unwrap();
        let (Some(verb), Some(path)) = (verb(&exchange), exchange["path"].as_str()) else {
            continue;
        };
        let params = params(&exchange);
        // Another framing than a form, and values that were blacked out, are not what PVE got.
        let is_plain = ["prefix", "raw_body", "framing"]
            .iter()
            .all(|key| exchange[key].is_null())
            && params
                .values()
                .all(|value| value.as_str().is_none_or(|text| !text.starts_with('<')));
        let Ok(found) = schema.find(verb, path) else {
            continue;
        };
        let problems = found.check(&params);
        let id = exchange["id"].as_str().unwrap().to_owned();
        match exchange["status"].as_i64() {
            Some(200) if is_plain && !problems.is_empty() => wronged.push((id, problems)),
            Some(200) if is_plain => passed += 1,
            Some(400) if is_plain && is_by_schema(&exchange["body"]["errors"]) => {
                refused += 1;
                if problems.is_empty() {
                    missed.push((id, exchange["body"]["errors"].to_string()));
                }
            }
            _ => {}
        }
    }
    eprintln!("{passed} passed, {refused} refused");
    assert!(wronged.is_empty(), "{wronged:#?}");
    assert!(passed > 900);
    // Forms that are not checked here, and booleans in words, which are sent as 0 and 1.
    assert!(missed.len() <= 24, "{missed:#?}");
}

#[tokio::test]
async fn what_the_simulator_serves_is_read_whole() {
    let (_sim, reader, _) = homelab_as(root_token()).await;
    let document = reader.document(SCHEMA_PATH).await.unwrap();
    let schema = Schema::parse(&document).unwrap();
    let routes: Vec<_> = sim::api::TABLES
        .iter()
        .copied()
        .flatten()
        .filter(|route| route.path != "/")
        .collect();
    assert_eq!(schema.methods().len(), routes.len());
    for route in routes {
        let verb = serde_json::from_value(json!(route.method)).unwrap();
        let method = schema.method(verb, route.path).unwrap();
        assert_eq!(method.allows_token, route.token, "{method}");
        assert_eq!(
            method.parameters.len(),
            route.all_params().count(),
            "{method}"
        );
        for param in route.all_params() {
            let name = if param.count == 0 {
                param.name.to_owned()
            } else {
                format!("{}0", param.name)
            };
            let read = method.parameter(&name).unwrap();
            assert_eq!(read.optional, param.optional, "{method} {name}");
            assert_eq!(read.choices, param.one_of, "{method} {name}");
            assert_eq!(read.requires.as_deref(), param.requires, "{method} {name}");
        }
    }
    let config = "/nodes/{node}/qemu/{vmid}/config";
    let config = schema.method(Method::Put, config).unwrap();
    let found = config.parameter("net0").and_then(|it| it.format.as_ref());
    let Some(Format::Properties(keys)) = found else {
        panic!("{found:?}")
    };
    let virtio = keys.iter().find(|key| key.name == "virtio").unwrap();
    assert_eq!(virtio.alias.as_deref(), Some("macaddr"));
    let vmid = config.parameter("vmid").unwrap();
    assert_eq!(vmid.format, Some(Format::Named("pve-vmid".to_owned())));
}
