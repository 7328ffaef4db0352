//! What there is to reach through an engine: tools, clusters, policy, store.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use super::{Engine, State};
use crate::caller::{Bounds, Caller, Scope};
use crate::context::Cluster;
use crate::fault::Fault;
use crate::meter::Meter;
use crate::policy::Policy;
use crate::registry::Registry;
use crate::rights::{self, Rights};
use crate::store::Store;

impl Engine {
    /// The process is about to end: calls that wait are answered soon, with how things stand and how to ask later.
    pub fn hurry(&self) {
        self.hurry.cancel();
    }

    /// Waits for plans that are being applied, before the process ends. False: some were still running, and the audit
    /// trail shows them as open.
    pub async fn drain(&self, within: Duration) -> bool {
        self.running.close();
        tokio::time::timeout(within, self.running.wait())
            .await
            .is_ok()
    }

    /// The tools that are switched on.
    pub fn registry(&self) -> &Registry {
        self.registry_for(Scope::Full)
    }

    /// Those of them that are of any use to a caller who may do so much.
    pub fn registry_for(&self, scope: Scope) -> &Arc<Registry> {
        self.registries[scope as usize].get_or_init(|| {
            let registry = Registry::new(&self.toolsets, self.most, self.names.to_vec());
            Arc::new(registry.with(self.choices).within(scope))
        })
    }

    /// What decides on this caller's plans.
    pub(super) fn policy_for(&self, caller: &Caller) -> Arc<Policy> {
        let policy = self.policy();
        if caller.bounds == Bounds::default() {
            return policy;
        }
        Arc::new(policy.within(&caller.bounds))
    }

    /// The clusters that this caller reaches.
    pub fn clusters_for<'a>(
        &'a self,
        caller: &'a Caller,
    ) -> impl Iterator<Item = &'a Arc<Cluster>> {
        let reached = |cluster: &&Arc<Cluster>| caller.bounds.reach_cluster(&cluster.name);
        self.clusters.iter().filter(reached)
    }

    /// What the tokens of the clusters may do, as far as it is known: at first what an earlier process has left on disk.
    pub fn rights(&self) -> &Rights {
        self.rights.get_or_init(|| {
            let clusters = self.clusters.iter();
            let keys = clusters.map(|cluster| rights::Key::of(&cluster.name, &cluster.pve));
            Rights::cached(keys.collect(), self.state.dir())
        })
    }

    /// Asks the clusters what the tokens may do. Tells which did not answer, and why. Nobody waits for this, so that a cluster is
    /// left out whose secret a keyring or a password manager would have to be asked for: it is asked once somebody has used it.
    pub async fn learn_rights(&self) -> Vec<(String, Fault)> {
        let clusters = self.clusters.iter();
        let clusters = clusters.filter(|cluster| cluster.pve.is_quiet());
        let clusters = clusters.map(|cluster| (cluster.name.as_str(), &cluster.pve));
        self.rights().learn(clusters, self.now()).await
    }

    /// The clusters, to read from.
    pub fn clusters(&self) -> &[Arc<Cluster>] {
        &self.clusters
    }

    /// What was counted so far.
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// The settings that decide.
    pub fn policy(&self) -> Arc<Policy> {
        let policy = self.policy.read();
        policy.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Lets other settings decide from now on. A mode that lets more happen than the one at the start is refused, since
    /// the tools for that are not offered.
    pub fn decide_by(&self, policy: Policy) -> Result<(), Fault> {
        if policy.widest() > self.most {
            return Err(Fault::refused(
                "the mode lets more happen than the one that oxmox was started in",
            )
            .hint("start it anew: clients have been offered the tools of read-only mode"));
        }
        let mut decides = self.policy.write().unwrap_or_else(PoisonError::into_inner);
        *decides = Arc::new(policy);
        Ok(())
    }

    /// The store, opened on first use.
    pub async fn store(&self) -> Result<&Store, Fault> {
        let open = async || {
            let opened = match &self.state {
                State::Dir(dir) => Store::open(dir),
                State::Shared(at, dir) => Store::shared(at, dir).await,
                State::Memory => Store::in_memory(),
            };
            opened.map(|store| store.copied_by(self.copyist.clone()))
        };
        self.store.get_or_try_init(open).await
    }

    pub(super) fn now(&self) -> i64 {
        (self.clock)()
    }

    /// Who PVE takes the caller for on that cluster, or on all of them, if they brought tokens of their own along.
    pub(super) fn brought_identity(&self, cluster: Option<&str>) -> Option<String> {
        if !self.is_on_behalf {
            return None;
        }
        let meant = |it: &&Arc<Cluster>| cluster.is_none_or(|name| it.name == name);
        let clusters = self.clusters.iter().filter(meant);
        let identities: BTreeSet<_> = clusters.map(|cluster| cluster.pve.identity()).collect();
        Some(Vec::from_iter(identities).join(", "))
    }
}
