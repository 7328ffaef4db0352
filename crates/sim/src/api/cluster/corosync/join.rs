//! Joining: the node that is asked gives up its own configuration for that of a cluster.

use serde_json::json;

use crate::call::Call;
use crate::error::Reply;
use crate::world::World;
use crate::world::neighbour::Neighbour;
use crate::world::work::{Job, Work};

/// `AA:BB:...` of 32 pairs.
pub(super) fn is_fingerprint(text: &str) -> bool {
    let is_pair = |pair: &str| pair.len() == 2 && pair.bytes().all(|b| b.is_ascii_hexdigit());
    let pairs: Vec<&str> = text.split(':').collect();
    pairs.len() == 32 && pairs.into_iter().all(is_pair)
}

/// `POST join`. Everything is looked at in the task.
pub(super) fn start(world: &mut World, call: &Call) -> Reply {
    let text = |name: &str| call.text(name).unwrap_or_default().to_owned();
    let asked = Asked {
        host: text("hostname"),
        fingerprint: text("fingerprint"),
        password: text("password"),
        node: call.endpoint.clone(),
        id: call.int("nodeid"),
        force: call.flag("force"),
    };
    let work = Work::new("clusterjoin", "").run(move |world, job| asked.join(world, job));
    Ok(json!(world.start_task(&call.who, &call.endpoint, work)).into())
}

struct Asked {
    host: String,
    fingerprint: String,
    password: String,
    node: String,
    id: Option<u64>,
    force: bool,
}

impl Asked {
    fn join(self, world: &mut World, job: &mut Job) -> Result<(), String> {
        self.check(world, job)?;
        let host = &self.host;
        job.log(format!("Establishing API connection with host '{host}'"));
        let neighbour = self.reach(world)?;
        job.log("Login succeeded.");
        job.log("check cluster join API version");
        job.log("Request addition of this node");
        if neighbour.nodes.contains_key(&self.node) && !self.force {
            let node = &self.node;
            job.log("An error occurred on the cluster node: 400 Parameter verification failed.");
            job.log(format!("! Node '{node}' already exists"));
            return Err("Cluster join aborted!".to_owned());
        }
        job.log("Join request OK, finishing setup locally");
        job.log("stopping pve-cluster service");
        job.log("waiting for quorum...OK");
        world.join(neighbour, &self.node, self.id);
        job.log(format!(
            "successfully added node '{}' to cluster.",
            self.node
        ));
        Ok(())
    }

    fn check(&self, world: &World, job: &mut Job) -> Result<(), String> {
        let mut errors = Vec::new();
        if world.alone.is_none() {
            errors.push("* authentication key '/etc/corosync/authkey' already exists");
            errors.push("* cluster config '/etc/pve/corosync.conf' already exists");
        }
        if !world.guests.is_empty() {
            errors.push("* this host already contains virtual guests");
        }
        if world.alone.is_none() {
            errors.push("* corosync is already running, is this node already in a cluster?!");
        }
        if errors.is_empty() {
            return Ok(());
        }
        job.log("detected the following error(s):");
        for error in errors {
            job.log(error);
        }
        if self.force {
            job.log("WARNING : detected error but forced to continue!");
            return Ok(());
        }
        Err("Check if node may join a cluster failed!".to_owned())
    }

    fn reach(&self, world: &World) -> Result<Neighbour, String> {
        let host = &self.host;
        let neighbour = world.alone.iter().find(|other| other.host == *host);
        let Some(other) = neighbour else {
            return Err(format!(
                "500 Can't connect to {host}:8006 (No route to host)"
            ));
        };
        if !other.fingerprint.eq_ignore_ascii_case(&self.fingerprint) {
            return Err(format!(
                "500 Can't connect to {host}:8006 (hostname verification failed)"
            ));
        }
        if other.password != self.password {
            return Err("401 authentication failure".to_owned());
        }
        Ok(other.clone())
    }
}
