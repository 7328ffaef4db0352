//! write_proxmox_api

use pve::Method as Verb;
use schemars::JsonSchema;
use serde::Deserialize;

use super::coded::Call;
use super::declared::Declared;
use super::raw::Raw;
use super::{place, read, refused};
use crate::context::Context;
use crate::deed::Deed;
use crate::fault::Fault;
use crate::need::Need;
use crate::plan::Plan;
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::{Changes, Object};

pub(super) const NAME: &str = "write_proxmox_api";

/// Sends POST, PUT or DELETE to any path of the PVE API, checked against the cluster's own API schema.
///
/// Prefer a tool where there is one, such as update_proxmox_vm. A request to an endpoint of another tool becomes that
/// tool's plan; if a parameter has no argument there, it is refused with the call to send. A person must approve any
/// other request; you cannot confirm it yourself. Streams, logins and cluster membership are refused. GET is for reads
/// inside a guest, and reads for which a node connects to another host. Needs the privileges that PVE checks for the
/// path. Undo: in the answer, where there is one.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct WriteApi {
    /// The HTTP method.
    method: Sent,
    /// Path, e.g. "/cluster/firewall/rules".
    path: String,
    /// Parameters by their names in PVE.
    #[serde(default)]
    params: Object,
}

/// What can be sent.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schemars(inline)]
enum Sent {
    Post,
    Put,
    Delete,
    Get,
}

impl From<Sent> for Verb {
    fn from(sent: Sent) -> Self {
        match sent {
            Sent::Post => Self::Post,
            Sent::Put => Self::Put,
            Sent::Delete => Self::Delete,
            Sent::Get => Self::Get,
        }
    }
}

impl Changes for WriteApi {
    const SPEC: Spec = Spec {
        name: NAME,
        title: "Write to any path of the API",
        toolset: Toolset::Core,
        risk: Risk::Grant,
        idempotent: false,
        special: Special::NONE,
        needs: Need::Nothing,
        examples: &[
            Example {
                ask: "Let HTTPS through to staging",
                args: r#"{"method": "POST", "path": "/nodes/pve1/qemu/105/firewall/rules", "params": {"type": "in", "action": "ACCEPT", "proto": "tcp", "dport": "443", "enable": 1}}"#,
            },
            Example {
                ask: "Note on pve1 where it stands",
                args: r#"{"method": "PUT", "path": "/nodes/pve1/config", "params": {"description": "rack 2"}}"#,
            },
            Example {
                ask: "Make a security group for web servers",
                args: r#"{"method": "POST", "path": "/cluster/firewall/groups", "params": {"group": "web", "comment": "http and https"}}"#,
            },
        ],
    };

    const DEEDS: &'static [Deed] = &[];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let cluster = place::cluster(cx, &self.path).await?;
        let schema = cluster.schema().await.map_err(|fault| Fault {
            message: format!("{}; nothing is written unchecked", fault.message),
            ..fault
        })?;
        let verb = Verb::from(self.method);
        let found = place::find(&schema, verb, &self.path)?;
        let method = found.method;
        let refusal = |instead| {
            Err(Fault::refused(format!("{method} is not sent by this tool")).hint(instead))
        };
        if let Some(instead) = refused::instead(verb, &method.path) {
            return refusal(instead);
        }
        if verb == Verb::Get && read::is_read(&method.path) {
            return Err(Fault::bad_input(format!("{method} changes nothing"))
                .hint("read_proxmox_api reads it"));
        }
        let request = found.request(&self.params);
        let request = request.map_err(|problems| place::wrong(method, &problems))?;
        let here = cx.on(&cluster);
        if let Some(declared) = Declared::of(&found, &request) {
            return declared.plan(&here, &found).await;
        }
        if let Some(call) = Call::of(&found, &request) {
            return call.plan(&here, &found, &request).await;
        }
        if let Some(instead) = refused::instead_of_raw(verb, &method.path) {
            return refusal(instead);
        }
        let raw = Raw {
            cluster: &cluster,
            schema: &schema,
            found: &found,
        };
        raw.plan(cx, request).await
    }
}
