//! stop_task

use pve::{NodeName, Request, Upid, Vmid};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::context::{Cluster, Context};
use crate::deed::Deed;
use crate::fault::{Fault, Kind};
use crate::need::{self, Need};
use crate::plan::{Check, Effect, Expect, Impact, Needs, Plan, Step, Undo};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Changes;
use crate::words;

/// Stops a task that runs: it is interrupted where it stands.
///
/// Use it on a task that hangs; list_node_tasks with source active has the ids, get_proxmox_task shows how far it is.
/// Half-made results may stay: a lock on the guest, an incomplete clone or backup. To end a guest use
/// stop_proxmox_vm. A task of others needs Sys.Modify and Sys.Audit on /nodes/NAME. Needs nothing for one's own. Undo:
/// none, the task has to be started anew.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct StopTask {
    /// The node that it runs on.
    node: NodeName,
    /// The task's id, "UPID:…".
    #[schemars(with = "String")]
    upid: Upid,
}

impl Changes for StopTask {
    const SPEC: Spec = Spec {
        name: "stop_task",
        title: "Stop a task",
        toolset: Toolset::Nodes,
        risk: Risk::Disrupt,
        idempotent: true,
        special: Special::NONE,
        needs: Need::May(&[need::node("Sys.Modify"), need::node("Sys.Audit")]),
        examples: &[Example {
            ask: "Stop the update check that hangs on pve2",
            args: r#"{"node": "pve2", "upid": "UPID:pve2:000003FF:000186A0:6AF94A60:aptupdate::root@pam:"}"#,
        }],
    };

    const DEEDS: &'static [Deed] = &[Deed::delete("/nodes/{}/tasks/{}")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        if self.upid.node() != &self.node {
            let message = format!(
                "that task is on node {}, not on {}",
                self.upid.node(),
                self.node
            );
            return Err(
                Fault::bad_input(message).hint(format!("send node: \"{}\"", self.upid.node()))
            );
        }
        let cluster = cx.online_node(&self.node).await?;
        let upid = pve::encode_segment(self.upid.as_str());
        let path = format!("/nodes/{}/tasks/{upid}", self.node);
        let state: Value = cluster.pve.get(format!("{path}/status")).await?;
        if state["status"] != "running" {
            let end = state["exitstatus"].as_str().unwrap_or("of unknown result");
            let message = format!("that task has ended already: {}", words::clip(end, 200));
            return Err(Fault::new(Kind::Conflict, message).hint("nothing has to be stopped"));
        }
        let what = self.what();
        let mut plan = Plan::new(
            &Self::SPEC,
            &cluster.name,
            format!("Stop the task {what} on node {}", self.node),
        );
        plan.impact.push(
            Impact::new(Effect::Interrupted, "task", self.upid.as_str()).note(format!(
                "{what}, started {} by {}",
                words::past(self.upid.starttime()),
                self.upid.user()
            )),
        );
        self.bind_guest(cx, &cluster, &mut plan).await;
        let place = format!("/nodes/{}", self.node);
        plan.needs = Needs::All(vec![
            Needs::on(&place, "Sys.Modify"),
            Needs::on(&place, "Sys.Audit"),
        ]);
        plan.undo = Undo::Impossible {
            because: "a task that was stopped does not go on; start it anew".to_owned(),
        };
        let check = Check::list(
            Request::get(format!("{path}/status")),
            "the task has stopped",
            Expect::Is("status".to_owned(), json!("stopped")),
        );
        plan.steps.push(
            Step::request(plan.summary.clone(), Request::delete(path)).after(check.settles(true)),
        );
        Ok(plan)
    }
}

impl StopTask {
    /// "vzdump of 107"
    fn what(&self) -> String {
        let (kind, id) = (self.upid.task_type(), self.upid.id());
        if id.is_empty() {
            kind.to_owned()
        } else {
            format!("{kind} of {id}")
        }
    }

    /// Rules about the guest that the task works on hold for stopping it, as far as the guest can be seen.
    async fn bind_guest(&self, cx: &Context, cluster: &Cluster, plan: &mut Plan) {
        let Ok(vmid) = self.upid.id().parse::<Vmid>() else {
            return;
        };
        let Ok(guest) = cx.guest(vmid, None, None).await else {
            return;
        };
        if guest.cluster.name == cluster.name
            && let Ok(config) = guest.config().await
        {
            plan.targets.push(guest.target(&config));
        }
    }
}
