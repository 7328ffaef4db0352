//! The one request that a step is, sent once: with its parameters, or with a file behind them.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pve::{Method, Reader, Source};
use serde_json::Value;

use super::Engine;
use super::halt::Halt;
use super::report::Report;
use crate::plan::{Action, Plan, Step};
use crate::uploads::Opened;
use crate::words;

impl Engine {
    /// Sends it and gives what came back. The outer error says why nothing was sent.
    #[expect(
        clippy::disallowed_types,
        reason = "the engine hands its writer to its own steps"
    )]
    pub(super) async fn send(
        self: &Arc<Self>,
        (pve, writer): (&Reader, &pve::Writer),
        plan: &Plan,
        (index, step): (usize, &Step),
        report: &Report,
    ) -> Result<Result<Value, pve::Error>, String> {
        let request = plan.secrets.fill(&step.action.request());
        if let Action::Upload(upload) = &step.action {
            let file = self.uploads.open(&upload.file).await?;
            let halt = Halt::default();
            let (halted, told, says) = (halt.clone(), report.clone(), step.says.clone());
            let sending = Sending::new(file, move |sent, size| {
                // PVE throws away what it has of a file that does not come to its end.
                halted.check()?;
                let message = format!("{says}: {} of {}", words::size(sent), words::size(size));
                told.progress(index, Some(share(sent, size)), &message);
                Ok(())
            });
            let upload = writer.upload(&request, Arc::new(sending));
            return Ok(self.watched(report, &halt, upload).await);
        }
        Ok(match request.method {
            // A look that is more than a look: planned and agreed to as a change is.
            Method::Get => pve.get::<Value>(request).await,
            _ => writer.send(&request).await,
        })
    }

    /// What is not any more as it was of the files that a plan sends.
    pub(super) async fn changed_file(&self, plan: &Plan) -> Option<String> {
        for upload in plan.uploads() {
            if let Err(why) = self.uploads.open(&upload.file).await {
                return Some(why);
            }
        }
        None
    }
}

/// A file on its way. With every percent of it `tell` hears how many bytes of how many are gone, and may end it.
struct Sending<F> {
    file: Opened,
    told: AtomicU64,
    tell: F,
}

impl<F: Fn(u64, u64) -> io::Result<()> + Send + Sync + 'static> Sending<F> {
    fn new(file: Opened, tell: F) -> Self {
        let told = AtomicU64::new(u64::MAX);
        Self { file, told, tell }
    }
}

impl<F: Fn(u64, u64) -> io::Result<()> + Send + Sync + 'static> Source for Sending<F> {
    fn size(&self) -> u64 {
        self.file.size()
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let percent = offset.saturating_mul(100) / self.size().max(1);
        if self.told.swap(percent, Ordering::Relaxed) != percent {
            (self.tell)(offset, self.size())?;
        }
        self.file.read_at(offset, into)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share needs no last digit")]
fn share(sent: u64, size: u64) -> f64 {
    sent as f64 / size.max(1) as f64
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::uploads::Uploads;

    async fn opened(bytes: usize) -> (tempfile::TempDir, Opened) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), vec![7; bytes]).unwrap();
        let uploads = Uploads::from_dirs(vec![dir.path().to_owned()]);
        let planned = uploads.find("a", None).await.unwrap();
        let opened = uploads.open(&planned).await.unwrap();
        (dir, opened)
    }

    #[tokio::test]
    async fn every_percent_is_told_once() {
        let (_dir, file) = opened(10_000).await;
        let told = Arc::new(Mutex::new(Vec::new()));
        let heard = told.clone();
        let sending = Sending::new(file, move |sent, size| {
            heard.lock().unwrap().push((sent, size));
            Ok(())
        });
        let mut piece = [0; 50];
        for offset in (0..10_000).step_by(50) {
            assert_eq!(sending.read_at(offset, &mut piece).unwrap(), 50);
        }
        let told = told.lock().unwrap();
        assert_eq!(told.len(), 100);
        assert_eq!((told[0], told[99]), ((0, 10_000), (9_900, 10_000)));
    }

    #[tokio::test]
    async fn whoever_hears_it_can_end_it() {
        let (_dir, file) = opened(1_000).await;
        let sending = Sending::new(file, |sent, _| match sent {
            500.. => Err(io::Error::other("it was cancelled by somebody")),
            _ => Ok(()),
        });
        let mut piece = [0; 10];
        assert!(sending.read_at(490, &mut piece).is_ok());
        assert!(sending.read_at(500, &mut piece).is_err());
    }
}
