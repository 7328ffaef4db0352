//! backup_proxmox_vm

mod contents;
mod hold;
mod retention;
mod rule;

pub(super) use contents::is_included;

use pve::{GuestConfig, Request, StorageId, StorageStatus, Vmid};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use self::hold::{Hold, Mode};
use self::retention::Newcomer;
use self::rule::Rule;
use super::backups::{Backup, Backups};
use super::power::{State, locked};
use super::snapshot::unlocked;
use crate::context::{Context, Guest};
use crate::deed::Deed;
use crate::fault::{Fault, Kind};
use crate::need::{self, Need};
use crate::plan::{Blocker, Check, Expect, Guard, Needs, Plan, Step, Trace, Undo};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Changes;
use crate::words;

/// What PVE fills in in the notes of a backup.
const VARIABLES: [&str; 4] = ["cluster", "guestname", "node", "vmid"];

/// Backs up a VM or container now, to a storage that takes backups, PBS included.
///
/// It survives its guest; for a quick way back use snapshot_proxmox_vm; restore with rollback_proxmox_vm. Mode snapshot
/// keeps the guest running; suspend and stop interrupt it and ask first, as does a container without snapshots.
/// keep_last or prune removes older ones, which a person confirms. Needs VM.Backup, Datastore.AllocateSpace, to prune
/// Datastore.Allocate. Waits until the storage lists it. Undo: none; a person deletes the volume.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct BackupVm {
    /// The guest's id.
    vmid: Vmid,
    /// Where to; the one with most room if left out.
    storage: Option<StorageId>,
    /// How it is held still.
    #[serde(default)]
    mode: Mode,
    /// Keep this many, the new one included; remove older.
    #[schemars(range(min = 1, max = 1000))]
    keep_last: Option<u32>,
    /// Instead of keep_last: PVE's rule, as keep-daily=7,keep-weekly=4.
    prune: Option<String>,
    /// Its name if left out.
    notes: Option<String>,
    /// Protect it from removal.
    #[serde(default)]
    protected: bool,
}

impl Changes for BackupVm {
    const SPEC: Spec = Spec {
        name: "backup_proxmox_vm",
        title: "Back up a VM or container",
        toolset: Toolset::Core,
        risk: Risk::Destroy,
        idempotent: false,
        special: Special::NONE,
        needs: Need::All(&[
            need::SEES_GUEST,
            need::guest("VM.Backup"),
            need::storage("Datastore.AllocateSpace"),
            Need::May(&[Need::At(
                Risk::Destroy,
                &need::storage("Datastore.Allocate"),
            )]),
        ]),
        examples: &[
            Example {
                ask: "Back up staging to the NAS before I touch it",
                args: r#"{"vmid": 105, "storage": "nas", "notes": "before the move", "protected": true}"#,
            },
            Example {
                ask: "Back up git to the vault",
                args: r#"{"vmid": 202, "storage": "vault"}"#,
            },
            Example {
                ask: "Back up the DNS container while it is down, and keep the last two",
                args: r#"{"vmid": 200, "storage": "nas", "mode": "stop", "keep_last": 2}"#,
            },
        ],
    };

