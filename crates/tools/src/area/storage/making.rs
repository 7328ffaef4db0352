//! Overwriting a node's disks: what a plan for it names, what stands in its way, and what must be so afterwards.

use pve::{NodeName, Request};
use serde_json::{Value, json};

use crate::context::Context;
use crate::fault::{Fault, Kind};
use crate::plan::{Blocker, Check, Effect, Expect, Guard, Impact, Needs, Plan, Step, Trace, Undo};
use crate::preview;
use crate::spec::Spec;
use crate::words;

/// A request that overwrites disks.
pub(in crate::area) struct Making {
    pub(in crate::area) spec: &'static Spec,
    pub(in crate::area) node: NodeName,
    /// "LVM volume group fast"
    pub(in crate::area) what: String,
    pub(in crate::area) disks: Vec<String>,
    pub(in crate::area) request: Request,
    pub(in crate::area) task: &'static str,
    /// Who may do it.
    pub(in crate::area) by: By,
    /// What the list of disks shows of each afterwards.
    pub(in crate::area) then: Expect,
}

/// Who may overwrite a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::area) enum By {
    /// Who may change the node.
    Admin,
    /// The same, who may define storages besides.
    StorageAdmin,
    /// root@pam alone, who may do anything.
    Root,
}

impl By {
    /// Who makes something of a disk and perhaps a storage of that.
    pub(super) fn adding(storage: bool) -> Self {
        if storage {
            Self::StorageAdmin
        } else {
            Self::Admin
        }
    }
}

impl Making {
    /// The plan.
    pub(in crate::area) async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let cluster = cx.online_node(&self.node).await?;
        let list = Request::get(format!("/nodes/{}/disks/list", self.node))
            .with("include-partitions", true);
        let rows: Vec<Value> = match cluster.pve.list(list.clone()).await {
            Ok(rows) => rows,
            Err(error) => return Err(preview::refused(error, &self.needs(), &cluster.pve).await),
        };
        let summary = format!(
            "Make the {} on node {}, overwriting {}",
            self.what,
            self.node,
            words::list(&self.disks)
        );
        let mut plan = Plan::new(self.spec, &cluster.name, summary);
        let mut expect = Vec::new();
        for device in &self.disks {
            let row = self.row(device, &rows)?;
            plan.impact.push(impact(device, row));
            plan.blockers.extend(self.blocker(device, row, &rows));
            let path = json!(row["devpath"]);
            expect.push(Expect::Row(
                "devpath".to_owned(),
                path,
                vec![self.then.clone()],
            ));
        }
        // A disk that was plugged in or taken out meanwhile may have changed what a name stands for.
        let fields = ["devpath", "serial", "size", "used", "gpt"];
        let says = format!("the disks of node {}", self.node);
        plan.guards
            .push(Guard::same_rows(says, list.clone(), &fields, &rows));
        plan.needs = self.needs();
        plan.undo = Undo::Impossible {
            because: "what was on the disk is gone".to_owned(),
        };
        let check = Check {
            expect,
            ..Check::list(list, format!("the {} is there", self.what), Expect::Free)
        };
        let trace = Trace {
            node: self.node,
            vmid: None,
            types: vec![self.task.to_owned()],
        };
        let step = Step::request(plan.summary.clone(), self.request);
        plan.steps.push(step.task(trace).after(check));
        Ok(plan)
    }

    fn needs(&self) -> Needs {
        let mut all = vec![Needs::Any(vec![
            Needs::on(format!("/nodes/{}", self.node), "Sys.Audit"),
            Needs::on("/", "Sys.Audit"),
        ])];
        if self.by != By::Root {
            all.insert(0, Needs::on("/", "Sys.Modify"));
        }
        if self.by == By::StorageAdmin {
            all.push(Needs::on("/storage", "Datastore.Allocate"));
        }
        Needs::All(all)
    }

    fn row<'r>(&self, device: &str, rows: &'r [Value]) -> Result<&'r Value, Fault> {
        find(device, &self.node, rows)
    }

    fn blocker(&self, device: &str, row: &Value, rows: &[Value]) -> Option<Blocker> {
        let used = row.get("used").and_then(pve::lenient::as_text)?;
        let because = format!(
            "{device} of node {} is in use ({})",
            self.node,
            words::clip(&used, 60)
        );
        Some(Blocker::new(because, unused(rows)))
    }
}

/// The disk of a node that has this name: its path, or the link to it that outlives another order of disks.
pub(in crate::area) fn find<'r>(
    device: &str,
    node: &NodeName,
    rows: &'r [Value],
) -> Result<&'r Value, Fault> {
    let is_it = |row: &&Value| row["devpath"] == device || row["by_id_link"] == device;
    rows.iter().find(is_it).ok_or_else(|| {
        let shown = words::clip(device, 80);
        let message = format!("there is no disk {shown} in node {node}");
        Fault::new(Kind::NotFound, message).hint(unused(rows))
    })
}

/// "unused are /dev/sdb"
pub(in crate::area) fn unused(rows: &[Value]) -> String {
    let free = rows
        .iter()
        .filter(|row| row.get("used").is_none_or(Value::is_null));
    let names: Vec<_> = free.filter_map(|row| row["devpath"].as_str()).collect();
    if names.is_empty() {
        "no disk of this node is unused; a person has to add or clear one".to_owned()
    } else {
        format!("unused: {}", words::clip(&words::list(&names), 200))
    }
}

/// The disk by what is printed on it.
pub(in crate::area) fn impact(device: &str, row: &Value) -> Impact {
    let text = |name: &str| row.get(name).and_then(pve::lenient::as_text);
    let serial = text("serial").map(|serial| format!("serial {serial}"));
    let holds = text("used").map_or_else(|| "unused".to_owned(), |used| format!("used: {used}"));
    let notes: Vec<_> = [text("model"), serial, text("type"), Some(holds)]
        .into_iter()
        .flatten()
        .collect();
    Impact::new(Effect::Destroyed, "disk", device)
        .bytes(row.get("size").and_then(pve::lenient::as_u64))
        .note(words::clip(&notes.join(", "), 200))
}
