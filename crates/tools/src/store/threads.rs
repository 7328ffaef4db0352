//! Runs what blocks on threads of the store's own, so that a disk or a database that is slow holds up no other call.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use tokio::sync::oneshot;

use super::database::{Database, Purpose, Transaction, Trouble};

type Job = Box<dyn FnOnce(&mut dyn Database) + Send>;

/// A thread for each connection, which take what comes in turn.
pub(super) struct Threads {
    jobs: Option<Sender<Job>>,
    running: Vec<JoinHandle<()>>,
}

impl Threads {
    /// Starts one for each of these.
    pub(super) fn start(databases: Vec<Box<dyn Database>>) -> Self {
        let (jobs, coming) = mpsc::channel();
        let coming = Arc::new(Mutex::new(coming));
        let running = databases
            .into_iter()
            .map(|database| {
                let coming = coming.clone();
                thread::spawn(move || work(database, &coming))
            })
            .collect();
        Self {
            jobs: Some(jobs),
            running,
        }
    }

    /// Runs a transaction and waits for its end. It runs to its end also if nobody waits any longer, and so does what is
    /// to be done `then`, once it holds.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        purpose: Purpose,
        work: impl Fn(&mut dyn Transaction) -> Result<T, Trouble> + Send + 'static,
        then: impl FnOnce(&T) + Send + 'static,
    ) -> Result<T, Trouble> {
        let (answer, answered) = oneshot::channel();
        self.give(move |database| {
            let mut value = None;
            let done = database.transact(purpose, &mut |transaction| {
                value = Some(work(transaction)?);
                Ok(())
            });
            if let (Ok(()), Some(value)) = (&done, &value) {
                then(value);
            }
            let _ = answer.send(done.map(|()| value));
        });
        match answered.await {
            Ok(Ok(Some(value))) => Ok(value),
            Ok(Err(trouble)) => Err(trouble),
            Ok(Ok(None)) | Err(_) => Err(Trouble("it broke off".to_owned())),
        }
    }

    /// Leaves a job to whoever is free next.
    pub(super) fn give(&self, job: impl FnOnce(&mut dyn Database) + Send + 'static) {
        if let Some(jobs) = &self.jobs {
            // Nobody takes it if every thread has died; whoever waits for the answer sees that.
            let _ = jobs.send(Box::new(job));
        }
    }
}

impl Drop for Threads {
    /// What was given is done before the end.
    fn drop(&mut self) {
        self.jobs = None;
        for thread in self.running.drain(..) {
            let _ = thread.join();
        }
    }
}

fn work(mut database: Box<dyn Database>, coming: &Mutex<Receiver<Job>>) {
    loop {
        let next = coming.lock().unwrap_or_else(PoisonError::into_inner).recv();
        match next {
            Ok(job) => job(database.as_mut()),
            Err(_) => return,
        }
    }
}
