//! A file that PVE gives, kept in a directory of oxmox's own. Nothing on the cluster changes by it.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;

use futures_util::future::BoxFuture;
use pve::{Reader, Sink};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::Engine;
use super::confide::{plain, private_file};
use super::halt_point;
use super::report::Report;
use super::step::{Known, refused};
use crate::fault::explain;
use crate::outcome::StepState;
use crate::plan::{Download, Plan, Step};
use crate::tool::Object;
use crate::words;

/// The directory below the state's.
const DIR: &str = "downloads";

impl Engine {
    /// Fetches the file of a step. It is kept only if it is whole.
    pub(super) async fn fetch(
        &self,
        pve: &Reader,
        plan: &Plan,
        (index, step): (usize, &Step),
        download: &Download,
        report: &Report,
    ) -> Result<Known, Known> {
        let name = plain(&download.name);
        let place = self
            .private_dir(DIR)
            .and_then(|dir| private_file(&dir, |number| format!("{}-{number}-{name}", self.now())));
        let mut coming = match place {
            Ok((file, path)) => Coming::new(file, path, download.size),
            Err(error) => {
                let why = format!("there is no place for the file: {error}; it was not asked for");
                return Err(Known::new(StepState::Failed, why));
            }
        };
        let mut receiving = Receiving {
            engine: self,
            report,
            step: (index, step),
            coming: &mut coming,
            told: None,
            stopped: None,
        };
        let came = pve.download(&download.request, &mut receiving).await;
        let stopped = receiving.stopped;
        halt_point::at("answered").await;
        // An empty file is whole before PVE has answered.
        if coming.is_whole() && (came.is_ok() || download.size > 0) {
            return coming.keep();
        }
        let trouble = coming.trouble.take();
        let broke_off = format!(
            "{} of {} came, and what came was thrown away",
            words::size(coming.got),
            words::size(download.size)
        );
        coming.throw_away();
        if let Some(why) = stopped {
            return Err(Known::new(StepState::Failed, format!("{why}: {broke_off}")));
        }
        // What stands in the way here stands in the way of the same call, too.
        if let Some(why) = trouble {
            return Err(Known::new(StepState::Failed, format!("{why}; {broke_off}")));
        }
        match came {
            Err(error) if !error.is_maybe_sent() => Err(refused(pve, plan, &error).await),
            Err(error) => Ok(Known::new(
                StepState::Unknown,
                format!("{broke_off} ({})", explain(&error)),
            )),
            Ok(()) => Err(Known::new(
                StepState::Failed,
                format!("PVE ended it too early: {broke_off}"),
            )),
        }
    }
}

/// Takes a file piece by piece. With every percent of it whoever waits hears of it, and may have ended it.
struct Receiving<'a> {
    engine: &'a Engine,
    report: &'a Report,
    step: (usize, &'a Step),
    coming: &'a mut Coming,
    told: Option<u64>,
    /// Why it is not to go on.
    stopped: Option<String>,
}

impl Receiving<'_> {
    async fn take_piece(&mut self, bytes: &[u8]) -> io::Result<()> {
        let percent = self.coming.percent_with(bytes);
        let is_news = self.told.replace(percent) != Some(percent);
        if is_news && let Some(why) = self.engine.ended_by(self.report).await {
            self.stopped = Some(why.clone());
            return Err(io::Error::other(why));
        }
        self.coming.take(bytes)?;
        halt_point::at("sent").await;
        if is_news {
            let (index, step) = self.step;
            let (got, size) = (self.coming.got, self.coming.size);
            let (got, size) = (words::size(got), words::size(size));
            let message = format!("{}: {got} of {size}", step.says);
            #[expect(clippy::cast_precision_loss, reason = "a percentage")]
            let share = percent as f64 / 100.0;
            self.report.progress(index, Some(share), message);
        }
        Ok(())
    }
}

impl Sink for Receiving<'_> {
    fn take<'a>(&'a mut self, bytes: &'a [u8]) -> BoxFuture<'a, io::Result<()>> {
        Box::pin(self.take_piece(bytes))
    }
}

/// A file that is being received.
struct Coming {
    file: File,
    path: PathBuf,
    size: u64,
    got: u64,
    sum: Sha256,
    /// Why it cannot be kept.
    trouble: Option<String>,
}

impl Coming {
    fn new(file: File, path: PathBuf, size: u64) -> Self {
        Self {
            file,
            path,
            size,
            got: 0,
            sum: Sha256::new(),
            trouble: None,
        }
    }

    /// How much of it has come once these bytes are there.
    fn percent_with(&self, bytes: &[u8]) -> u64 {
        let got = self.got.saturating_add(bytes.len() as u64);
        got.saturating_mul(100) / self.size.max(1)
    }

    fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.got += bytes.len() as u64;
        let taken = self.write(bytes);
        self.trouble = taken.as_ref().err().map(ToString::to_string);
        taken
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.got > self.size {
            return Err(io::Error::other("it is longer than the backup says"));
        }
        self.sum.update(bytes);
        self.file.write_all(bytes)
    }

    fn is_whole(&self) -> bool {
        self.got == self.size && self.trouble.is_none()
    }

    fn keep(self) -> Result<Known, Known> {
        let path = self.path.display().to_string();
        if let Err(error) = self.file.sync_all() {
            let why = format!("{path} could not be written: {error}");
            return Err(Known::new(StepState::Failed, why));
        }
        let sum = crate::keys::hex(&self.sum.finalize());
        let detail = format!(
            "it is in {path} ({} bytes, SHA-256 {sum}), readable by the owner of oxmox alone",
            self.size
        );
        Ok(Known {
            result: Some(Object::from_iter([
                ("path".to_owned(), json!(path)),
                ("bytes".to_owned(), json!(self.size)),
                ("sha256".to_owned(), json!(sum)),
            ])),
            ..Known::new(StepState::Done, detail)
        })
    }

    /// What cannot be removed is still nobody else's to read.
    fn throw_away(self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
