//! search_proxmox_api

use pve::Method as Verb;
use pve::apidoc::{Found, Method, Schema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::describe::{self, Described};
use super::place;
use crate::context::Context;
use crate::fault::Fault;
use crate::need::Need;
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::{Answer, Reads};
use crate::words::{self, line};

/// How many methods are shown.
const SHOWN: usize = 6;

/// Finds methods of the PVE API by what they do, and describes the best one: parameters, privileges, risk.
///
/// Use it before read_proxmox_api or write_proxmox_api where you do not know path and parameters; it names the tool that
/// does better. "PUT /cluster/options" describes that very method. It looks in the cluster's own schema; nothing is
/// changed and no privileges are needed.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SearchApi {
    /// Such as "add a firewall rule to a container".
    query: String,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Hits {
    /// The best first.
    methods: Vec<String>,
    /// The best one.
    #[schemars(with = "crate::tool::Object")]
    best: Described,
}

impl Reads for SearchApi {
    const SPEC: Spec = Spec {
        name: "search_proxmox_api",
        title: "Find methods of the API",
        toolset: Toolset::Core,
        risk: Risk::Read,
        idempotent: true,
        special: Special::NONE,
        needs: Need::Nothing,
        examples: &[
            Example {
                ask: "How do I add a firewall rule to a container?",
                args: r#"{"query": "add a firewall rule to a container"}"#,
            },
            Example {
                ask: "What can be set on a node's DNS?",
                args: r#"{"query": "PUT /nodes/{node}/dns"}"#,
            },
        ],
    };

    type Answer = Hits;

    async fn read(self, cx: &Context) -> Result<Hits, Fault> {
        // Clusters of one version have one API; where they differ, the caller can say which.
        let cluster = cx.clusters.first();
        let cluster = cluster.ok_or_else(|| Fault::refused("no cluster is configured"))?;
        let schema = cluster.schema().await?;
        let query = words::clip(self.query.trim(), 400);
        if let Some(found) = named(&schema, &query) {
            let found = found?;
            return Ok(Hits {
                methods: vec![found.method.to_string()],
                best: describe::method(found.method, &cx.registry),
            });
        }
        let hits = cluster.schema_index().await?.find(&query, SHOWN);
        let methods: Vec<&Method> = hits
            .iter()
            .filter_map(|hit| schema.methods().get(hit.document))
            .collect();
        let best = methods.first().ok_or_else(|| {
            Fault::bad_input("no method of the API fits these words")
                .hint("say what is to be done to what, such as \"resize a disk of a VM\"")
        })?;
        Ok(Hits {
            methods: methods.iter().map(|method| line(method)).collect(),
            best: describe::method(best, &cx.registry),
        })
    }
}

/// The method that a query names outright: "PUT /cluster/options".
fn named<'a>(schema: &'a Schema, query: &str) -> Option<Result<Found<'a>, Fault>> {
    let (verb, path) = query.split_once(' ')?;
    let verb = match verb.to_ascii_uppercase().as_str() {
        "GET" => Verb::Get,
        "POST" => Verb::Post,
        "PUT" => Verb::Put,
        "DELETE" => Verb::Delete,
        _ => return None,
    };
    let path = path.trim();
    // A template is no path, but its parts are.
    let path: String = path.chars().filter(|c| !matches!(c, '{' | '}')).collect();
    path.starts_with('/')
        .then(|| place::find(schema, verb, &path))
}

fn line(method: &Method) -> String {
    let said = words::clip(&method.description, 80);
    if said.is_empty() {
        method.to_string()
    } else {
        format!("{method}: {said}")
    }
}

impl Answer for Hits {
    fn text(&self) -> String {
        let mut out = String::new();
        if self.methods.len() > 1 {
            for method in &self.methods {
                line!(out, "{method}");
            }
            out.push('\n');
        }
        out.push_str(&self.best.text());
        out
    }
}
