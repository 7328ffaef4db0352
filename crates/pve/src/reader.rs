//! The half of a connection that can only ask.

use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;

use crate::answer::{
    ClusterStatus, NodeStatus, Permissions, Resource, StorageStatus, Version, Volume,
};
use crate::certificate::Certificate;
use crate::client::{Answer, Client};
use crate::error::Error;
use crate::id::NodeName;
use crate::request::{Method, Request};
use crate::secret::Secret;
use crate::settings::Host;
use crate::sink::Sink;
use crate::tally::Tally;

/// Reads from a cluster. Cheap to clone; clones share connections and login.
///
/// Task and guest reads are in [`task`](crate::task) and [`guest`](crate::guest).
#[derive(Debug, Clone)]
pub struct Reader {
    client: Arc<Client>,
}

impl Reader {
    pub(crate) fn new(client: Arc<Client>) -> Self {
        Self { client }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Sends a GET and reads its `data`. Any other method is refused before anything is sent.
    pub async fn get<T: DeserializeOwned>(&self, request: impl Into<Request>) -> Result<T, Error> {
        self.ask(&request.into()).await?.decode()
    }

    /// Sends a GET and reads its `data` as a list, leaving out items that cannot be read.
    pub async fn list<T: DeserializeOwned>(
        &self,
        request: impl Into<Request>,
    ) -> Result<Vec<T>, Error> {
        self.ask(&request.into()).await?.decode_list()
    }

    pub(crate) async fn ask(&self, request: &Request) -> Result<Answer, Error> {
        if request.method != Method::Get {
            return Err(request.build_error("a reader sends only GET"));
        }
        self.client.call(request).await
    }

    /// How often something that is waited for is looked at.
    pub fn task_poll(&self) -> Duration {
        self.client.settings().timeouts.task_poll
    }

    /// The requests to this cluster so far, writes too.
    pub fn tally(&self) -> &Tally {
        self.client.tally()
    }

    /// The configured hosts, in order.
    pub fn hosts(&self) -> &[Host] {
        &self.client.settings().hosts
    }

    /// The host that the next request goes to first.
    pub fn current_host(&self) -> &Host {
        self.client.current_host()
    }

    /// The certificates that hosts presented, trusted or not, as far as they were asked.
    pub fn certificates(&self) -> Vec<(&Host, Certificate)> {
        self.client.certificates().collect()
    }

    /// By how many seconds the clock of the host that answered last is ahead of ours, in its own words. `None`: none has
    /// answered yet, or none said.
    pub fn clock_ahead(&self) -> Option<i64> {
        self.client.ahead()
    }

    /// Who asks: `root@pam!mcp` for a token, `root@pam` for a login.
    pub fn identity(&self) -> String {
        self.client.settings().credentials.id()
    }

    /// Whether a request can be made without anybody noticing that the secret for it is fetched. What nobody is waiting for
    /// leaves the others alone.
    pub fn is_quiet(&self) -> bool {
        let secret = self.client.settings().credentials.secret();
        secret.is_none_or(Secret::is_quiet)
    }

    /// Whether requests wait for the secret at this moment.
    pub fn waits_for_secret(&self) -> bool {
        let secret = self.client.settings().credentials.secret();
        secret.is_some_and(Secret::is_under_way)
    }

    /// A file that the node's web server gives to everybody, such as its own API schema at
    /// `/pve-docs/api-viewer/apidoc.js`. Sent without credentials.
    pub async fn document(&self, path: &str) -> Result<Vec<u8>, Error> {
        self.client.document(path).await
    }

    /// A GET whose answer is no JSON but a file of any length. Each piece goes to `sink`, whose error ends it.
    ///
    /// Nothing here tells a file that broke off from one that is whole: PVE ends both by closing the connection.
    pub async fn download(&self, request: &Request, sink: &mut dyn Sink) -> Result<(), Error> {
        if request.method != Method::Get {
            return Err(request.build_error("a reader sends GET only"));
        }
        self.client.download(request, sink).await
    }

    /// PVE's version.
    pub async fn version(&self) -> Result<Version, Error> {
        self.get("/version").await
    }

    /// Everything in the cluster that we may see.
    pub async fn resources(&self) -> Result<Vec<Resource>, Error> {
        self.list("/cluster/resources").await
    }

    /// The same, each entry on its own: to keep of thousands some here and some there without moving them about.
    pub async fn shared_resources(&self) -> Result<Vec<Arc<Resource>>, Error> {
        self.list("/cluster/resources").await
    }

    /// Quorum and nodes.
    pub async fn cluster_status(&self) -> Result<ClusterStatus, Error> {
        Ok(ClusterStatus::from_entries(
            self.list("/cluster/status").await?,
        ))
    }

    /// One node's load, memory and versions.
    pub async fn node_status(&self, node: &NodeName) -> Result<NodeStatus, Error> {
        self.get(format!("/nodes/{node}/status")).await
    }

    /// The storages of a node.
    pub async fn storages(&self, node: &NodeName) -> Result<Vec<StorageStatus>, Error> {
        self.list(format!("/nodes/{node}/storage")).await
    }

    /// What a storage holds as a node sees it: everything, or one kind of content such as `backup`.
    pub async fn volumes(
        &self,
        node: &NodeName,
        storage: &str,
        content: Option<&str>,
    ) -> Result<Vec<Volume>, Error> {
        let storage = crate::encode::encode_segment(storage);
        let mut request = Request::get(format!("/nodes/{node}/storage/{storage}/content"));
        if let Some(content) = content {
            request = request.with("content", content);
        }
        self.list(request).await
    }

    /// What we may do, on the paths that have rules of their own. Rights that come from a pool show only in
    /// [`permissions_on`](Self::permissions_on).
    pub async fn permissions(&self) -> Result<Permissions, Error> {
        self.get("/access/permissions").await
    }

    /// The same of another user; those who may see it have `Sys.Audit` on `/access`.
    pub async fn permissions_of(&self, user: &str) -> Result<Permissions, Error> {
        self.get(Request::get("/access/permissions").with("userid", user))
            .await
    }

    /// What we may do on one path, all ways to a right counted in.
    pub async fn permissions_on(&self, path: &str) -> Result<Permissions, Error> {
        self.get(Request::get("/access/permissions").with("path", path))
            .await
    }
}
