//! manage_node_service

use pve::{NodeName, Request};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::context::{Context, arguments};
use crate::deed::Deed;
use crate::fault::{Fault, Kind};
use crate::need::{self, Need};
use crate::plan::{Blocker, Check, Effect, Expect, Impact, Needs, Plan, Step, Trace, Undo};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Changes;
use crate::words;

/// Starts, stops, restarts or reloads one of the daemons that PVE depends on.
///
/// list_node_services shows their names and states; restart a failed one, reload does nothing to it. Guests go on running.
/// Reload restarts what cannot reload. Restarting pveproxy, pvedaemon or pve-cluster cuts the API off for some seconds,
/// and PVE refuses to stop them; corosync and pve-ha-lrm can make HA fence the node. Needs Sys.Modify and Sys.Audit on /nodes/NAME. Undo: start for
/// stop and the reverse.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ManageService {
    /// The node.
    node: NodeName,
    /// Its name, like pvestatd.
    service: String,
    /// What to do.
    action: Action,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Action {
    Start,
    Stop,
    Restart,
    Reload,
}

impl Action {
    fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Restart => "restart",
            Self::Reload => "reload",
        }
    }

    /// PVE reloads with `try-reload-or-restart`: what cannot reload is restarted.
    fn interrupts(self) -> bool {
        matches!(self, Self::Stop | Self::Restart | Self::Reload)
    }
}

/// What we ourselves speak through.
const API: &[&str] = &["pveproxy", "pvedaemon", "pve-cluster"];
/// What keeps a node with guests under HA from being fenced.
const FENCING: &[&str] = &["corosync", "pve-cluster", "pve-ha-lrm"];

impl Changes for ManageService {
    const SPEC: Spec = Spec {
        name: "manage_node_service",
        title: "Start or stop a service",
        toolset: Toolset::Nodes,
        risk: Risk::Disrupt,
        idempotent: false,
        special: Special::NONE,
        needs: Need::All(&[need::node("Sys.Modify"), need::node("Sys.Audit")]),
        examples: &[
            Example {
                ask: "Start chrony on pve2 again",
                args: r#"{"node": "pve2", "service": "chrony", "action": "start"}"#,
            },
            Example {
                ask: "Restart the status daemon of pve1",
                args: r#"{"node": "pve1", "service": "pvestatd", "action": "restart"}"#,
            },
        ],
    };

    const DEEDS: &'static [Deed] = &[Deed::post("/nodes/{}/services/{}/{}")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let cluster = cx.online_node(&self.node).await?;
        let path = format!("/nodes/{}/services", self.node);
        let rows: Vec<Value> = cluster.pve.list(Request::get(path.as_str())).await?;
        let row = self.row(&rows)?;
        let mut plan = Plan::new(&Self::SPEC, &cluster.name, self.says());
        let state = row["state"].as_str().unwrap_or("unknown");
        plan.blockers.extend(self.blocker(row));
        plan.warnings.extend(self.warnings());
        let effect = if self.action.interrupts() {
            Effect::Interrupted
        } else {
            Effect::Changed
        };
        plan.impact.push(
            Impact::new(effect, "service", &self.service)
                .note(format!("it is {}", words::clip(state, 20))),
        );
        let place = format!("/nodes/{}", self.node);
        plan.needs = Needs::All(vec![
            Needs::on(&place, "Sys.Modify"),
            Needs::on(&place, "Sys.Audit"),
        ]);
        plan.undo = self.undo(state);
        plan.steps.push(self.step(&path));
        Ok(plan)
    }
}

impl ManageService {
    fn says(&self) -> String {
        let mut action = self.action.word().to_owned();
        if let Some(first) = action.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        format!("{action} service {} on node {}", self.service, self.node)
    }

    fn row<'r>(&self, rows: &'r [Value]) -> Result<&'r Value, Fault> {
        let name = |row: &Value| row["service"].as_str().unwrap_or_default().to_owned();
        rows.iter()
            .find(|row| name(row) == self.service)
            .ok_or_else(|| {
                let names: Vec<_> = rows.iter().map(name).collect();
                let message = format!(
                    "there is no service {} on node {}",
                    words::clip(&self.service, 60),
                    self.node
                );
                Fault::new(Kind::NotFound, message).hint(format!(
                    "there are {}",
                    words::clip(&words::list(&names), 600)
                ))
            })
    }

    fn blocker(&self, row: &Value) -> Option<Blocker> {
        if row["unit-state"] == "not-found" {
            return Some(Blocker::new(
                format!("{} is not installed on {}", self.service, self.node),
                "list_node_services shows those that are",
            ));
        }
        if self.action == Action::Reload && row["state"] != "running" {
            return Some(Blocker::new(
                format!(
                    "{} does not run on {}, and reload does nothing to what does not run",
                    self.service, self.node
                ),
                "send action: \"restart\" or \"start\"",
            ));
        }
        let cuts_off = self.action == Action::Stop && API.contains(&self.service.as_str());
        cuts_off.then(|| {
            Blocker::new(
                format!(
                    "without {} nobody could start it again: PVE refuses to stop it",
                    self.service
                ),
                "send action: \"restart\"",
            )
        })
    }

    fn warnings(&self) -> Vec<String> {
        let is =
            |names: &[&str]| self.action.interrupts() && names.contains(&self.service.as_str());
        let mut all = Vec::new();
        if is(API) {
            all.push(format!(
                "the API of {} does not answer for some seconds, and consoles on it are cut",
                self.node
            ));
        }
        if is(FENCING) {
            all.push(format!(
                "if {} has guests under HA and stays without it for about a minute, it is fenced: it resets itself with all its guests",
                self.node
            ));
        }
        all
    }

    fn undo(&self, state: &str) -> Undo {
        let back = match self.action {
            Action::Start if state != "running" => "stop",
            Action::Stop if state == "running" => "start",
            _ => {
                return Undo::Impossible {
                    because: "there is nothing to take back: it is as it was".to_owned(),
                };
            }
        };
        Undo::Call {
            tool: Self::SPEC.name.to_owned(),
            arguments: arguments([
                ("node", json!(self.node)),
                ("service", json!(self.service)),
                ("action", json!(back)),
            ]),
        }
    }

    fn step(&self, path: &str) -> Step {
        let action = self.action.word();
        let service = pve::encode_segment(&self.service);
        let (says, expect) = if self.action == Action::Stop {
            (
                "is stopped",
                Expect::Not("state".to_owned(), json!("running")),
            )
        } else {
            ("runs", Expect::Is("state".to_owned(), json!("running")))
        };
        let read = Request::get(format!("{path}/{service}/state"));
        let check = Check::list(read, format!("{} {says}", self.service), expect).settles(true);
        Step::request(
            self.says(),
            Request::post(format!("{path}/{service}/{action}")),
        )
        .task(Trace {
            node: self.node.clone(),
            vmid: None,
            types: vec![format!("srv{action}")],
        })
        .after(check)
    }
}
