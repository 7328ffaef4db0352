//! What a tool may use while it looks around: Readers, and ways to find what the caller named.
//!
//! There is no Writer in here and no way to one; that is what keeps "a tool never writes" true.

mod each;
mod free;
mod guest;
mod schema;
mod several;
pub(crate) mod stake;

pub(crate) use each::ask_each;
pub use guest::{Guest, label};

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pve::{GuestKind, NodeName, Reader, Request, Resource, ResourceKind, StorageId, Version, Vmid};

use tokio::sync::OnceCell;
use tokio::sync::mpsc::UnboundedSender;

use crate::baseline::Baselines;
use crate::begun::Begun;
use crate::claim::Claim;
use crate::engine::Progress;
use crate::fault::{Fault, Kind};
use crate::hold::Held;
use crate::plan::{Plan, Undo};
use crate::policy::Policy;
use crate::registry::{Extras, Registry};
use crate::rights::Unlisted;
use crate::uploads::Uploads;

/// How many reads of one call are under way at a time.
pub const READS: usize = 8;

/// A configured cluster, to read from.
#[derive(Debug)]
pub struct Cluster {
    /// Its name in the configuration.
    pub name: String,
    /// Its configured addresses; `host` may be one of them.
    pub hosts: Vec<String>,
    /// The way to it.
    pub pve: Reader,
    /// What is taken where a caller does not say.
    pub defaults: Defaults,
    /// How long it is waited for while others have answered.
    patience: Duration,
    version: OnceCell<Version>,
    shelf: schema::Shelf,
}

/// What a person wants to be taken where a caller does not say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Defaults {
    /// Where new guests go.
    pub node: Option<NodeName>,
    /// Where their disks go.
    pub storage: Option<StorageId>,
}

impl Cluster {
    /// How long a cluster is waited for while others have answered, if nobody says.
    pub const PATIENCE: Duration = Duration::from_secs(10);

    /// A cluster of that name behind this Reader.
    pub fn new(name: &str, pve: Reader) -> Self {
        let addresses =
            |host: &pve::Host| [host.name.clone(), format!("{}:{}", host.name, host.port)];
        let hosts = pve.hosts().iter().flat_map(addresses).collect();
        Self {
            name: name.to_owned(),
            hosts,
            pve,
            defaults: Defaults::default(),
            patience: Self::PATIENCE,
            version: OnceCell::new(),
            shelf: schema::Shelf::default(),
        }
    }

    /// The same, with what is taken where a caller does not say.
    #[must_use]
    pub fn preferring(mut self, defaults: Defaults) -> Self {
        self.defaults = defaults;
        self
    }

    /// The same, waited for so long while others have answered.
    #[must_use]
    pub fn patient(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The same cluster as another Reader sees it.
    #[must_use]
    pub fn seen_by(&self, pve: Reader) -> Self {
        Self::new(&self.name, pve)
            .preferring(self.defaults.clone())
            .patient(self.patience)
    }

    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.hosts.iter().any(|host| host == name)
    }

    /// The version that it runs, asked once.
    pub async fn version(&self) -> Result<&Version, pve::Error> {
        self.version.get_or_try_init(|| self.pve.version()).await
    }

    /// Refuses to change what oxmox was not built for. Reads work on older ones as far as they go.
    pub async fn require_supported(&self) -> Result<(), Fault> {
        let version = self.version().await?;
        if version.at_least(8, 4) {
            return Ok(());
        }
        Err(Fault::refused(format!(
            "{} runs PVE {}; oxmox changes PVE 8.4 and newer only",
            self.name, version.text
        ))
        .hint("reading works; a person has to upgrade the cluster"))
    }
}

