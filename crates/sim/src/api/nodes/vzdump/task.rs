//! The task of a backup: one guest after the other, each with its own success.

use std::sync::{Arc, Mutex, PoisonError};

use super::guest::{self, Backup};
use crate::api::nodes::guest::progress::seconds_to_copy;
use crate::call::{Call, Identity};
use crate::permission::require;
use crate::world::World;
use crate::world::work::{Job, Work};

/// What is to be done, and how.
#[derive(Clone, Debug)]
pub(super) struct Order {
    pub(super) who: Identity,
    pub(super) node: String,
    pub(super) storage: String,
    pub(super) mode: String,
    pub(super) compress: String,
    /// Which older backups stay; `None` for what the storage says.
    pub(super) keep: Option<String>,
    /// Older backups may go at all.
    pub(super) remove: bool,
    pub(super) notes: Option<String>,
    pub(super) protected: bool,
    /// Guests that the caller may not back up are left out in silence.
    pub(super) lenient: bool,
    pub(super) command: String,
}

impl Order {
    pub(super) fn read(call: &Call) -> Self {
        let text = |name: &str, default: &str| call.text(name).unwrap_or(default).to_owned();
        Self {
            who: call.who.clone(),
            node: call.node().to_owned(),
            storage: text("storage", "local"),
            mode: text("mode", "snapshot"),
            compress: text("compress", "0"),
            keep: call.text("prune-backups").map(str::to_owned),
            remove: call.text("remove") != Some("0"),
            notes: call.text("notes-template").map(str::to_owned),
            protected: call.flag("protected"),
            lenient: call.flag("all"),
            command: command_line(call),
        }
    }
}

/// The call as the command that would do the same.
fn command_line(call: &Call) -> String {
    let quoted = |text: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,+@%".contains(c);
        if !text.is_empty() && text.chars().all(plain) {
            text.to_owned()
        } else {
            format!("'{text}'")
        }
    };
    let mut words = vec!["vzdump".to_owned()];
    words.extend(call.params.list("vmid").into_iter().map(str::to_owned));
    for (name, _) in call
        .params
        .iter()
        .filter(|(name, _)| !matches!(*name, "vmid" | "job-id"))
    {
        if let Some(value) = call.text(name).filter(|value| !value.is_empty()) {
            words.push(format!("--{name} {}", quoted(value)));
        }
    }
    words.join(" ")
}

/// The guest that is being backed up, to be unlocked if the task is stopped.
type Current = Arc<Mutex<Option<u32>>>;

fn set_current(current: &Current, vmid: Option<u32>) {
    *current.lock().unwrap_or_else(PoisonError::into_inner) = vmid;
}

/// The whole job. Of `elsewhere` only the log speaks.
pub(super) fn plan(order: Order, guests: Vec<u32>, elsewhere: &[u32]) -> Work {
    let id = match guests[..] {
        [only] => only.to_string(),
        _ => String::new(),
    };
    let skipped = (!elsewhere.is_empty()).then(|| {
        let ids: Vec<String> = elsewhere.iter().map(u32::to_string).collect();
        format!("INFO: skip external VMs: {}", ids.join(", "))
    });
    let current = Current::default();
    let stopped = current.clone();
    Work::new("vzdump", id)
        .undo("interrupted by signal", move |world| {
            let vmid = *stopped.lock().unwrap_or_else(PoisonError::into_inner);
            let guest = vmid.and_then(|vmid| world.guests.get_mut(&vmid));
            guest.map(|guest| guest.config.remove("lock"));
        })
        .run(move |world, job| {
            let id = &order.storage;
            if let Err(text) = world.storage_on(&order.node, id) {
                notify(world, job);
                return Err(format!(
                    "could not activate storage '{id}': {text} could not get storage information for '{id}': {text}"
                ));
            }
            job.log(format!("INFO: starting new backup job: {}", order.command));
            if let Some(line) = skipped {
                job.log(line);
            }
            let mut chosen = Vec::new();
            for vmid in guests {
                if world.guests.contains_key(&vmid) {
                    let allowed = require(world, &order.who, &format!("/vms/{vmid}"), &["VM.Backup"]);
                    match allowed {
                        Err(_) if order.lenient => continue,
                        Err(error) => return Err(error.message),
                        Ok(()) => {}
                    }
                }
                chosen.push(vmid);
            }
            chosen.sort_unstable();
            chosen.reverse();
            let progress = Progress {
                order: Arc::new(order),
                left: chosen,
                failed: false,
                current,
            };
            next(job, progress);
            Ok(())
        })
}

/// How far the job is.
struct Progress {
    order: Arc<Order>,
    /// The guests that are still to come, the next one last.
    left: Vec<u32>,
    failed: bool,
    current: Current,
}

/// Goes on with the next guest, or ends the job.
fn next(job: &mut Job, mut progress: Progress) {
    let Some(vmid) = progress.left.pop() else {
        job.then(move |world, job| finish(world, job, progress.failed));
        return;
    };
    job.then(move |world, job| {
        let begun = guest::begin(world, job, &progress.order, vmid);
        let backup = match begun {
            Ok(backup) => backup,
            Err(text) => {
                log_failure(world, job, vmid, &text);
                progress.failed = true;
                next(job, progress);
                return Ok(());
            }
        };
        set_current(&progress.current, Some(vmid));
        job.wait(seconds_to_copy(backup.bytes));
        job.then(move |world, job| {
            let stored = guest::store(world, job, &progress.order, &backup);
            guest::release(world, job, &progress.order, &backup);
            set_current(&progress.current, None);
            match stored {
                Ok(()) => log_success(world, job, &backup),
                Err(text) => {
                    log_failure(world, job, vmid, &text);
                    progress.failed = true;
                }
            }
            next(job, progress);
            Ok(())
        });
        Ok(())
    });
}

fn log_success(world: &World, job: &mut Job, backup: &Backup) {
    let took = world.now.since(backup.started).as_secs();
    let clock = format!("{:02}:{:02}:{:02}", took / 3600, took / 60 % 60, took % 60);
    job.log(format!(
        "INFO: Finished Backup of VM {} ({clock})",
        backup.guest.vmid
    ));
    job.log(format!("INFO: Backup finished at {}", world.now));
}

fn log_failure(world: &World, job: &mut Job, vmid: u32, text: &str) {
    job.log(format!("ERROR: Backup of VM {vmid} failed - {text}"));
    job.log(format!("INFO: Failed at {}", world.now));
}

fn finish(world: &mut World, job: &mut Job, failed: bool) -> Result<(), String> {
    let how = if failed {
        "with errors"
    } else {
        "successfully"
    };
    job.log(format!("INFO: Backup job finished {how}"));
    notify(world, job);
    if failed {
        Err("job errors".to_owned())
    } else {
        Ok(())
    }
}

/// Whoever has no address gets no mail; that is no failure.
fn notify(world: &World, job: &mut Job) {
    let root = world.access.users.get("root@pam");
    if root.is_some_and(|root| root.email.is_some()) {
        return;
    }
    job.log("WARN: 'root@pam' does not have a configured email address in the user configuration - not sending an email to this user");
    job.log("ERROR: could not notify via target `mail-to-root`: could not notify via endpoint(s): mail-to-root: no recipients provided for the mail, cannot send it.");
}
