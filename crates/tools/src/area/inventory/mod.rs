//! list_proxmox_resources
//!
//! A call is read ([`query`]), the clusters are asked for everything at once ([`estate`]), and for what that does not
//! tell storage by storage ([`volumes`]) or guest by guest ([`snapshots`]), a few at a time ([`turns`]). What comes of it
//! ([`item`]) is filtered ([`matching`]), sorted and cut ([`page`]) and shown ([`column`], [`answer`]), with what could
//! not be seen ([`hidden`], [`notes`]).

mod answer;
mod column;
mod estate;
mod hidden;
mod item;
mod kind;
mod matching;
mod notes;
mod page;
mod query;
mod snapshots;
mod turns;
mod volumes;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::context::Context;
use crate::fault::Fault;
use crate::need::{self, Need};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Reads;
use answer::{Listing, PAGE};
use estate::Estate;
use kind::{Source, Wanted};
use notes::Notes;
use page::{Page, Position};
use query::Query;
use snapshots::Snapshots;

/// How many storages or guests one call asks.
const MOST_REQUESTS: usize = 200;

/// Lists guests, nodes, storages, pools, ISO images, templates, backups, volumes or snapshots of all configured
/// clusters.
///
/// Use it to find something, or for what is running where; for one guest get_proxmox_vm_status, for one node
/// get_proxmox_node_status. An offline node or storage does not break the list: a note says what is missing. PVE
/// silently leaves out what the token may not see (VM.Audit, Datastore.Audit, Pool.Audit; for backups VM.Backup and
/// Datastore.AllocateSpace); a note says where. Snapshots are read of 200 guests a call: narrow them with filter.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ListResources {
    /// guest and vm are VMs and containers.
    #[serde(default)]
    resource_type: Wanted,
    /// Words that all must hold: tag:prod status:running name:web* vmid:100-199 cpu>80 mem>90 (percent) uptime<1h
    /// created<2026-10-01; also node, pool, type, storage, lock, disk, size. "-" negates. A bare word is part of a name
    /// or id.
    filter: Option<String>,
    /// Columns, such as id, cpu, tags; a wrong one names all.
    #[serde(default, deserialize_with = "query::names")]
    fields: Vec<String>,
    /// A column; "-cpu" for the largest first.
    sort: Option<String>,
    /// Rows at most; else as many as fit 2,000 tokens.
    #[schemars(range(min = 1, max = 500))]
    limit: Option<usize>,
    /// next_cursor of the last page, same arguments.
    cursor: Option<String>,
}

impl Reads for ListResources {
    const SPEC: Spec = Spec {
        name: "list_proxmox_resources",
        title: "List guests, nodes, storages, images, backups and snapshots",
        toolset: Toolset::Core,
        risk: Risk::Read,
        idempotent: true,
        special: Special::OF_HOST,
        needs: Need::May(&[
            need::SEES_GUEST,
            need::node("Sys.Audit"),
            need::storage("Datastore.Audit"),
            Need::On("/pool/{pool}", "Pool.Audit"),
        ]),
        examples: &[
            Example {
                ask: "Which guests are there?",
                args: "{}",
            },
            Example {
                ask: "Which production guests run, the busiest first?",
                args: r#"{"filter": "tag:prod status:running", "sort": "-cpu"}"#,
            },
            Example {
                ask: "How are the nodes?",
                args: r#"{"resource_type": "node"}"#,
            },
            Example {
                ask: "Which storages are there on pve1?",
                args: r#"{"resource_type": "storage", "filter": "node:pve1"}"#,
            },
            Example {
                ask: "Which backups does VM 100 have?",
                args: r#"{"resource_type": "backup", "filter": "vmid:100"}"#,
            },
            Example {
                ask: "Which snapshots are from before November?",
                args: r#"{"resource_type": "snapshot", "filter": "created<2026-11-01"}"#,
            },
            Example {
                ask: "What can I install from?",
                args: r#"{"resource_type": "iso", "fields": ["id", "size"]}"#,
            },
        ],
    };

    type Answer = Listing;

    async fn read(self, cx: &Context) -> Result<Listing, Fault> {
        let query = Query::new(&self, cx.clusters.len() > 1)?;
        let mut notes = Notes::default();
        let estate = Estate::gather(&cx.clusters, &mut notes).await?;
        estate.tell_trouble(query.wanted, &mut notes);
        let (mut held, mut snapshots) = (Vec::new(), Snapshots::default());
        match query.wanted.source() {
            Source::Resources => {}
            Source::Volumes(content) => {
                held = volumes::look(&estate, content, &query.filter, &mut notes).await;
                hidden::name_gaps(&estate, query.wanted, &held, &mut notes).await;
            }
            Source::Snapshots => {
                let behind = query.behind.as_ref().filter(|_| query.pages_by_guest());
                snapshots = snapshots::look(&estate, &query.filter, behind, &mut notes).await;
                tell_unasked(&query, &snapshots, &mut notes);
            }
        }
        let mut items = matching::resources(&estate, &query);
        items.extend(matching::volumes(&held, &query.filter));
        items.extend(matching::snapshots(&snapshots, &query.filter));
        if items.is_empty() {
            let all = estate.parts.iter().flat_map(|part| &part.resources);
            let all = all.filter(|row| query.wanted.takes(row));
            // Where there is nothing at all, no word is to blame.
            if all.clone().next().is_some() {
                query
                    .filter
                    .in_vain(&all)
                    .into_iter()
                    .for_each(|why| notes.say(why));
            }
            hidden::explain_emptiness(&estate, query.wanted, &mut notes).await;
        }
        let most = query.limit.unwrap_or(PAGE);
        let page = Page::cut(items, query.sort, query.behind.as_ref(), most);
        if query.behind.is_some() && query.sort.is_some_and(|sort| sort.column.moves()) {
            notes.say(
                "this order changes from moment to moment; a row may be shown twice or not at all",
            );
        }
        let beyond = snapshots
            .beyond
            .clone()
            .filter(|_| query.pages_by_guest())
            .map(Position::at);
        Ok(Listing::new(&query, &page, beyond.as_ref(), notes.finish()))
    }
}

fn tell_unasked(query: &Query, snapshots: &Snapshots<'_>, notes: &mut Notes) {
    if snapshots.unasked == 0 {
        return;
    }
    let asked = "only 200 guests are asked in one call";
    let how = if query.pages_by_guest() {
        "go on with the cursor, or narrow it with filter"
    } else {
        "leave out sort to go on with a cursor, or narrow it with filter"
    };
    notes.say(format!(
        "{asked}, {} more were not: {how} (vmid, tag, pool, node)",
        snapshots.unasked
    ));
}