/// All that a tool sees. It can look:
///
/// ```
/// async fn look(cx: &tools::context::Context) -> Result<(), pve::Error> {
///     cx.clusters[0].pve.version().await.map(drop)
/// }
/// ```
///
/// but not write; what is in here has no way to send anything:
///
/// ```compile_fail
/// async fn write(cx: &tools::context::Context) -> Result<(), pve::Error> {
///     cx.clusters[0].pve.send(&pve::Request::post("/nodes/pve1/startall")).await.map(drop)
/// }
/// ```
///
/// and a Writer can be neither made nor copied:
///
/// ```compile_fail
/// fn take(writer: &pve::Writer) -> pve::Writer {
///     writer.clone()
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Context {
    /// The clusters that this call may look at: the one it named, or all.
    pub clusters: Vec<Arc<Cluster>>,
    /// The tools that are switched on, for those that look at other tools.
    pub registry: Arc<Registry>,
    /// The tools that no cluster's token can use, for those that look at other tools.
    pub unlisted: Arc<Unlisted>,
    /// What decides on plans, for those that show what would become of one.
    pub policy: Arc<Policy>,
    /// The plans that the caller began, for those that tell how one stands.
    pub begun: Option<Arc<dyn Begun>>,
    /// The baselines that were saved, for those that compare with one.
    pub baselines: Option<Arc<dyn Baselines>>,
    /// A clone of the community's scripts on this machine.
    pub scripts: Option<Arc<Path>>,
    /// The files of this machine that may be sent.
    pub uploads: Arc<Uploads>,
    /// The time by our own clock, in Unix seconds.
    pub now: i64,
    /// What the caller says of the guest that the call is about.
    pub claim: Claim,
    /// What this call is about to make, and no other may make meanwhile.
    pub held: Arc<Held>,
    /// Hears of looks that take long.
    pub news: Option<UnboundedSender<Progress>>,
}

impl Context {
    /// The same with the one cluster that the caller named, by its name, by one of its addresses, or both.
    pub fn narrowed(&self, extras: &Extras) -> Result<Self, Fault> {
        let mut clusters = self.clusters.clone();
        for wanted in [&extras.cluster, &extras.host].into_iter().flatten() {
            let had: Vec<_> = clusters
                .iter()
                .map(|cluster| cluster.name.clone())
                .collect();
            clusters.retain(|cluster| cluster.is_called(wanted));
            if clusters.is_empty() {
                return Err(Fault::bad_input(format!(
                    "\"{wanted}\" is no configured cluster, or not the same one"
                ))
                .hint(format!(
                    "configured: {}; or leave it out",
                    crate::words::list(&had)
                )));
            }
        }
        Ok(Self {
            clusters,
            claim: extras.claim.clone(),
            ..self.clone()
        })
    }

    /// The same with this cluster alone.
    pub(crate) fn on(&self, cluster: &Arc<Cluster>) -> Self {
        Self {
            clusters: vec![cluster.clone()],
            ..self.clone()
        }
    }

    /// The same for a tool that is for guests of this kind only.
    pub(crate) fn only(&self, kind: GuestKind, tool: &str) -> Self {
        Self {
            claim: self.claim.only(kind, tool),
            ..self.clone()
        }
    }

    /// What every plan gets, whichever tool made it: what policy has to know of it, and who its undo is for. A plan that
    /// has it already, since another tool planned it, stays as it is.
    pub async fn settle(&self, plan: &mut Plan) -> Result<(), Fault> {
        if plan.is_judged() {
            return Ok(());
        }
        if let Some(cluster) = self.clusters.iter().find(|it| it.name == plan.cluster) {
            crate::risk::settle(plan, &cluster.pve).await;
        }
        self.policy.weigh_tags(plan);
        self.policy.find_subjects(plan, self).await?;
        crate::area::settle_undo(plan, &self.registry);
        self.address(plan);
        Ok(())
    }

    /// Arguments of a call that another tool's answer proposes: where there are several clusters, they name theirs.
    fn address(&self, plan: &mut Plan) {
        if let Undo::Call { arguments, .. } = &mut plan.undo
            && self.registry.has_several_clusters()
        {
            arguments.insert("cluster".to_owned(), plan.cluster.clone().into());
        }
    }

    /// The guest that a caller named. `node` and `kind` may be left out; given but wrong is an error that says what is
    /// true, because a caller who is wrong about the node may be wrong about the guest.
    pub async fn guest(
        &self,
        vmid: Vmid,
        node: Option<&NodeName>,
        kind: Option<GuestKind>,
    ) -> Result<Guest, Fault> {
        let resources = self.resources().await?;
        self.guest_among(&resources, vmid, node, kind).await
    }

    /// The same among what was read.
    async fn guest_among(
        &self,
        resources: &[(Arc<Cluster>, Vec<Resource>)],
        vmid: Vmid,
        node: Option<&NodeName>,
        kind: Option<GuestKind>,
    ) -> Result<Guest, Fault> {
        let mut found: Vec<_> = resources
            .iter()
            .filter_map(|(cluster, rows)| Guest::among(cluster, rows, vmid))
            .collect();
        let guest = match found.len() {
            0 => return Err(self.no_such_guest(vmid).await),
            1 => found.remove(0),
            _ => {
                let names: Vec<_> = found
                    .iter()
                    .map(|guest| guest.cluster.name.clone())
                    .collect();
                return Err(on_several(&format!("guest {vmid}"), &names));
            }
        };
        self.claim.or(node, kind).check(&guest)?;
        Ok(guest)
    }

