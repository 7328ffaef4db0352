//! read_proxmox_api

use std::sync::Arc;

use pve::apidoc::{Found, Permission, Schema};
use pve::{Method, Request, Value as Parameter};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::shape::{Shaped, Wanted};
use super::{needs, place, refused};
use crate::clean;
use crate::context::{Cluster, Context};
use crate::fault::Fault;
use crate::need::Need;
use crate::paths::fits;
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::{Object, Reads};
use crate::words;

/// Reads any path of the PVE API with GET, checked against the cluster's own API schema.
///
/// Use it for what no other tool shows: firewall rules, backup jobs, HA, SDN, users. get_proxmox_vm_status and
/// list_proxmox_resources are shorter for guests. Reads inside a guest, and those for which a node connects to another
/// host, go through write_proxmox_api. Needs the privileges that PVE checks for the path.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ReadApi {
    /// Such as "/nodes/pve1/qemu/105/firewall/rules".
    path: String,
    /// What PVE is asked with it.
    #[serde(default)]
    params: Object,
    /// Only these fields.
    #[serde(default)]
    fields: Vec<String>,
    /// Only rows that contain this text.
    filter: Option<String>,
    /// Rows at most.
    #[schemars(range(min = 1, max = 500))]
    limit: Option<usize>,
    /// The last next_cursor.
    cursor: Option<String>,
}

impl Reads for ReadApi {
    const SPEC: Spec = Spec {
        name: "read_proxmox_api",
        title: "Read any path of the API",
        toolset: Toolset::Core,
        risk: Risk::Read,
        idempotent: true,
        special: Special::NONE,
        needs: Need::Nothing,
        examples: &[
            Example {
                ask: "Which backup jobs are there?",
                args: r#"{"path": "/cluster/backup"}"#,
            },
            Example {
                ask: "Which ISO images does pve1 have?",
                args: r#"{"path": "/nodes/pve1/storage/local/content", "params": {"content": "iso"}, "fields": ["volid", "size"]}"#,
            },
            Example {
                ask: "Which name servers does pve1 use?",
                args: r#"{"path": "/nodes/pve1/dns"}"#,
            },
        ],
    };

    type Answer = Shaped;

    async fn read(self, cx: &Context) -> Result<Shaped, Fault> {
        if self.params.get("download").and_then(pve::lenient::as_bool) == Some(true) {
            return Err(Fault::refused("a file is no answer that can be shown")
                .hint("leave download out; what is too long comes in pages"));
        }
        let cluster = place::cluster(cx, &self.path).await?;
        match cluster.schema().await {
            Ok(schema) => self.checked(&cluster, &schema).await,
            Err(fault) => self.unchecked(&cluster, &fault).await,
        }
    }
}

impl ReadApi {
    async fn checked(self, cluster: &Arc<Cluster>, schema: &Schema) -> Result<Shaped, Fault> {
        let found = place::find(schema, Method::Get, &self.path)?;
        refuse(&found.method.path, &self.path)?;
        let request = found.request(&self.params);
        let request = request.map_err(|problems| place::wrong(found.method, &problems))?;
        let answer = self.ask(cluster, request).await;
        let answer = answer.map_err(|error| explained(&error, &found, &self.params))?;
        let is_empty = answer.as_array().is_some_and(Vec::is_empty);
        let note = is_empty.then(|| hidden(&found, &self.params)).flatten();
        let mut shaped = Shaped::of(answer, &self.wanted())?;
        shaped.notes.extend(note);
        Ok(shaped)
    }

    /// Without a schema the path says all that is known, decoded as PVE will decode it.
    async fn unchecked(self, cluster: &Arc<Cluster>, why: &Fault) -> Result<Shaped, Fault> {
        let path = self.path.trim();
        let path = path.strip_prefix("/api2/json").unwrap_or(path).to_owned();
        refuse(&plain(&path), &self.path)?;
        let mut request = Request::get(path);
        for (name, value) in self.params.iter().filter(|(_, value)| !value.is_null()) {
            let text = pve::lenient::as_text(value).ok_or_else(|| {
                Fault::bad_input(format!("{name} must be a text, a number or a boolean"))
            })?;
            request = request.with(name, Parameter::Text(text));
        }
        let answer = self.ask(cluster, request).await?;
        let mut shaped = Shaped::of(answer, &self.wanted())?;
        shaped
            .notes
            .push(format!("read unchecked: {}", why.message));
        Ok(shaped)
    }

    async fn ask(&self, cluster: &Cluster, request: Request) -> Result<Value, pve::Error> {
        let path = request.path.clone();
        let mut answer = cluster.pve.get::<Value>(request).await?;
        clean::answer(&mut answer, &path);
        Ok(answer)
    }

