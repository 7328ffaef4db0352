//! The table against PVE's own schemas: which methods, parameters and keys it does not name.

use std::collections::BTreeSet;

use pve::Method as Verb;
use pve::apidoc::{Format, Method, Parameter, Schema};

use super::row::{Level, Row};
use super::{setting, table};

/// What the table does not know of a schema, a line each.
fn unnamed(schema: &Schema) -> Vec<String> {
    let writes = schema.methods().iter().filter(|it| it.verb != Verb::Get);
    let mut missing = Vec::new();
    for method in writes {
        match rows_of(method).as_slice() {
            [row] => missing.extend(unnamed_parameters(method, row)),
            [] => missing.push(format!("{} {}", method.verb, method.path)),
            several => missing.push(format!(
                "{} {}: {} rows",
                method.verb,
                method.path,
                several.len()
            )),
        }
    }
    missing
}

/// The rows whose templates stand for this very method.
fn rows_of(method: &Method) -> Vec<&'static Row> {
    let of = |row: &&Row| {
        let mut paths = row.paths.iter();
        row.verb == method.verb && paths.any(|path| stands_for(path, &method.path))
    };
    table::rows().filter(of).collect()
}

fn stands_for(template: &str, path: &str) -> bool {
    ["qemu/{vmid}", "lxc/{vmid}"]
        .iter()
        .any(|guest| template.replace("{guest}", guest) == path)
}

fn unnamed_parameters(method: &Method, row: &Row) -> Vec<String> {
    let mut missing = Vec::new();
    for parameter in method.own_parameters() {
        // `net[n]` is judged as `net0`.
        let name = parameter.name.replace("[n]", "0");
        let at = format!("{} {} {}", method.verb, method.path, parameter.name);
        match row.rule(&name).map(|rule| &rule.level) {
            None => missing.push(at),
            Some(Level::Properties(properties)) => {
                let named = |key: &str| properties.keys.iter().any(|rule| rule.names(key));
                missing.extend(unnamed_keys(parameter, &at, &named));
            }
            Some(Level::Setting(_)) => {
                let named = |key: &str| setting::knows_key(&name, key);
                missing.extend(unnamed_keys(parameter, &at, &named));
            }
            Some(_) => {}
        }
    }
    missing
}

fn unnamed_keys(parameter: &Parameter, at: &str, named: &dyn Fn(&str) -> bool) -> Vec<String> {
    let Some(Format::Properties(keys)) = &parameter.format else {
        return Vec::new();
    };
    let missing = keys.iter().filter(|key| !named(&key.name));
    missing.map(|key| format!("{at} {}", key.name)).collect()
}

#[test]
fn every_method_parameter_and_key_of_every_version_is_named() {
    for (version, schema) in ["8.4", "9.1", "9.2"]
        .into_iter()
        .zip(crate::reference::schemas())
    {
        let missing = unnamed(&schema);
        eprintln!("PVE {version}: {} not named", missing.len());
        assert!(missing.is_empty(), "PVE {version}: {missing:#?}");
    }
}

#[test]
fn no_row_is_of_a_method_that_no_version_has() {
    let schemas = crate::reference::schemas();
    if schemas.is_empty() {
        return;
    }
    let methods: Vec<&Method> = schemas.iter().flat_map(Schema::methods).collect();
    let idle: BTreeSet<String> = table::rows()
        .flat_map(|row| row.paths.iter().map(move |path| (row.verb, *path)))
        .filter(|(verb, path)| {
            let is_of = |method: &&Method| method.verb == *verb && stands_for(path, &method.path);
            !methods.iter().any(is_of)
        })
        .map(|(verb, path)| format!("{verb} {path}"))
        .collect();
    assert!(idle.is_empty(), "{idle:#?}");
}

/// `just pve-diff FILE`: what a schema that PVE serves (apidoc.js) has beyond the table.
#[test]
fn a_new_schema_is_compared() {
    let Some(file) = std::env::var_os("OXMOX_NEW_SCHEMA") else {
        return;
    };
    let document = std::fs::read(&file).unwrap();
    let schema = match serde_json::from_slice::<Vec<serde_json::Value>>(&document) {
        Ok(methods) => Schema::from_methods(&methods),
        Err(_) => Schema::parse(&document).unwrap(),
    };
    let missing = unnamed(&schema);
    eprintln!("{} not named by the risk table", missing.len());
    for line in missing {
        eprintln!("  {line}");
    }
}
