//! prune_storage_backups

use std::collections::BTreeSet;

use pve::{GuestKind, NodeName, Request, Vmid};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::owners;
use crate::area::backups::Backup;
use crate::context::{Cluster, Context};
use crate::deed::Deed;
use crate::fault::Fault;
use crate::need;
use crate::plan::{Check, Effect, Expect, Guard, Impact, Needs, Plan, Step, Trace, Undo};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Changes;
use crate::words;

/// Deletes the backups on a storage that a retention rule does not keep, for good; by default it only tells which.
///
/// Look first, then send dry_run: false, which a person confirms. Protected backups stay and do not count; backups of a
/// protected guest are never deleted. For one backup delete_storage_volume. Needs Datastore.Allocate and Datastore.Audit
/// on /storage/NAME, or with vmid Datastore.AllocateSpace there and VM.Backup on the guest; VM.Audit on the guests.
/// Undo: none.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Pruning {
    /// The node.
    node: NodeName,
    /// The storage's name.
    storage: String,
    /// "keep-last=3,keep-weekly=4"; the storage's own rule.
    prune_backups: Option<String>,
    /// Only of this guest.
    #[schemars(range(min = 100))]
    vmid: Option<Vmid>,
    /// Only of VMs or containers.
    #[serde(rename = "type")]
    kind: Option<GuestKind>,
    /// False deletes them.
    #[serde(default = "yes")]
    dry_run: bool,
}

/// Backups that a look lists.
const TOLD: usize = 100;

fn yes() -> bool {
    true
}

impl Changes for Pruning {
    const SPEC: Spec = Spec {
        name: "prune_storage_backups",
        title: "Prune backups",
        toolset: Toolset::Storage,
        risk: Risk::Destroy,
        idempotent: true,
        special: Special::ALWAYS,
        needs: need::REMOVES_VOLUMES,
        examples: &[Example {
            ask: "Keep only the newest backup of dns on nas",
            args: r#"{"node": "pve1", "storage": "nas", "vmid": 200, "prune_backups": "keep-last=1", "dry_run": false}"#,
        }],
    };

    const DEEDS: &'static [Deed] = &[Deed::delete("/nodes/{}/storage/{}/prunebackups")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let cluster = cx.online_node(&self.node).await?;
        let look = self.asking(Request::get(self.path("prunebackups")));
        let rows: Vec<Value> = cluster.pve.list(look.clone()).await?;
        let doomed: Vec<&Value> = rows.iter().filter(|row| row["mark"] == "remove").collect();
        if self.dry_run || doomed.is_empty() {
            return Ok(self.only_told(&cluster, &rows, &doomed));
        }
        let list = Request::get(self.path("content")).with("content", "backup");
        let known: Vec<Backup> = cluster.pve.list(list.clone()).await?;
        let count = words::count(doomed.len(), "backup");
        let summary = format!(
            "Delete {count} of {} on storage {}",
            rows.len(),
            self.storage
        );
        let mut plan = Plan::new(&Self::SPEC, &cluster.name, summary);
        for volid in doomed.iter().filter_map(|row| row["volid"].as_str()) {
            let known = known.iter().find(|backup| backup.volid == volid);
            plan.impact.push(known.map_or_else(
                || Impact::new(Effect::Destroyed, "backup", volid),
                |backup| backup.impact(Effect::Destroyed),
            ));
        }
        let mut needs = self.needs();
        needs.extend(owners::bind(cx, &cluster, owners_of(&doomed), &mut plan).await?);
        plan.needs = Needs::All(needs);
        let says = format!("which backups on {} go", self.storage);
        plan.guards
            .push(Guard::same_rows(says, look, &["volid", "mark"], &rows));
        plan.undo = Undo::Impossible {
            because: "deleted backups do not come back".to_owned(),
        };
        plan.steps.push(self.step(&plan.summary, list, &doomed));
        Ok(plan)
    }
}

impl Pruning {
    fn path(&self, what: &str) -> String {
        let storage = pve::encode_segment(&self.storage);
        format!("/nodes/{}/storage/{storage}/{what}", self.node)
    }

    fn asking(&self, request: Request) -> Request {
        request
            .maybe("prune-backups", self.prune_backups.as_deref())
            .maybe("type", self.kind.map(|kind| kind.to_string()))
            .maybe("vmid", self.vmid)
    }

    /// A plan that sends nothing and says what would go.
    fn only_told(&self, cluster: &Cluster, rows: &[Value], doomed: &[&Value]) -> Plan {
        let summary = format!(
            "Nothing is deleted: of {} on storage {}, {} would go",
            words::count(rows.len(), "backup"),
            self.storage,
            doomed.len()
        );
        let mut plan = Plan::new(&Self::SPEC, &cluster.name, summary);
        // What would go comes first: a list that is cut must not lose it.
        let goes = |row: &&Value| row["mark"] == "remove";
        let (gone, kept): (Vec<_>, Vec<_>) = rows.iter().partition(goes);
        for row in gone.into_iter().chain(kept).take(TOLD) {
            let volid = words::clip(row["volid"].as_str().unwrap_or_default(), 200);
            let fate = match row["mark"].as_str() {
                Some("remove") => "would go",
                Some("keep") => "stays",
                Some("protected") => "stays, protected",
                _ => "stays, not counted",
            };
            plan.warnings.push(format!("{volid}: {fate}"));
        }
        if rows.len() > TOLD {
            plan.warnings.push(format!(
                "and {} more, which are not listed",
                rows.len() - TOLD
            ));
        }
        plan.undo = Undo::Impossible {
            because: "nothing is changed".to_owned(),
        };
        plan
    }

    /// As PVE checks them, and what the lists take besides.
    fn needs(&self) -> Vec<Needs> {
        let storage = format!("/storage/{}", self.storage);
        match self.vmid {
            Some(vmid) => vec![
                Needs::on(&storage, "Datastore.AllocateSpace"),
                Needs::on(format!("/vms/{vmid}"), "VM.Backup"),
            ],
            None => vec![
                Needs::on(&storage, "Datastore.Allocate"),
                Needs::Any(vec![
                    Needs::on(&storage, "Datastore.Audit"),
                    Needs::on(&storage, "Datastore.AllocateSpace"),
                ]),
            ],
        }
    }

    fn step(&self, says: &str, list: Request, doomed: &[&Value]) -> Step {
        let gone = doomed
            .iter()
            .map(|row| Expect::Unlisted("volid".to_owned(), json!(row["volid"])));
        let check = Check {
            expect: gone.collect(),
            ..Check::list(list, "they are gone", Expect::Free)
        };
        Step::request(
            says,
            self.asking(Request::delete(self.path("prunebackups"))),
        )
        .task(Trace {
            node: self.node.clone(),
            vmid: None,
            types: vec!["prunebackups".to_owned()],
        })
        .after(check)
    }
}

/// The guests whose backups go.
fn owners_of(doomed: &[&Value]) -> BTreeSet<Vmid> {
    let vmid = |row: &&Value| pve::lenient::as_text(row.get("vmid")?)?.parse().ok();
    doomed.iter().filter_map(vmid).collect()
}