    fn wanted(self) -> Wanted {
        Wanted {
            fields: self.fields,
            filter: self.filter,
            limit: self.limit,
            cursor: self.cursor,
        }
    }
}

/// What a GET of a path or template does. One that no row of the risk table is for reads, but for commands of the guest
/// agent, which are answered from inside the guest.
fn risk(path: &str) -> Risk {
    let of_agent = fits("/nodes/*/qemu/*/agent/**", path);
    if of_agent && !fits("/nodes/*/qemu/*/agent", path) {
        return Risk::Grant;
    }
    crate::risk::read_risk(path)
}

/// Whether a GET of a path or template is a read that is shown as it is.
pub(super) fn is_read(path: &str) -> bool {
    refused::instead(Method::Get, path).is_none() && risk(path) == Risk::Read
}

/// A path as PVE takes it apart: decoded, without empty parts.
fn plain(path: &str) -> String {
    let decoded = pve::decode_value(path);
    let parts = decoded.split('/').filter(|part| !part.is_empty());
    parts.fold(String::new(), |mut plain, part| {
        plain.push('/');
        plain.push_str(part);
        plain
    })
}

/// Refuses a GET that does more than read.
fn refuse(template: &str, path: &str) -> Result<(), Fault> {
    let (why, instead) = match (refused::instead(Method::Get, template), risk(template)) {
        (Some(instead), _) => ("is not a read", instead),
        (None, Risk::Read) => return Ok(()),
        (None, Risk::Grant) => (
            "reads inside a guest or a backup",
            "vm_agent_get_info and run_proxmox_vm_command do that; write_proxmox_api with method GET asks a person first",
        ),
        (None, _) => (
            "makes the node connect to another host",
            "write_proxmox_api with method GET does it",
        ),
    };
    let path = words::clip(path, 120);
    Err(Fault::refused(format!("GET {path} {why}")).hint(instead))
}

/// PVE's refusal, with the privileges that the schema names.
fn explained(error: &pve::Error, found: &Found<'_>, params: &Object) -> Fault {
    let fault = Fault::from(error.clone());
    if error.status() != Some(403) {
        return fault;
    }
    match required(found, params) {
        Some(needs) => fault.hint(format!("it needs {needs}")),
        None => fault,
    }
}

/// The privileges of a call, in words.
fn required(found: &Found<'_>, params: &Object) -> Option<String> {
    let value = |name: &str| {
        let in_path = found.capture(name).map(str::to_owned);
        in_path.or_else(|| params.get(name).and_then(pve::lenient::as_text))
    };
    let needs = needs::of(&found.method.permission, &value)?;
    Some(needs::words(&needs)).filter(|words| !words.is_empty())
}

/// Why a list may be empty though PVE refused nothing.
fn hidden(found: &Found<'_>, params: &Object) -> Option<String> {
    match &found.method.permission {
        Permission::User(said) if said.is_empty() => {
            Some("PVE leaves out what the token may not see".to_owned())
        }
        Permission::User(said) => Some(format!(
            "PVE leaves out what the token may not see: {}",
            words::clip(said, 300)
        )),
        _ => required(found, params).map(|needs| format!("read with {needs}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tools that ask a server by a method that could ask any server, and ask one that the caller does not choose.
    const ASKS_ONE: &[&str] = &["get_acme_tos"];

    #[test]
    fn a_get_does_the_same_by_a_tool_as_by_the_api() {
        let mut wrong = Vec::new();
        for tool in crate::registry::all() {
            let spec = tool.spec();
            let methods = tool.methods();
            let reads = methods.iter().filter(|it| it.method == Method::Get);
            for path in reads.map(|read| &read.path) {
                // Reads inside a guest are recorded in the trail instead.
                let is_exempt = spec.special.looks_inside || ASKS_ONE.contains(&spec.name);
                if (spec.risk == Risk::Read) != is_read(path) && !is_exempt {
                    wrong.push(format!("{}: GET {path}", spec.name));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn a_path_is_judged_as_pve_splits_it() {
        assert_eq!(plain("/nodes/pve1//scan%2Fnfs/"), "/nodes/pve1/scan/nfs");
        assert!(!is_read("/nodes/pve1/qemu/106/agent/get-users"));
        assert!(!is_read("/nodes/pve1/scan/nfs") && is_read("/nodes/pve1/scan/zfs"));
        assert!(is_read("/nodes/pve1/qemu/106/agent") && is_read("/cluster/backup"));
    }
}
