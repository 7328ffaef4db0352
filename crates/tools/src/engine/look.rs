//! A look inside a guest: nothing is changed by it, and still somebody may want to know who looked.

use super::record::Attempt;
use super::worker::AtWork;
use crate::fault::Fault;
use crate::spec::Risk;
use crate::store::OpenLook;

/// Such a look on its way. Closed in the trail even if the caller goes away in the middle of it; if this process does, by
/// whoever finds it open.
pub(super) struct Look(Option<Open>);

struct Open {
    attempt: Attempt,
    /// Others see by it that the look goes on.
    _at_work: AtWork,
}

impl Look {
    /// Written before the look is taken.
    pub(super) async fn begin(attempt: Attempt) -> Result<Self, Fault> {
        let summary = format!("look inside a guest with {}", attempt.tool());
        attempt.shown(summary.clone(), Risk::Read);
        let engine = attempt.engine();
        let id = attempt.id();
        let at_work = engine.at_work(&id).await?;
        let look = OpenLook {
            id,
            worker: engine.worker().await?.id.clone(),
            summary,
        };
        let opened = attempt.opened(None);
        engine.store().await?.open_look(&look, &opened).await?;
        Ok(Self(Some(Open {
            attempt,
            _at_work: at_work,
        })))
    }

    /// It was taken, or why not.
    pub(super) async fn end(mut self, fault: Option<&Fault>) -> Result<(), Fault> {
        let Some(open) = self.0.take() else {
            return Ok(());
        };
        let attempt = &open.attempt;
        let result = if fault.is_some() { "failed" } else { "applied" };
        let closed = attempt.closed(result, fault.map(ToString::to_string).as_deref());
        let store = attempt.engine().store().await?;
        // False: somebody took this process for dead and has closed it, as one of which nothing is known.
        store.close_look(&attempt.id(), &closed).await.map(drop)
    }
}

impl Drop for Look {
    fn drop(&mut self) {
        let Some(Open { attempt, .. }) = &self.0 else {
            return;
        };
        let why = "the caller went away before the end";
        let closed = attempt.closed("failed", Some(why));
        // The opening entry is in the store, so that it is open.
        if let Some(store) = attempt.engine().store.get() {
            store.close_look_soon(&attempt.id(), &closed);
        }
    }
}
