//! Every planned request is one that the real PVE takes, by the schemas of 8.4, 9.1 and 9.2. The schemas are reference
//! data beside the repository; without them the test says so and checks nothing.

use pve::{Method, Request, Value as Parameter};
use serde_json::Value;
use tools::policy::Mode;
use tools::tool::Ran;

use crate::house::{House, object};
use crate::schemas::schema;

pub(super) fn schemas() -> Option<Vec<(String, Vec<Value>)>> {
    let load = |version: &str| Some((version.to_owned(), schema(version)?));
    ["8.4", "9.1", "9.2"].into_iter().map(load).collect()
}

#[tokio::test]
async fn every_planned_request_is_valid_in_every_supported_version() {
    let Some(schemas) = schemas() else {
        return;
    };
    let house = House::in_mode(Mode::Trusted).await;
    let context = house.context();
    for (tool, args) in super::changes() {
        let Ok(Ran::Plan(plan)) = tool.run(object(args), &context).await else {
            panic!("{} {args} gave no plan", tool.spec().name);
        };
        let checks = plan
            .steps
            .iter()
            .filter_map(|step| step.after.as_ref())
            .flat_map(tools::plan::Check::all)
            .map(|check| std::borrow::Cow::Borrowed(&check.read));
        for request in plan.requests().chain(checks) {
            for (version, methods) in &schemas {
                if let Err(why) = valid(&request, methods) {
                    panic!(
                        "{} {args} on {version}: {request:?}: {why}",
                        tool.spec().name
                    );
                }
            }
        }
    }
}

/// Method and path exist, every parameter is known and of its type, every required one is there.
pub(super) fn valid(request: &Request, methods: &[Value]) -> Result<(), String> {
    let verb = match request.method {
        Method::Get => "GET",
        Method::Post => "POST",
        Method::Put => "PUT",
        Method::Delete => "DELETE",
    };
    let found = methods.iter().find(|method| {
        method["method"] == verb && fits(method["path"].as_str().unwrap_or_default(), &request.path)
    });
    let method = found.ok_or("there is no such method")?;
    // A method that takes nothing has none.
    let none = serde_json::Map::new();
    let properties = method["parameters"]["properties"]
        .as_object()
        .unwrap_or(&none);
    for (name, value) in &request.params {
        // `scsi0` is declared as `scsi[n]`.
        let family = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let property = properties
            .get(name)
            .or_else(|| properties.get(&format!("{family}[n]")))
            .ok_or(format!("no parameter {name}"))?;
        let kind = property["type"].as_str().unwrap_or("string");
        let right = match value {
            Parameter::Bool(_) => kind == "boolean",
            Parameter::Int(number) => {
                matches!(kind, "integer" | "number")
                    && property["minimum"]
                        .as_i64()
                        .is_none_or(|least| *number >= least)
                    && property["maximum"]
                        .as_i64()
                        .is_none_or(|most| *number <= most)
            }
            // What has a fraction is written as text.
            Parameter::Text(text) if kind == "number" => text.parse::<f64>().is_ok(),
            // A repeated parameter is a list to PVE.
            _ => kind == "string" || kind == "array",
        };
        if !right {
            return Err(format!("{name} is a {kind}, got {value:?}"));
        }
        if let Some(allowed) = property["enum"].as_array()
            && let Parameter::Text(text) = value
            && !allowed.iter().any(|word| word == text)
        {
            return Err(format!("{name} cannot be {text}"));
        }
    }
    let template = method["path"].as_str().unwrap_or_default();
    for (name, property) in properties {
        let given = request.params.iter().any(|(param, _)| param == name)
            || template.contains(&format!("{{{name}}}"));
        if !given && !pve::lenient::as_bool(&property["optional"]).unwrap_or(false) {
            return Err(format!("{name} is missing"));
        }
    }
    Ok(())
}

fn fits(template: &str, path: &str) -> bool {
    let (mut left, mut right) = (template.split('/'), path.split('/'));
    loop {
        match (left.next(), right.next()) {
            (None, None) => return true,
            (Some(part), Some(word)) if part.starts_with('{') || part == word => {}
            _ => return false,
        }
    }
}
