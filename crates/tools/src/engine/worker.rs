//! Who sends the steps of a plan, and whether they still live. A process that dies takes its lock with it, so nobody has
//! to guess from the time that passed.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Engine, State};
use crate::fault::{Fault, Kind};
use crate::keys;
use crate::store::create_private_dir;

/// This engine, as one that sends steps.
pub(super) struct Worker {
    pub(super) id: String,
    /// The plans that it is sending.
    plans: Mutex<BTreeSet<String>>,
    _lock: Option<Lock>,
}

/// A locked file by which other processes see that this one lives. Gone with it.
struct Lock {
    path: PathBuf,
    _file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Held while the steps of a plan are being sent.
pub(super) struct AtWork {
    engine: Arc<Engine>,
    plan: String,
}

impl Drop for AtWork {
    fn drop(&mut self) {
        if let Ok(worker) = self.engine.worker() {
            worker.plans().remove(&self.plan);
        }
    }
}

impl Worker {
    fn new(state: &State) -> std::io::Result<Self> {
        let id = keys::short_id();
        let lock = match state {
            State::Memory => None,
            State::Dir(dir) => Some(Lock::take(&folder(dir), &id)?),
        };
        Ok(Self {
            id,
            plans: Mutex::default(),
            _lock: lock,
        })
    }

    fn plans(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lock {
    fn take(folder: &Path, id: &str) -> std::io::Result<Self> {
        create_private_dir(folder)?;
        let path = folder.join(id);
        let file = File::create_new(&path)?;
        file.lock()?;
        Ok(Self { path, _file: file })
    }
}

fn folder(state: &Path) -> PathBuf {
    state.join("workers")
}

impl Engine {
    /// This engine as a worker.
    pub(super) fn worker(&self) -> Result<&Worker, Fault> {
        if let Some(worker) = self.worker.get() {
            return Ok(worker);
        }
        let worker = Worker::new(&self.state).map_err(|error| {
            Fault::new(
                Kind::Internal,
                format!("the state directory cannot be written to: {error}"),
            )
            .hint("a person has to look at the disk and the state directory")
        })?;
        Ok(self.worker.get_or_init(|| worker))
    }

    /// Begins to send a plan.
    pub(super) fn at_work(self: &Arc<Self>, plan: &str) -> Result<AtWork, Fault> {
        self.worker()?.plans().insert(plan.to_owned());
        Ok(AtWork {
            engine: self.clone(),
            plan: plan.to_owned(),
        })
    }

    /// Whether `worker` lives and is still sending that plan.
    pub(super) fn is_at_work(&self, worker: &str, plan: &str) -> bool {
        if let Some(own) = self.worker.get().filter(|own| own.id == worker) {
            return own.plans().contains(plan);
        }
        let State::Dir(dir) = &self.state else {
            return false;
        };
        let path = folder(dir).join(worker);
        match File::open(&path).map(|file| file.try_lock()) {
            Ok(Ok(())) => {
                let _ = fs::remove_file(&path);
                false
            }
            // A lock that cannot be tried is no proof of a death.
            Ok(Err(TryLockError::WouldBlock | TryLockError::Error(_))) => true,
            Err(error) => error.kind() != std::io::ErrorKind::NotFound,
        }
    }

    /// The plans that this process is sending for a caller, for one who wants to leave.
    pub async fn at_work_for(&self, caller: &str) -> Vec<String> {
        let (Some(worker), Ok(store)) = (self.worker.get(), self.store().await) else {
            return Vec::new();
        };
        let plans: Vec<String> = worker.plans().iter().cloned().collect();
        let mut of_caller = Vec::new();
        for id in plans {
            let stored = store.plan(&id).await.ok().flatten();
            if stored.is_some_and(|stored| stored.caller == caller) {
                of_caller.push(id);
            }
        }
        of_caller
    }
}
