//! Whether those who send plans still live. A process that dies takes its lock with it, so that nobody has to guess from
//! the time that passed: a locked file where the store is a directory, a lock of its own session where it is a database.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

use super::postgres::{self, Address};
use super::{Store, create_private_dir};
use crate::fault::{Fault, Kind};

/// How often a session is looked at that holds a lock.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// After how long a server that does not answer ends such a session. Together with the time between two looks it is less
/// than others wait before they take a worker for dead, so that it knows of it before them.
const UNANSWERED: Duration = Duration::from_secs(5);
/// How long a worker is remembered that nobody asks for.
const REMEMBERED: Duration = Duration::from_hours(1);

/// How the workers on a store show that they live.
pub(super) enum Life {
    /// Nobody but this process can know of the store.
    Alone,
    /// By a locked file in this directory.
    Files(PathBuf),
    /// By a lock of a session.
    Sessions(Box<Sessions>),
}

/// Workers that are known by their sessions.
pub(super) struct Sessions {
    address: Address,
    patience: Duration,
    missing: Mutex<BTreeMap<String, Missing>>,
}

/// A worker whose lock is not held.
struct Missing {
    since: Instant,
    /// When somebody last wanted to know.
    asked: Instant,
}

/// What can be seen of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// It shows its sign of life, or that cannot be seen.
    Alive,
    /// It shows none, and may come back.
    Missed,
    /// It has shown none for too long.
    Dead,
}

impl Sessions {
    pub(super) fn new(address: Address, patience: Duration) -> Box<Self> {
        Box::new(Self {
            address,
            patience,
            missing: Mutex::default(),
        })
    }

    /// How a worker counts whose lock is held or not held now. One whose session was lost begins another: only who is
    /// missed for long is dead.
    fn judge(&self, worker: &str, is_held: bool, now: Instant) -> Seen {
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        // Once what they left open is closed, nobody asks for the dead any more.
        missing.retain(|_, missed| now.duration_since(missed.asked) < REMEMBERED);
        if is_held {
            missing.remove(worker);
            return Seen::Alive;
        }
        let missed = missing.entry(worker.to_owned()).or_insert(Missing {
            since: now,
            asked: now,
        });
        missed.asked = now;
        if now.duration_since(missed.since) >= self.patience {
            Seen::Dead
        } else {
            Seen::Missed
        }
    }
}

/// Held by a worker as long as it lives.
pub struct Sign(Held);

enum Held {
    Nothing,
    File { _locked: LockedFile },
    Session(LockedSession),
}

impl Sign {
    /// Whether others see it. While they do not, they may take its worker for dead, and nothing must be sent.
    pub fn is_seen(&self) -> bool {
        match &self.0 {
            Held::Nothing | Held::File { .. } => true,
            Held::Session(session) => session.held.load(Ordering::SeqCst),
        }
    }
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
            Life::Alone => Held::Nothing,
            Life::Files(dir) => Held::File {
                _locked: LockedFile::take(dir, worker).map_err(unwritable)?,
            },
            Life::Sessions(sessions) => {
                let session = LockedSession::take(sessions.address.clone(), key(worker));
                let session = tokio::task::spawn_blocking(session).await;
                let session = session.unwrap_or_else(|error| Err(error.to_string()));
                Held::Session(session.map_err(super::Trouble)?)
            }
        };
        Ok(Sign(held))
    }

    /// Whether whoever shows life under this name still does. What cannot be seen is no proof of a death.
    pub async fn lives(&self, worker: &str) -> bool {
        self.seen(worker).await != Seen::Dead
    }

    /// The first of these workers that lives, for somebody who looks only once: who is missed gets the time to come back
    /// in which they count as alive for those who look again and again.
    pub(super) async fn find_living<'a>(&self, workers: &[&'a str]) -> Option<&'a str> {
        let mut missed = Vec::new();
        for worker in workers {
            match self.seen(worker).await {
                Seen::Alive => return Some(worker),
                Seen::Missed => missed.push(*worker),
                Seen::Dead => {}
            }
        }
        if let (Life::Sessions(sessions), false) = (&self.life, missed.is_empty()) {
            tokio::time::sleep(sessions.patience).await;
        }
        for worker in missed {
            if self.lives(worker).await {
                return Some(worker);
            }
        }
        None
    }

    async fn seen(&self, worker: &str) -> Seen {
        let is_alive = match &self.life {
            Life::Alone => false,
            Life::Files(dir) => file_is_held(&dir.join(worker)),
            Life::Sessions(sessions) => {
                let values = [key(worker).into()];
                let free = self.write(move |tx| {
                    let rows = tx.query(
                        // Several may look at a time.
                        "SELECT CASE WHEN pg_try_advisory_xact_lock_shared(?1) THEN 1 ELSE 0 END::bigint",
                        &values,
                    )?;
                    rows.first().map_or(Ok(0), |row| row.number(0))
                });
                let is_held = free.await.unwrap_or(0) == 0;
                return sessions.judge(worker, is_held, Instant::now());
            }
        };
        if is_alive { Seen::Alive } else { Seen::Dead }
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
    /// Whether it holds its lock, as far as is known.
    held: Arc<AtomicBool>,
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl LockedSession {
    /// How to take it: connecting blocks.
    fn take(address: Address, key: i64) -> impl FnOnce() -> Result<Self, String> {
        move || {
            let first = session(&address, key).map_err(|error| postgres::explain(&error))?;
            let (end, ended) = mpsc::channel::<()>();
            let held = Arc::new(AtomicBool::new(true));
            let seen = held.clone();
            let thread = thread::spawn(move || {
                let mut current = Some(first);
                while ended.recv_timeout(LOOK_AGAIN) == Err(RecvTimeoutError::Timeout) {
                    let alive = current
                        .as_mut()
                        .is_some_and(|client| client.simple_query("").is_ok());
                    if !alive {
                        seen.store(false, Ordering::SeqCst);
                        current = session(&address, key).ok();
                        seen.store(current.is_some(), Ordering::SeqCst);
                    }
                }
            });
            Ok(Self {
                held,
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
    let mut client = address.connect_within(UNANSWERED)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Shared;

    fn sessions(patience: Duration) -> Box<Sessions> {
        let nowhere = Shared::at("postgres://ox@127.0.0.1/ox").address();
        Sessions::new(nowhere.unwrap(), patience)
    }

    #[test]
    fn only_who_is_missed_for_long_is_dead() {
        let sessions = sessions(Duration::from_secs(8));
        let begin = Instant::now();
        let after = |seconds, is_held| {
            let now = begin + Duration::from_secs(seconds);
            sessions.judge("worker", is_held, now)
        };
        assert_eq!(after(0, false), Seen::Missed);
        assert_eq!(after(7, false), Seen::Missed);
        assert_eq!(after(8, false), Seen::Dead);
        assert_eq!(after(9, true), Seen::Alive);
        assert_eq!(after(10, false), Seen::Missed);
    }

    #[test]
    fn the_dead_are_forgotten_once_nobody_asks_for_them() {
        let sessions = sessions(Duration::from_secs(8));
        let begin = Instant::now();
        for number in 0..100 {
            sessions.judge(&number.to_string(), false, begin);
        }
        let later = begin + REMEMBERED;
        assert_eq!(sessions.judge("another", false, later), Seen::Missed);
        assert_eq!(sessions.missing.lock().unwrap().len(), 1);
    }
}
