//! The plan of a request that no tool plans: what it changes, as far as the schema tells. A person decides on it.

use std::sync::Arc;

use pve::apidoc::{Found, Permission, Schema};
use pve::{Method as Verb, Request};
use secrecy::SecretString;

use super::effect::Effects;
use super::sent::{Sent, is_telling};
use super::subject::Subject;
use super::write::WriteApi;
use super::{needs, refused};
use crate::clean;
use crate::context::{Cluster, Context};
use crate::fault::Fault;
use crate::plan::{Blocker, Needs, Plan, Step};
use crate::tool::Changes as _;
use crate::words;

/// A request whose method and parameters the schema has.
pub(super) struct Raw<'a> {
    pub(super) cluster: &'a Arc<Cluster>,
    pub(super) schema: &'a Schema,
    pub(super) found: &'a Found<'a>,
}

impl Raw<'_> {
    /// The plan, which is marked as raw.
    pub(super) async fn plan(&self, cx: &Context, mut request: Request) -> Result<Plan, Fault> {
        let (cluster, found) = (self.cluster, self.found);
        let method = found.method;
        let sent = &Sent::of(&request, &method.path);
        let summary = format!("{} {}", method.verb, words::clip(&found.path(), 160));
        let mut plan = Plan::new(&WriteApi::SPEC, &cluster.name, summary.clone());
        plan.raw = true;
        let subject = Subject::of(cx, cluster, found, sent).await?;
        let mut reads = subject.bind(&request, &mut plan).await?;
        let effects = Effects::of(&cluster.pve, found, (sent, self.schema), &mut plan).await;
        if let Some(digest) = effects.digest() {
            request = request.with("digest", digest);
        }
        let after = effects.tell(&mut plan);
        self.hide(&mut plan, &mut request);
        reads.extend(self.required(sent, &mut plan));
        reads.dedup();
        plan.needs = Needs::All(reads);
        if after.is_none() && method.verb != Verb::Get {
            plan.warnings.push(
                "The result cannot be verified: PVE's answer is all there will be.".to_owned(),
            );
        }
        let says = match words::clip(&method.description, 100) {
            none if none.is_empty() => summary,
            does => format!("{summary} ({does})"),
        };
        let mut step = Step::request(says, request);
        step = if refused::confides(method.verb, &method.path, sent) {
            step.confides(words::clip(&found.path(), 80))
        } else {
            step.shows()
        };
        step.after = after;
        plan.steps.push(step);
        Ok(plan)
    }

    /// The privileges of the call, as far as the schema tells, and what no token can do.
    fn required(&self, sent: &Sent, plan: &mut Plan) -> Option<Needs> {
        let value = |name: &str| {
            let in_path = self.found.capture(name).map(str::to_owned);
            in_path.or_else(|| sent.shown_text(name))
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
