//! A tool that is one method of PVE's API is one in every supported version: with the least arguments nothing is missing,
//! and with all of them nothing is unknown, of another type, or out of bounds.

use serde_json::Value;
use tools::registry;
use tools::spec::Risk;
use tools::tool::{ApiMethod, ApiParam};

#[test]
fn a_plain_tool_is_a_method_of_every_version() {
    let mut wrong = Vec::new();
    for version in ["8.4", "9.1", "9.2"] {
        let Some(methods) = crate::schemas::schema(version) else {
            return;
        };
        for tool in registry::all() {
            let name = tool.spec().name;
            let ours = tool.methods();
            let mut said: Vec<_> = ours.iter().flat_map(|one| misfits(one, &methods)).collect();
            // Where the caller chooses among methods, each takes some of the arguments.
            if ours.len() > 1 {
                said.retain(|said| said.starts_with("no method"));
            }
            // What only looks is a GET; some GETs do more, and areas say which.
            if tool.spec().risk == Risk::Read
                && ours.iter().any(|ours| ours.method != pve::Method::Get)
            {
                said.push("a read that is no GET".to_owned());
            }
            wrong.extend(
                said.iter()
                    .map(|said| format!("{name} on {version}: {said}")),
            );
        }
    }
    let plain = registry::all().filter(|tool| !tool.methods().is_empty());
    eprintln!("{} tools are methods and nothing more", plain.count());
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Whether a path of ours, in which a word may be chosen already, is of this template.
fn fits(template: &str, ours: &str) -> bool {
    let (theirs, ours) = (template.split('/'), ours.split('/'));
    theirs.clone().count() == ours.clone().count()
        && (theirs.zip(ours)).all(|(part, word)| part.starts_with('{') || part == word)
}

fn misfits(ours: &ApiMethod, methods: &[Value]) -> Vec<String> {
    let found = methods.iter().find(|method| {
        method["method"] == ours.method.as_str()
            && fits(method["path"].as_str().unwrap(), &ours.path)
    });
    let Some(found) = found else {
        return vec![format!("no method {} {}", ours.method, ours.path)];
    };
    let none = serde_json::Map::new();
    let known = found["parameters"]["properties"]
        .as_object()
        .unwrap_or(&none);
    let mut said = Vec::new();
    for param in &ours.params {
        let family = param.name.trim_end_matches(|c: char| c.is_ascii_digit());
        match known
            .get(param.name)
            .or_else(|| known.get(&format!("{family}[n]")))
        {
            None => said.push(format!("takes no {}", param.name)),
            Some(theirs) => said.extend(misfit(param, theirs)),
        }
    }
    let path = found["path"].as_str().unwrap();
    for (name, theirs) in known {
        let given = path.contains(&format!("{{{name}}}"))
            || ours
                .params
                .iter()
                .any(|param| param.name == name && param.always);
        let must = !pve::lenient::as_bool(&theirs["optional"]).unwrap_or(false);
        if must && !given {
            said.push(format!("{name} may be missing"));
        }
    }
    said
}

/// What a tool takes for a parameter that PVE does not.
fn misfit(param: &ApiParam, theirs: &Value) -> Option<String> {
    let (name, ours) = (param.name, &param.takes);
    let kind = theirs["type"].as_str().unwrap_or("string");
    let fits = match ours["type"].as_str().unwrap() {
        "integer" => matches!(kind, "integer" | "number"),
        "number" => kind == "number",
        "boolean" => kind == "boolean",
        _ => matches!(kind, "string" | "array") || ours["enum"].is_array(),
    };
    if !fits {
        return Some(format!("{name} is a {kind}, not a {}", ours["type"]));
    }
    let words = |value: &Value| {
        let words = value.as_array()?;
        let words = words.iter().filter_map(pve::lenient::as_text);
        Some(words.collect::<Vec<_>>())
    };
    if let (Some(ours), Some(theirs)) = (words(&ours["enum"]), words(&theirs["enum"]))
        && let Some(word) = ours.iter().find(|word| !theirs.contains(word))
    {
        return Some(format!("{name} cannot be {word}"));
    }
    let below = ours["minimum"].as_i64().zip(theirs["minimum"].as_i64());
    let above = ours["maximum"].as_i64().zip(theirs["maximum"].as_i64());
    let out = below.is_some_and(|(ours, theirs)| ours < theirs)
        || above.is_some_and(|(ours, theirs)| ours > theirs);
    out.then(|| format!("{name} is out of bounds"))
}

#[test]
fn what_does_not_fit_is_told() {
    let theirs = serde_json::json!([{"method": "PUT", "path": "/x/{id}", "parameters": {"properties": {
        "id": {"type": "string"},
        "size": {"type": "integer", "maximum": 8},
        "kind": {"type": "string", "enum": ["a", "b"], "optional": 1},
    }}}]);
    let param = |name, takes| ApiParam {
        name,
        takes,
        always: false,
    };
    let ours = ApiMethod {
        method: pve::Method::Put,
        path: "/x/{name}".to_owned(),
        params: vec![
            param("size", serde_json::json!({"type": "integer", "maximum": 9})),
            param("kind", serde_json::json!({"type": "string", "enum": ["c"]})),
            param("more", serde_json::json!({"type": "boolean"})),
        ],
    };
    assert_eq!(
        misfits(&ours, theirs.as_array().unwrap()),
        [
            "size is out of bounds",
            "kind cannot be c",
            "takes no more",
            "size may be missing"
        ]
    );
}
