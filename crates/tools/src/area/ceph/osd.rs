//! create_ceph_osd

use pve::{NodeName, Request};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::area::storage::making::{By, Making, find, impact, unused};
use crate::context::{Cluster, Context};
use crate::deed::Deed;
use crate::fault::Fault;
use crate::need::Need;
use crate::plain::login_only;
use crate::plan::{Blocker, Expect, Plan};
use crate::spec::{Example, Risk, Spec, Special, Toolset, Wants};
use crate::tool::Changes;
use crate::words;

/// Makes an OSD of an unused disk, which Ceph then fills; whatever was on the disk is lost.
///
/// get_node_disks with type unused lists the disks; one in use is refused, except for db_dev and wal_dev, which may hold
/// those of other OSDs. Data moves onto it at once: list_ceph_osds shows it. PVE lets only root@pam itself do this, no
/// API token. A person confirms. Needs root@pam. Undo: none by a tool; a person takes it out of Ceph in PVE.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct CreateOsd {
    /// The node.
    node: NodeName,
    /// The disk, like /dev/sdb.
    dev: String,
    /// A faster disk for its database.
    db_dev: Option<String>,
    /// A faster disk for its log.
    wal_dev: Option<String>,
    /// Encrypt it.
    #[serde(default)]
    encrypted: bool,
}

impl Changes for CreateOsd {
    const SPEC: Spec = Spec {
        name: "create_ceph_osd",
        title: "Give a disk to Ceph",
        toolset: Toolset::Nodes,
        risk: Risk::Destroy,
        idempotent: false,
        special: Special {
            always: true,
            wants: &[Wants::Login],
            ..Special::NONE
        },
        needs: Need::Nothing,
        examples: &[Example {
            ask: "Give the new disk in pve3 to Ceph",
            args: r#"{"node": "pve3", "dev": "/dev/sdb"}"#,
        }],
    };

    const DEEDS: &'static [Deed] = &[Deed::post("/nodes/{}/ceph/osd")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let cluster = cx.online_node(&self.node).await?;
        only_root(&cluster)?;
        let beside: Vec<String> = [&self.db_dev, &self.wal_dev]
            .into_iter()
            .flatten()
            .cloned()
            .collect();
        let request = Request::post(format!("/nodes/{}/ceph/osd", self.node))
            .with("dev", self.dev.as_str())
            .maybe("db_dev", self.db_dev)
            .maybe("wal_dev", self.wal_dev)
            .with("encrypted", self.encrypted);
        let mut plan = Making {
            spec: &Self::SPEC,
            what: "OSD".to_owned(),
            disks: vec![self.dev.clone()],
            node: self.node.clone(),
            request,
            task: "cephcreateosd",
            by: By::Root,
            then: Expect::Not("osdid".to_owned(), json!(-1)),
        }
        .plan(cx)
        .await?;
        if !beside.is_empty() {
            look_at(&beside, &self.dev, &self.node, &cluster, &mut plan).await?;
        }
        Ok(plan)
    }
}

/// PVE declares no privilege for it, which leaves it to root.
fn only_root(cluster: &Cluster) -> Result<(), Fault> {
    let who = cluster.pve.identity();
    if who == "root@pam" {
        return Ok(());
    }
    if !cluster.pve.opens_terminals() {
        return Err(login_only(CreateOsd::SPEC.name, &cluster.name));
    }
    let message = format!("PVE lets only root@pam make an OSD, not {who}");
    Err(Fault::refused(message).hint("a person does it in PVE, as root@pam"))
}

/// The disks that take its database and log: a part of them is used, or all of one that is unused.
async fn look_at(
    beside: &[String],
    dev: &str,
    node: &NodeName,
    cluster: &Cluster,
    plan: &mut Plan,
) -> Result<(), Fault> {
    let list = format!("/nodes/{node}/disks/list");
    let rows: Vec<Value> = cluster.pve.list(Request::get(list)).await?;
    // A disk has more than one name. What the OSD is made of may be a partition, which has no row here.
    let path_of = |row: &Value| row["devpath"].clone();
    let mut named = vec![find(dev, node, &rows).map_or_else(|_| dev.into(), path_of)];
    for device in beside {
        let shown = words::clip(device, 80);
        let row = find(device, node, &rows)?;
        if named.contains(&path_of(row)) {
            return Err(Fault::bad_input(format!("{shown} is named twice"))
                .hint("leave db_dev and wal_dev out: then both are on the disk itself"));
        }
        named.push(path_of(row));
        match row.get("used").and_then(pve::lenient::as_text).as_deref() {
            None => plan.impact.push(impact(device, row)),
            Some("LVM" | "partitions") => plan.warnings.push(format!(
                "{shown} is in use; a part of what is free on it is taken, if Ceph or a partition table is on it"
            )),
            Some(used) => plan.blockers.push(Blocker::new(
                format!("{shown} of node {node} is in use ({})", words::clip(used, 60)),
                unused(&rows),
            )),
        }
    }
    Ok(())
}
