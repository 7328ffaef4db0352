//! `test://…`: resources of the suite, found, read and listened to like all others.

use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};

use super::contents::PNG;

const TEXT: &str = "test://static-text";
const BINARY: &str = "test://static-binary";
const WATCHED: &str = "test://watched-resource";
const TEMPLATE: &str = "test://template/{id}/data";

/// One of them, by its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::mcp) struct Fixture {
    uri: String,
}

/// With ours in front.
pub(in crate::mcp) fn and_ours(mut ours: Vec<Resource>) -> Vec<Resource> {
    ours.extend([
        Resource::new(TEXT, "static-text").with_mime_type("text/plain"),
        Resource::new(BINARY, "static-binary").with_mime_type("image/png"),
        Resource::new(WATCHED, "watched-resource").with_mime_type("application/json"),
    ]);
    ours
}

/// With ours in front.
pub(in crate::mcp) fn templates_and_ours(mut ours: Vec<ResourceTemplate>) -> Vec<ResourceTemplate> {
    ours.push(ResourceTemplate::new(TEMPLATE, "template").with_mime_type("application/json"));
    ours
}

impl Fixture {
    /// The one at that address.
    pub(in crate::mcp) fn at(uri: &str) -> Option<Self> {
        let is_one = [TEXT, BINARY, WATCHED].contains(&uri) || id(uri).is_some();
        is_one.then(|| Self {
            uri: uri.to_owned(),
        })
    }

    /// Its address.
    pub(in crate::mcp) fn uri(&self) -> String {
        self.uri.clone()
    }

    /// What it shows.
    pub(in crate::mcp) fn shown(&self) -> Value {
        match id(&self.uri) {
            Some(id) => {
                json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")})
            }
            None => json!({"uri": self.uri}),
        }
    }

    /// What is read of it, where that is no JSON.
    pub(in crate::mcp) fn contents(&self) -> Option<ResourceContents> {
        let contents = match self.uri.as_str() {
            TEXT => {
                let text = "This is the content of the static text resource.";
                ResourceContents::text(text, TEXT).with_mime_type("text/plain")
            }
            BINARY => ResourceContents::blob(PNG, BINARY).with_mime_type("image/png"),
            _ => return None,
        };
        Some(contents)
    }
}

fn id(uri: &str) -> Option<&str> {
    let (before, after) = TEMPLATE.split_once("{id}")?;
    let id = uri.strip_prefix(before)?.strip_suffix(after)?;
    (!id.is_empty() && !id.contains('/')).then_some(id)
}
