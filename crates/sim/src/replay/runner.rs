//! Plays one scenario.

mod act;
mod judge;
mod send;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::exchange::Exchange;
use super::report::Verdict;
use super::script::Script;
use crate::clock::Clock;
use crate::cluster::Cluster;
use crate::dispatch;
use crate::http::Response;
use crate::world::upid::Upid;
use crate::worlds;

/// How long a task is waited for.
const TASK_PATIENCE: u64 = 900;

/// The state of a replay: the cluster, and what recorded names mean in it.
pub(super) struct Runner<'a> {
    script: &'a Script,
    cluster: Cluster,
    /// Recorded UPIDs, digests, process ids and ports, with those that the simulator gave instead.
    names: BTreeMap<String, String>,
    /// Guests whose state came from steps that are not modelled.
    unknown: BTreeSet<String>,
}

impl<'a> Runner<'a> {
    pub(super) fn new(script: &'a Script) -> Self {
        let mut world = worlds::recorded();
        let (user, token, _) = worlds::ROOT_TOKEN;
        if let Some(root) = world.access.users.get_mut(user) {
            root.tokens.remove(token); // The recorded cluster did not have it.
        }
        Self {
            script,
            cluster: Cluster::new(world, Clock::Manual),
            names: BTreeMap::new(),
            unknown: BTreeSet::new(),
        }
    }

    /// Sends one request and judges the answer.
    pub(super) fn play(&mut self, exchange: &Exchange) -> Verdict {
        let script = self.script;
        for action in script.before.get(&exchange.id).into_iter().flatten() {
            self.act(action);
        }
        let touched = touched_guests(exchange);
        if !Self::is_modelled(exchange) {
            if exchange.method != "GET" && exchange.status == Some(200) {
                self.unknown.extend(touched);
            }
            return Verdict::Unmodelled;
        }
        let Some(request) = self.request(exchange) else {
            return Verdict::Blocked;
        };
        let outcome = self.cluster.serve(&request);
        self.cluster
            .world
            .advance(Duration::from_millis(exchange.ms));
        let found = self.judge(exchange, outcome);
        if exchange.deviates {
            Verdict::Deviates
        } else if found.is_empty() {
            Verdict::Match
        } else if self.builds_on_unknown(exchange, &touched) {
            Verdict::Blocked
        } else {
            Verdict::Mismatch(found)
        }
    }

    /// Answers that come before any route need none.
    fn is_modelled(exchange: &Exchange) -> bool {
        let is_api = exchange
            .prefix
            .as_deref()
            .is_none_or(|prefix| prefix == "/api2/extjs");
        let refused_early = exchange.status == Some(401) && exchange.body == "";
        // In extjs the status stands in the body.
        let unknown = matches!(exchange.status, Some(501 | 506)) || exchange.body["status"] == 501;
        let needs_route = !refused_early && !unknown;
        let path = percent_decode_str(&exchange.path).decode_utf8_lossy();
        !is_api || !needs_route || dispatch::is_modelled(&exchange.method, &path)
    }

    /// Whether an exchange is about guests, or lists guests, whose state came from steps that are not modelled.
    fn builds_on_unknown(&self, exchange: &Exchange, touched: &BTreeSet<String>) -> bool {
        let lists = ["/cluster/resources", "/qemu", "/lxc", "/tasks"];
        let is_list = lists.iter().any(|end| exchange.path.ends_with(end));
        (is_list && !self.unknown.is_empty())
            || touched.iter().any(|vmid| self.unknown.contains(vmid))
    }

    /// Runs the task to its end; its exit status and last line.
    fn finish_task(&mut self, data: &Value) -> Option<(String, String)> {
        let upid = Upid::parse(data.as_str().or_else(|| data["upid"].as_str())?)?;
        for _ in 0..TASK_PATIENCE {
            let task = self.cluster.world.tasks.find(&upid)?;
            if let Some(end) = &task.end {
                return Some((
                    end.status.clone(),
                    task.full_log().pop().unwrap_or_default(),
                ));
            }
            self.cluster.world.advance(Duration::from_secs(1));
        }
        None
    }
}

/// The guests that an exchange is about: those in its path, and ids among its parameters.
fn touched_guests(exchange: &Exchange) -> BTreeSet<String> {
    let is_id = |text: &&str| text.len() >= 3 && text.bytes().all(|byte| byte.is_ascii_digit());
    let in_path = exchange.path.split(['/', ':', '-']).filter(is_id);
    let named = ["vmid", "newid", "vms", "sid", "target-vmid"];
    let params = exchange
        .form
        .iter()
        .chain(&exchange.query)
        .filter(|(name, _)| named.contains(&name.as_str()));
    let in_params = params
        .flat_map(|(_, value)| value.split([',', ':']))
        .filter(is_id);
    in_path.chain(in_params).map(str::to_owned).collect()
}

fn body_of(response: &Response) -> Value {
    serde_json::from_slice(&response.body)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&response.body).into_owned()))
}
