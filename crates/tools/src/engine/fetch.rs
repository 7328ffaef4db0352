//! A file that PVE gives, kept in a directory of oxmox's own. Nothing on the cluster changes by it.

use std::io;

use futures_util::future::BoxFuture;
use pve::{Reader, Sink};
use serde_json::json;

use super::Engine;
use super::coming::{self, Coming, Kept};
use super::confide::plain;
use super::halt_point;
use super::read_back::Known;
use super::report::Report;
use super::step::refused;
use crate::fault::explain;
use crate::outcome::StepState;
use crate::plan::{Download, Plan, Step};
use crate::tool::Object;
use crate::words;

/// The directory below the state's.
const DIR: &str = "downloads";

impl Engine {
    /// Removes what processes that died have left of files that they were fetching.
    pub(super) fn remove_parts_left_behind(&self) {
        if let Some(dir) = self.state.dir() {
            coming::remove_left_behind(&dir.join(DIR));
        }
    }

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
        let made = self
            .private_dir(DIR)
            .and_then(|dir| Coming::make(&dir, self.now(), &name, download.size));
        let mut coming = match made {
            Ok(coming) => coming,
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
            size: download.size,
            told: None,
            stopped: None,
        };
        // What changes nothing can be let go of at any moment, also while nothing comes.
        let came = tokio::select! {
            came = pve.download(&download.request, &mut receiving) => match receiving.stopped {
                Some(why) => Err(why),
                None => Ok(came),
            },
            why = self.until_ended(report) => Err(why),
        };
        halt_point::at("answered").await;
        // An empty file is whole before PVE has answered.
        if coming.is_whole() && (matches!(came, Ok(Ok(()))) || download.size > 0) {
            return match coming.keep() {
                Ok(kept) => Ok(told(&kept, download.size)),
                Err(error) => {
                    let why = format!("the file could not be kept: {error}");
                    Err(Known::new(StepState::Failed, why))
                }
            };
        }
        let trouble = coming.trouble().map(str::to_owned);
        let broke_off = format!(
            "{} of {} came, and what came was thrown away",
            words::size(coming.got()),
            words::size(download.size)
        );
        drop(coming);
        let came =
            came.map_err(|why| Known::new(StepState::Failed, format!("{why}: {broke_off}")))?;
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
    size: u64,
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
            let (got, size) = (self.coming.got(), self.size);
            let (got, size) = (words::size(got), words::size(size));
            let message = format!("{}: {got} of {size}", step.says);
            #[expect(clippy::cast_precision_loss, reason = "a percentage")]
            let share = percent as f64 / 100.0;
            self.report.progress(index, Some(share), &message);
        }
        Ok(())
    }
}

impl Sink for Receiving<'_> {
    fn take<'a>(&'a mut self, bytes: &'a [u8]) -> BoxFuture<'a, io::Result<()>> {
        Box::pin(self.take_piece(bytes))
    }
}

fn told(kept: &Kept, size: u64) -> Known {
    let (path, sum) = (kept.path.display().to_string(), &kept.sha256);
    let detail = format!(
        "it is in {path} ({size} bytes, SHA-256 {sum}), readable by the owner of oxmox alone"
    );
    Known {
        result: Some(Object::from_iter([
            ("path".to_owned(), json!(path)),
            ("bytes".to_owned(), json!(size)),
            ("sha256".to_owned(), json!(sum)),
        ])),
        ..Known::new(StepState::Done, detail)
    }
}
