//! `proxmox://cluster/{cluster}` and what is in it, as JSON.
//!
//! | module | what lives there |
//! |---|---|
//! | `address` | the form of addresses, and what one stands for |
//! | `cluster`, `things` | what each sort of resource shows |
//! | `view` | what of it is news |

mod address;
mod cluster;
mod things;
mod view;

use std::sync::Arc;

use pve::Resource as Row;
use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::json;
use tokio::sync::OnceCell;
use tools::context::Cluster;
use tools::fault::Fault;

pub(super) use address::{Address, TEMPLATES, Thing};
pub(super) use view::Seen;

/// How long what was read may be kept, in milliseconds.
pub(super) const TTL: u64 = 10_000;
const JSON: &str = "application/json";

/// One per configured cluster; the rest is found by the templates. Asks nobody.
pub(super) fn list(clusters: &[Arc<Cluster>]) -> Vec<Resource> {
    clusters
        .iter()
        .map(|cluster| {
            Resource::new(address::of_cluster(&cluster.name), cluster.name.clone())
                .with_title(format!("Cluster {}", cluster.name))
                .with_description("Version, quorum, nodes and guest counts of this cluster")
                .with_mime_type(JSON)
        })
        .collect()
}

/// The forms of all addresses.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let template = |(uri, name, title, description)| {
        ResourceTemplate::new(uri, name)
            .with_title(title)
            .with_description(description)
            .with_mime_type(JSON)
    };
    TEMPLATES.into_iter().map(template).collect()
}

/// What is at this address.
pub(super) async fn read(
    clusters: &[Arc<Cluster>],
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let address = find(clusters, uri)?;
    let look = Look::at(&address.cluster);
    let view = match Box::pin(look.see(&address.thing)).await {
        Seen::Whole(view) | Seen::InPart(view) => view,
        Seen::Absent => return Err(not_found(uri)),
        Seen::Unreadable(why) => {
            let why = tools::clean::text(&why);
            return Err(ErrorData::internal_error(why, None));
        }
    };
    let contents = ResourceContents::text(view.text(), uri).with_mime_type(JSON);
    #[cfg(feature = "conformance")]
    let contents = match &address.thing {
        Thing::Fixture(fixture) => fixture.contents().unwrap_or(contents),
        _ => contents,
    };
    Ok(ReadResourceResult::new(vec![contents]))
}

/// What this is the address of. One that is written otherwise than it should be is refused with the right one.
pub(super) fn find(clusters: &[Arc<Cluster>], uri: &str) -> Result<Address, ErrorData> {
    let meant = Address::meant(clusters, uri).ok_or_else(|| not_found(uri))?;
    if meant.is_written(uri) {
        return Ok(meant);
    }
    let message = format!("Resource not found; its address is {}", meant.uri());
    let data = json!({ "uri": echoed(uri) });
    Err(ErrorData::resource_not_found(message, Some(data)))
}

/// There is nothing at that address.
fn not_found(uri: &str) -> ErrorData {
    let data = json!({ "uri": echoed(uri) });
    ErrorData::resource_not_found("Resource not found", Some(data))
}

/// As much of an address as is repeated.
fn echoed(uri: &str) -> String {
    tools::words::clip(uri, tools::echo::MOST)
}

/// One look at a cluster. What several resources show parts of is read once.
pub(super) struct Look<'a> {
    cluster: &'a Cluster,
    rows: OnceCell<Result<Vec<Row>, String>>,
}

impl<'a> Look<'a> {
    /// At this cluster.
    pub(super) fn at(cluster: &'a Cluster) -> Self {
        Self {
            cluster,
            rows: OnceCell::new(),
        }
    }

    /// What there is to see of it.
    pub(super) async fn see(&self, thing: &Thing) -> Seen {
        let pve = &self.cluster.pve;
        match thing {
            Thing::Cluster => cluster::seen(self.cluster).await,
            Thing::Task(upid) => things::task(pve, upid).await,
            #[cfg(feature = "conformance")]
            Thing::Fixture(fixture) => Seen::Whole(view::View::new(fixture.shown(), json!(null))),
            Thing::Node(name) => match self.rows().await {
                Ok(rows) => things::node(rows, name),
                Err(why) => Seen::Unreadable(why.clone()),
            },
            Thing::Guest(vmid) => match self.rows().await {
                Ok(rows) => things::guest(pve, rows, *vmid).await,
                Err(why) => Seen::Unreadable(why.clone()),
            },
        }
    }

    async fn rows(&self) -> Result<&Vec<Row>, &String> {
        let ask = || async {
            let rows = self.cluster.pve.resources().await;
            rows.map_err(|error| Fault::from(error).to_string())
        };
        self.rows.get_or_init(ask).await.as_ref()
    }
}
