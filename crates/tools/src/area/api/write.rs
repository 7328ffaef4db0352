//! write_proxmox_api

use std::sync::Arc;

use pve::apidoc::{Found, Permission, Schema};
use pve::{Method as Verb, Request};
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;

use super::declared::Declared;
use super::effect::Effects;
use super::risk::{self, Class};
use super::sent::{Sent as Parameters, is_telling};
use super::subject::Subject;
use super::{needs, place};
use crate::clean;
use crate::context::{Cluster, Context};
use crate::deed::Deed;
use crate::fault::Fault;
use crate::need::Need;
use crate::plan::{Blocker, Needs, Plan, Step};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::{Changes, Object};
use crate::words;

pub(super) const NAME: &str = "write_proxmox_api";

/// Sends POST, PUT or DELETE to any path of the PVE API, checked against the schema that the cluster itself serves.
///
/// Use it for what no other tool does: firewall, storages, jobs, HA, SDN, users. Guests have their own tools, such as
/// update_proxmox_vm; some paths are refused in favour of those. The risk is that of the path; deleting and granting
/// wait for a person. GET is for looks inside a guest or out of the cluster. Needs what PVE asks for the path. Undo:
/// in the answer, where there is one.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct WriteApi {
    /// The verb.
    method: Sent,
    /// Such as "/cluster/firewall/rules".
    path: String,
    /// By their names in PVE.
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
        allowed(&found)?;
        let request = found.request(&self.params);
        let request = request.map_err(|problems| place::wrong(found.method, &problems))?;
        // From here on what is sent counts, not what the caller wrote.
        let sent = Parameters::of(&request, &found.method.path);
        let declared = Declared::all(&found, &sent);
        let planning = Planning {
            cluster: &cluster,
            schema: &schema,
            found: &found,
            sent: &sent,
            declared: &declared,
        };
        planning.plan(cx, request).await
    }
}

/// What the method does, or what does it instead.
fn allowed(found: &Found<'_>) -> Result<(), Fault> {
    let method = found.method;
    match risk::class(method.verb, &method.path) {
        Class::Does(Risk::Read) => {
            Err(Fault::bad_input(format!("{method} changes nothing"))
                .hint("read_proxmox_api reads it"))
        }
        Class::Does(_) => Ok(()),
        Class::Elsewhere(instead) => {
            Err(Fault::refused(format!("{method} is not sent by this tool")).hint(instead))
        }
    }
}

/// A call whose method and parameters were found to be right.
struct Planning<'a> {
    cluster: &'a Arc<Cluster>,
    schema: &'a Schema,
    found: &'a Found<'a>,
    sent: &'a Parameters,
    declared: &'a [Declared],
}

impl Planning<'_> {
    async fn plan(&self, cx: &Context, mut request: Request) -> Result<Plan, Fault> {
        let (cluster, found) = (self.cluster, self.found);
        let summary = format!("{} {}", found.method.verb, words::clip(&found.path(), 160));
        let mut plan = Plan::new(&WriteApi::SPEC, &cluster.name, summary.clone());
        plan.raw = true;
        let subject = Subject::of(cx, cluster, found, (self.sent, self.declared)).await?;
        let mut looks = subject.bind(&mut plan).await?;
        let effects = Effects::of(&cluster.pve, found, (self.sent, self.schema), &mut plan).await;
        if let Some(digest) = effects.digest() {
            request = request.with("digest", digest);
        }
        let after = effects.tell(&mut plan);
        self.hide(&mut plan, &mut request);
        looks.extend(self.required(&mut plan));
        looks.dedup();
        plan.needs = Needs::All(looks);
        if after.is_none() && found.method.verb != Verb::Get {
            plan.warnings.push(
                "what it brings about cannot be read back: PVE's answer is all there will be"
                    .to_owned(),
            );
        }
        let says = match words::clip(&found.method.description, 100) {
            none if none.is_empty() => summary,
            does => format!("{summary} ({does})"),
        };
        let mut step = Step::request(says, request);
        step = if risk::confides(found.method.verb, &found.method.path, self.sent) {
            step.confides(words::clip(&found.path(), 80))
        } else {
            step.shows()
        };
        step.after = after;
        plan.steps.push(step);
        Ok(plan)
    }

    /// The privileges of the call, as far as the schema tells, and what no token can do.
    fn required(&self, plan: &mut Plan) -> Option<Needs> {
        let value = |name: &str| {
            let in_path = self.found.capture(name).map(str::to_owned);
            in_path.or_else(|| self.sent.shown_text(name))
        };
        let who = self.cluster.pve.identity();
        let is_token = who.contains('!');
        if is_token && !self.found.method.allows_token {
            plan.blockers.push(Blocker::new(
                "PVE takes no API token for it",
                "a person has to do it, or oxmox has to log in with a password",
            ));
        }
        let permission = &self.found.method.permission;
        if let Permission::User(said) | Permission::Check(_, said) = permission
            && !said.is_empty()
        {
            let said = words::clip(said, 200);
            plan.warnings.push(format!("privileges: {said}"));
        }
        match permission {
            Permission::RootOnly if who != "root@pam" => {
                plan.blockers.push(Blocker::new(
                    "PVE lets only root@pam itself do it, no token and no other user",
                    "a person has to do it as root@pam",
                ));
                None
            }
            permission => needs::of(permission, &value),
        }
    }

    /// Puts holes where secrets stand. Of an address only the password is one.
    fn hide(&self, plan: &mut Plan, request: &mut Request) {
        let template = &self.found.method.path;
        for (name, value) in &mut request.params {
            if clean::is_secret_at(name, template) {
                *value = plan.secret(name, SecretString::from(value.to_string()));
            } else if is_telling(name, template, value) {
                *value = plan.secret_address(&value.to_string());
            }
        }
    }
}
