//! The filter words of lists: `tag:prod status:running web`.

use pve::Resource;

use crate::fault::Fault;
use crate::schema;

/// What can stand before the colon.
const FIELDS: &[&str] = &["name", "vmid", "tag", "pool", "node", "status", "type"];

/// Words that all must match.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Filter(Vec<Term>);

#[derive(Debug, PartialEq, Eq)]
struct Term {
    field: Option<&'static str>,
    value: String,
}

impl Filter {
    pub(super) fn parse(text: &str) -> Result<Self, Fault> {
        text.split_whitespace()
            .map(Term::parse)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    pub(super) fn matches(&self, resource: &Resource) -> bool {
        self.0.iter().all(|term| term.matches(resource))
    }
}

impl Term {
    fn parse(word: &str) -> Result<Self, Fault> {
        let Some((name, value)) = word.split_once(':') else {
            return Ok(Self {
                field: None,
                value: word.to_lowercase(),
            });
        };
        let Some(field) = FIELDS.iter().find(|field| **field == name) else {
            let near = schema::nearest(name, FIELDS.iter().copied());
            let hint = near
                .map(|near| format!("did you mean {near}:{value}? "))
                .unwrap_or_default();
            return Err(Fault::bad_input(format!(
                "filter: there is no field \"{}\"",
                crate::clean::line(name)
            ))
            .hint(format!("{hint}the fields are {}", FIELDS.join(", "))));
        };
        Ok(Self {
            field: Some(field),
            value: value.to_lowercase(),
        })
    }

    fn matches(&self, resource: &Resource) -> bool {
        let is = |text: Option<&str>| text.is_some_and(|text| text.to_lowercase() == self.value);
        let has =
            |text: Option<&str>| text.is_some_and(|text| text.to_lowercase().contains(&self.value));
        let vmid = resource.vmid.map(|vmid| vmid.to_string());
        match self.field {
            None => has(resource.name.as_deref()) || has(resource.id.as_deref()),
            Some("name") => has(resource.name.as_deref()),
            Some("vmid") => is(vmid.as_deref()),
            Some("tag") => resource
                .tags
                .as_deref()
                .unwrap_or_default()
                .split([';', ',', ' '])
                .any(|tag| is(Some(tag))),
            Some("pool") => is(resource.pool.as_deref()),
            Some("node") => is(resource.node.as_ref().map(pve::NodeName::as_str)),
            Some("status") if self.value == "template" => resource.template,
            Some("status") => is(resource.status.as_deref()) && !resource.template,
            Some("type") => is(Some(resource.kind.as_str())),
            Some(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn web() -> Resource {
        serde_json::from_value(
            json!({"type": "qemu", "id": "qemu/100", "vmid": 100, "name": "Web", "node": "pve1",
            "status": "running", "tags": "prod;web", "pool": "prod"}),
        )
        .unwrap()
    }

    #[test]
    fn all_words_must_match() {
        for filter in [
            "",
            "web",
            "100",
            "tag:prod status:running",
            "name:we node:pve1 type:qemu pool:prod vmid:100",
        ] {
            assert!(Filter::parse(filter).unwrap().matches(&web()), "{filter}");
        }
        for filter in [
            "db",
            "tag:pro",
            "status:stopped",
            "tag:prod node:pve2",
            "vmid:10",
        ] {
            assert!(!Filter::parse(filter).unwrap().matches(&web()), "{filter}");
        }
    }

    #[test]
    fn an_unknown_field_is_an_error_and_not_an_empty_list() {
        let fault = Filter::parse("tags:prod").unwrap_err();
        assert!(fault.hint.unwrap().starts_with("did you mean tag:prod?"));
    }
}