    /// The one cluster that has this node, and whether the node is online.
    pub async fn node(&self, name: &NodeName) -> Result<(Arc<Cluster>, bool), Fault> {
        let (mut found, mut others) = (Vec::new(), BTreeSet::new());
        for (cluster, rows) in self.resources().await? {
            for row in rows
                .into_iter()
                .filter(|row| row.kind == ResourceKind::Node)
            {
                match row.node {
                    Some(node) if node == *name => {
                        found.push((cluster.clone(), row.status.as_deref() == Some("online")));
                    }
                    Some(node) => drop(others.insert(node.to_string())),
                    None => {}
                }
            }
        }
        let names: Vec<_> = found
            .iter()
            .map(|(cluster, _)| cluster.name.clone())
            .collect();
        match (found.pop(), names.as_slice()) {
            (Some(found), [_]) => Ok(found),
            (Some(_), _) => Err(on_several(&format!("node {name}"), &names)),
            (None, _) => {
                let others: Vec<_> = others.into_iter().collect();
                Err(
                    Fault::new(Kind::NotFound, format!("there is no node {name}"))
                        .hint(format!("the nodes are {}", crate::words::list(&others))),
                )
            }
        }
    }

    /// The one cluster that has this node, which must be online.
    pub async fn online_node(&self, name: &NodeName) -> Result<Arc<Cluster>, Fault> {
        let (cluster, online) = self.node(name).await?;
        if online {
            return Ok(cluster);
        }
        Err(Fault::new(Kind::Unreachable, format!("node {name} is offline")).hint(
            "list_proxmox_resources with resource_type \"node\" shows the nodes; try again when it is back",
        ))
    }

    /// Every cluster's `/cluster/resources`. Nothing is looked up on half the picture: the guest could be on the cluster
    /// that does not answer. Lists degrade instead (see the inventory).
    async fn resources(&self) -> Result<Vec<(Arc<Cluster>, Vec<Resource>)>, Fault> {
        let ask = async |cluster: Arc<Cluster>| cluster.pve.resources().await;
        let mut all = Vec::new();
        for (cluster, answer) in ask_each(&self.clusters, ask).await {
            let rows = answer.map_err(|error| {
                let fault = Fault::from(error);
                if self.clusters.len() == 1 {
                    return fault;
                }
                let elsewhere = "say which cluster it is for; then the others need not answer";
                let hint = match (fault.kind, &fault.hint) {
                    (Kind::Unreachable, Some(mend)) => format!("{elsewhere}; {mend}"),
                    _ => elsewhere.to_owned(),
                };
                Fault {
                    message: format!("cluster {}: {}", cluster.name, fault.message),
                    ..fault
                }
                .hint(hint)
            })?;
            all.push((cluster, rows));
        }
        Ok(all)
    }

    /// PVE leaves out of its lists what a token may not see. `nextid` tells the two apart.
    async fn no_such_guest(&self, vmid: Vmid) -> Fault {
        for cluster in &self.clusters {
            let taken = cluster
                .pve
                .get::<serde_json::Value>(Request::get("/cluster/nextid").with("vmid", vmid))
                .await;
            if taken.is_err_and(|error| error.status() == Some(400)) {
                return Fault::new(
                    Kind::Forbidden,
                    format!(
                        "guest {vmid} exists on {}, but the token may not see it",
                        cluster.name
                    ),
                )
                .hint(format!("the token needs VM.Audit on /vms/{vmid}"));
            }
        }
        let names: Vec<_> = self
            .clusters
            .iter()
            .map(|cluster| cluster.name.as_str())
            .collect();
        Fault::new(
            Kind::NotFound,
            format!(
                "no guest has the vmid {vmid} on {}",
                crate::words::list(&names)
            ),
        )
        .hint("list_proxmox_resources shows the guests there are")
    }
}

fn on_several(what: &str, clusters: &[String]) -> Fault {
    Fault::bad_input(format!(
        "{what} exists on the clusters {}",
        crate::words::list(clusters)
    ))
    .hint(format!(
        "say which, for example cluster: \"{}\"",
        clusters[0]
    ))
}

/// Arguments of an undo or a next call.
pub fn arguments<const N: usize>(pairs: [(&str, serde_json::Value); N]) -> crate::tool::Object {
    BTreeMap::from(pairs)
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}
