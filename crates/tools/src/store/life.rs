//! Whether those who send plans still live. A process that dies takes its lock with it, so that nobody has to guess from
//! the time that passed: a locked file where the store is a directory, a lock of its own session where it is a database.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use super::postgres::{self, Address};
use super::{Store, create_private_dir};
use crate::fault::{Fault, Kind};

/// How often a session is looked at that holds a lock.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// How the workers on a store show that they live.
pub(super) enum Life {
    /// Nobody but this process can know of the store.
    Alone,
    /// By a locked file in this directory.
    Files(PathBuf),
    /// By a lock of a session.
    Sessions(Box<Address>),
}

/// Held by a worker as long as it lives.
pub struct Sign {
    _held: Option<Held>,
}

#[expect(dead_code, reason = "held for what their drop does")]
enum Held {
    File(LockedFile),
    Session(LockedSession),
}

impl Store {
    /// A sign of life under this name, which must be a new one.
    pub async fn show_life(&self, worker: &str) -> Result<Sign, Fault> {
        let unwritable = |error: io::Error| {
            Fault::new(
                Kind::Internal,
                format!("the state directory cannot be written to: {error}"),
            )
            .hint("a person has to look at the disk and the state directory")
        };
        let held = match &self.life {
            Life::Alone => None,
            Life::Files(dir) => {
                let file = LockedFile::take(dir, worker).map_err(unwritable)?;
                Some(Held::File(file))
            }
            Life::Sessions(address) => {
                let session = LockedSession::take(*address.clone(), key(worker));
                let session = tokio::task::spawn_blocking(session).await;
                let session = session.unwrap_or_else(|error| Err(error.to_string()));
                Some(Held::Session(session.map_err(super::Trouble)?))
            }
        };
        Ok(Sign { _held: held })
    }

    /// Whether whoever shows life under this name still does. What cannot be seen is no proof of a death.
    pub async fn lives(&self, worker: &str) -> bool {
        match &self.life {
            Life::Alone => false,
            Life::Files(dir) => file_is_held(&dir.join(worker)),
            Life::Sessions(_) => {
                let values = [key(worker).into()];
                let free = self.write(move |tx| {
                    let rows = tx.query(
                        // Several may look at a time.
                        "SELECT CASE WHEN pg_try_advisory_xact_lock_shared(?1) THEN 1 ELSE 0 END::bigint",
                        &values,
                    )?;
                    rows.first().map_or(Ok(0), |row| row.number(0))
                });
                free.await.unwrap_or(0) == 0
            }
        }
    }
}

/// A locked file. Gone with its process.
struct LockedFile {
    path: PathBuf,
    _file: File,
}

impl LockedFile {
    fn take(dir: &Path, worker: &str) -> io::Result<Self> {
        create_private_dir(dir)?;
        let path = dir.join(worker);
        let file = File::create_new(&path)?;
        file.lock()?;
        Ok(Self { path, _file: file })
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn file_is_held(path: &Path) -> bool {
    match File::open(path).map(|file| file.try_lock()) {
        Ok(Ok(())) => {
            let _ = fs::remove_file(path);
            false
        }
        Ok(Err(TryLockError::WouldBlock | TryLockError::Error(_))) => true,
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// A session that holds a lock, on a thread of its own. One that was lost is begun anew.
struct LockedSession {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl LockedSession {
    /// How to take it: connecting blocks.
    fn take(address: Address, key: i64) -> impl FnOnce() -> Result<Self, String> {
        move || {
            let first = session(&address, key).map_err(|error| postgres::explain(&error))?;
            let (end, ended) = mpsc::channel::<()>();
            let thread = thread::spawn(move || {
                let mut session_now = Some(first);
                while ended.recv_timeout(LOOK_AGAIN) == Err(RecvTimeoutError::Timeout) {
                    let alive = session_now
                        .as_mut()
                        .is_some_and(|client| client.simple_query("").is_ok());
                    if !alive {
                        session_now = session(&address, key).ok();
                    }
                }
            });
            Ok(Self {
                end: Some(end),
                thread: Some(thread),
            })
        }
    }
}

impl Drop for LockedSession {
    fn drop(&mut self) {
        self.end = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn session(address: &Address, key: i64) -> Result<::postgres::Client, ::postgres::Error> {
    let mut client = address.connect()?;
    client.execute("SELECT pg_advisory_lock($1)", &[&key])?;
    Ok(client)
}

/// The number of a worker's lock.
fn key(worker: &str) -> i64 {
    let sum = Sha256::digest(format!("oxmox worker {worker}"));
    let mut first = [0; 8];
    first.copy_from_slice(&sum[..8]);
    i64::from_be_bytes(first)
}