    const DEEDS: &'static [Deed] = &[Deed::post("/nodes/{}/vzdump")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let guest = cx.guest(self.vmid, None, None).await?;
        guest.require_online()?;
        let notes = self.notes_template()?;
        let rule = self.rule()?;
        let (storage, why) = self.storage(&guest).await?;
        let config = guest.config().await?;
        let state = State::of(&guest).await?;
        let before =
            Backups::on(guest.pve(), &guest.at.node, guest.at.vmid, &storage.storage).await;
        let mode = words::word(&self.mode);
        let mut plan = Plan::new(
            &Self::SPEC,
            &guest.cluster.name,
            format!(
                "Back up {} on {} to {}, in {mode} mode",
                guest.label(),
                guest.at.node,
                storage.storage
            ),
        );
        guest.bind(&mut plan, &config);
        plan.needs = Self::needs(&guest, &storage, rule.is_some());
        plan.warnings.extend(why);
        plan.blockers = self.blockers(&guest, &config, &state);
        plan.blockers
            .extend(before.unchecked.iter().map(|what| unlisted(what)));
        plan.guards
            .push(same_backups(&guest, &storage, &before.found));
        let hold = Hold::of(self.mode, &guest, &config, &state).await?;
        let caught = (hold.caught, before.found.as_slice());
        contents::show(&mut plan, &guest, &config, &storage, caught);
        hold.show(&mut plan, &guest);
        if let Some(rule) = rule.as_ref() {
            let new = Newcomer {
                storage: &storage,
                protected: self.protected,
                now: cx.now,
            };
            retention::prune(&mut plan, &guest, &before.found, rule, &new).await?;
        } else if !self.protected {
            plan.blockers
                .extend(retention::limit(&guest, &before.found, &storage).await);
        }
        plan.steps
            .push(self.step(&guest, &state, &storage, &before.found, (notes, rule)));
        plan.undo = Undo::Impossible {
            because: "a backup is removed as a volume of its storage, by a person in PVE (or `pvesm free`)"
                .to_owned(),
        };
        Ok(plan)
    }
}

impl BackupVm {
    /// The text as PVE's template: backslashes and line breaks written out, unknown variables refused.
    fn notes_template(&self) -> Result<String, Fault> {
        let Some(notes) = &self.notes else {
            return Ok("{{guestname}}".to_owned());
        };
        let names = notes
            .split("{{")
            .skip(1)
            .filter_map(|rest| rest.split_once("}}"));
        for (name, _) in names {
            let is_word =
                !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || "{}".contains(c));
            if is_word && !VARIABLES.contains(&name) {
                return Err(Fault::bad_input(format!(
                    "PVE knows no {{{{{}}}}} in notes",
                    words::clip(name, 40)
                ))
                .hint("it fills in {{cluster}}, {{guestname}}, {{node}} and {{vmid}}"));
            }
        }
        let template = notes.replace('\\', "\\\\").replace('\n', "\\n");
        if template.chars().count() > 1024 {
            return Err(
                Fault::bad_input("the notes are too long").hint("send at most 1024 characters")
            );
        }
        Ok(template)
    }

    /// The storage that was named, or the one with the most room and why it was taken.
    async fn storage(&self, guest: &Guest) -> Result<(StorageStatus, Option<String>), Fault> {
        let node = &guest.at.node;
        let mut takers = guest.pve().storages(node).await?;
        takers.retain(|storage| storage.active && storage.holds("backup"));
        takers.sort_by_key(|storage| std::cmp::Reverse(storage.avail));
        let names: Vec<_> = takers
            .iter()
            .map(|storage| storage.storage.clone())
            .collect();
        if let Some(wanted) = &self.storage {
            let found = takers
                .into_iter()
                .find(|storage| *wanted == *storage.storage);
            return found
                .map(|storage| (storage, None))
                .ok_or_else(|| no_taker(guest, wanted, &names));
        }
        match takers.into_iter().next() {
            Some(only) if names.len() == 1 => Ok((only, None)),
            Some(roomiest) => {
                let why = format!(
                    "{} is taken, with the most room of {}; storage chooses another",
                    roomiest.storage,
                    words::list(&names)
                );
                Ok((roomiest, Some(why)))
            }
            None => Err(Fault::new(
                Kind::NotFound,
                format!("the token sees no storage on {node} that takes backups"),
            )
            .hint("it needs Datastore.AllocateSpace on the storage (/storage/NAME), and the storage the content type backup")),
        }
    }

    /// Which backups to keep, if that is to be decided at all.
    fn rule(&self) -> Result<Option<Rule>, Fault> {
        match (self.keep_last, &self.prune) {
            (None, None) => Ok(None),
            (Some(keep), None) => Ok(Some(Rule::last(keep))),
            (None, Some(prune)) => Rule::parse(prune).map(Some),
            (Some(keep), Some(_)) => Err(Fault::bad_input(
                "keep_last and prune both say what stays",
            )
            .hint(format!(
                "send one of them; prune can hold keep-last={keep} too"
            ))),
        }
    }

    fn needs(guest: &Guest, storage: &StorageStatus, prunes: bool) -> Needs {
        let (on_guest, on_storage) = (guest.at.acl_path(), format!("/storage/{}", storage.storage));
        let mut all = vec![
            Needs::on(&on_guest, "VM.Audit"),
            Needs::on(&on_guest, "VM.Backup"),
            Needs::on(&on_storage, "Datastore.AllocateSpace"),
        ];
        if prunes {
            all.push(Needs::on(&on_storage, "Datastore.Allocate"));
        }
        Needs::All(all)
    }

    fn blockers(&self, guest: &Guest, config: &GuestConfig, state: &State) -> Vec<Blocker> {
        let mut blockers = Vec::new();
        if let Some(lock) = config.lock() {
            blockers.push(locked(guest, &lock));
        }
        if state.managed && state.running && self.mode == Mode::Stop {
            blockers.push(Blocker::new(
                format!(
                    "{} is under HA, and PVE does not stop it for a backup",
                    guest.label()
                ),
                "send mode: \"snapshot\"",
            ));
        }
        blockers
    }

    fn step(
        &self,
        guest: &Guest,
        state: &State,
        storage: &StorageStatus,
        before: &[Backup],
        (notes, rule): (String, Option<Rule>),
    ) -> Step {
        let (at, id) = (&guest.at, &storage.storage);
        let on_server = storage.kind.as_deref() == Some("pbs");
        let removes = rule.as_ref().is_some_and(|rule| !rule.keeps_all());
        // Said outright, so that neither the node's nor the storage's defaults decide about older backups.
        let request = Request::post(format!("/nodes/{}/vzdump", at.node))
            .with("vmid", at.vmid.to_string())
            .with("storage", id.as_str())
            .with("mode", words::word(&self.mode))
            .maybe("compress", (!on_server).then_some("zstd"))
            .with("notes-template", notes)
            .maybe("protected", self.protected.then_some(true))
            .with("remove", removes)
            .maybe("prune-backups", rule.map(|rule| rule.to_string()));
        // A vzdump that finds nothing to do ends well too: only a backup that was not there before counts.
        let known: Vec<Value> = before.iter().map(|backup| json!(backup.volid)).collect();
        let mut made = Check::list(
            Backups::request(&at.node, at.vmid, id),
            format!("{id} lists a new backup of {}", guest.label()),
            Expect::Added("volid".to_owned(), known),
        )
        .and(unlocked(guest));
        if state.running && self.mode == Mode::Stop {
            made = made.and(runs(guest));
        }
        let trace = Trace {
            types: vec!["vzdump".to_owned()],
            ..Trace::of(at, "dump")
        };
        Step::request(format!("Back up {} to {id}", guest.label()), request)
            .task(trace)
            .after(made)
    }
}

/// A new backup is told by not having been there before.
fn unlisted(what: &str) -> Blocker {
    Blocker::new(
        format!("not to be seen: {what}; a new one could not be told from them"),
        "grant what is missing, send another storage, or try again later",
    )
}

/// One that a job makes meanwhile would be taken for the new one, and other ones would be pruned.
fn same_backups(guest: &Guest, storage: &StorageStatus, before: &[Backup]) -> Guard {
    let id = &storage.storage;
    let rows: Vec<_> = before.iter().map(|it| json!({"volid": it.volid})).collect();
    Guard::same_rows(
        format!("the backups of {} on {id}", guest.label()),
        Backups::request(&guest.at.node, guest.at.vmid, id),
        &["volid"],
        &rows,
    )
}

fn runs(guest: &Guest) -> Check {
    Check::guest(
        &guest.at,
        "status/current",
        format!("{} runs again", guest.label()),
        vec![Expect::Is("status".to_owned(), json!("running"))],
    )
}

fn no_taker(guest: &Guest, wanted: &StorageId, others: &[String]) -> Fault {
    let fault = Fault::new(
        Kind::NotFound,
        format!(
            "no storage {wanted} takes backups on {}, or the token may not see it: that needs Datastore.AllocateSpace on /storage/{wanted}",
            guest.at.node
        ),
    );
    if others.is_empty() {
        fault
    } else {
        fault.hint(format!("those that do are {}", words::list(others)))
    }
}
