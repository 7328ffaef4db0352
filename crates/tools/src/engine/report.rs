//! How far a plan is that is being applied: told to whoever waits, and kept in the store for whoever asks later.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::UnboundedSender;

use super::doubt::Before;
use super::{Engine, Progress};
use crate::fault::{Fault, Kind};
use crate::outcome::{StepOutcome, StepState};
use crate::words::continued;

/// The steps so far, seen by the worker and by whoever waits.
#[derive(Clone)]
pub(super) struct Report {
    engine: Arc<Engine>,
    plan: String,
    known: Arc<Mutex<Known>>,
    progress: UnboundedSender<Progress>,
    /// Whether whoever made the call waits for it no longer.
    left: Arc<AtomicBool>,
}

/// The caller's presence: let go of without a word, it says that the caller has left.
pub(super) struct Presence(Option<Arc<AtomicBool>>);

impl Presence {
    /// The caller has been answered.
    pub(super) fn answered(mut self) {
        self.0 = None;
    }

    /// The caller has left, and still is to be waited for.
    pub(super) fn left(&self) {
        if let Some(left) = &self.0 {
            left.store(true, Ordering::Relaxed);
        }
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.left();
    }
}

struct Known {
    steps: Vec<StepOutcome>,
    /// How much of each step is done, 0 to 1.
    shares: Vec<f64>,
}

impl Report {
    /// On the plan of that id, of which nothing was sent yet.
    pub(super) fn new(
        engine: &Arc<Engine>,
        plan: &str,
        steps: Vec<StepOutcome>,
        progress: UnboundedSender<Progress>,
    ) -> Self {
        let shares = vec![0.0; steps.len()];
        Self {
            engine: engine.clone(),
            plan: plan.to_owned(),
            known: Arc::new(Mutex::new(Known { steps, shares })),
            progress,
            left: Arc::default(),
        }
    }

    /// The plan's id.
    pub(super) fn plan(&self) -> &str {
        &self.plan
    }

    /// Held by whoever waits for the plan on behalf of its caller.
    pub(super) fn presence(&self) -> Presence {
        Presence(Some(self.left.clone()))
    }

    /// Whether the caller left before there was an answer.
    pub(super) fn caller_left(&self) -> bool {
        self.left.load(Ordering::Relaxed)
    }

    /// A step is about to be sent. What cannot be written down beforehand must not be sent: nobody could tell later that
    /// it may have been.
    pub(super) async fn sending(&self, index: usize, before: &Before) -> Result<(), Fault> {
        if !self.engine.is_seen() {
            return Err(Fault::new(
                Kind::Internal,
                "the store was lost, and others may take this process for dead",
            ));
        }
        let step = self.change(index, |step| step.state = StepState::Running);
        match step {
            Some(step) if self.keep(index, &step, Some(&before.kept())).await? => Ok(()),
            Some(_) => Err(Fault::new(
                Kind::Conflict,
                "somebody took this process for dead and closed the plan",
            )),
            None => Ok(()),
        }
    }

    /// What is known of a step now. It is so whether or not it can be written down.
    pub(super) async fn step(&self, index: usize, change: impl FnOnce(&mut StepOutcome)) {
        if let Some(step) = self.change(index, change) {
            let _ = self.keep(index, &step, None).await;
        }
    }

    /// Whether PVE has done something of a step that ended in this state: all of it, or what its task got done before it
    /// failed.
    pub(super) fn was_carried_out(&self, index: usize, state: StepState) -> bool {
        self.known().was_carried_out(index, state)
    }

    /// How far a step is; told as how far the whole plan is. Nobody listening is fine.
    pub(super) fn progress(&self, index: usize, fraction: Option<f64>, message: &str) {
        let fraction = self.known().share(index, fraction);
        let message = continued(message);
        let _ = self.progress.send(Progress { fraction, message });
    }

    /// Who wants the plan to end.
    pub(super) async fn cancelled_by(&self) -> Option<String> {
        let store = self.engine.store().await.ok()?;
        store.handle(&self.plan).await.ok()??.cancelled_by
    }

    /// All that is known.
    pub(super) fn steps(&self) -> Vec<StepOutcome> {
        self.known().steps.clone()
    }

    fn change(&self, index: usize, change: impl FnOnce(&mut StepOutcome)) -> Option<StepOutcome> {
        let mut known = self.known();
        let step = known.steps.get_mut(index)?;
        change(step);
        Some(step.clone())
    }

    async fn keep(
        &self,
        index: usize,
        step: &StepOutcome,
        before: Option<&str>,
    ) -> Result<bool, Fault> {
        let now = self.engine.now();
        self.engine
            .store()
            .await?
            .keep_step(&self.plan, index, &step.kept(), before, now)
            .await
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn was_carried_out(&self, index: usize, state: StepState) -> bool {
        let step = self.steps.get(index);
        let has_task = step.is_some_and(|step| step.task.is_some());
        state == StepState::Done || state == StepState::Failed && has_task
    }

    /// How much of the plan is done now that this much of a step is. Steps count alike: how long one takes is not known
    /// before it is over.
    fn share(&mut self, index: usize, fraction: Option<f64>) -> Option<f64> {
        let is_only = self.steps.len() <= 1;
        if let (Some(share), Some(fraction)) = (self.shares.get_mut(index), fraction) {
            *share = fraction.clamp(0.0, 1.0);
        }
        if is_only {
            return fraction;
        }
        let done = |(step, share): (&StepOutcome, &f64)| match step.state {
            StepState::Done => 1.0,
            _ => *share,
        };
        let sum: f64 = self.steps.iter().zip(&self.shares).map(done).sum();
        #[expect(clippy::cast_precision_loss, reason = "a plan has few steps")]
        let all = self.steps.len() as f64;
        Some(sum / all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(states: &[StepState]) -> Known {
        let step = |state: &StepState| StepOutcome {
            state: *state,
            ..StepOutcome::unsent("")
        };
        Known {
            steps: states.iter().map(step).collect(),
            shares: vec![0.0; states.len()],
        }
    }

    fn is(share: Option<f64>, expected: f64) -> bool {
        share.is_some_and(|share| (share - expected).abs() < 1e-9)
    }

    #[test]
    fn a_step_counts_as_its_part_of_the_plan() {
        let mut known = known(&[StepState::Done, StepState::Running, StepState::NotSent]);
        assert!(is(known.share(1, None), 1.0 / 3.0));
        assert!(is(known.share(1, Some(0.5)), 0.5));
        // A line of the log without a percentage takes nothing back.
        assert!(is(known.share(1, None), 0.5));
    }

    /// What a task got done before it failed stays done; what PVE refused never began.
    #[test]
    fn a_step_was_carried_out_if_it_is_done_or_its_task_failed() {
        let mut known = known(&[StepState::Running, StepState::Running]);
        known.steps[1].task = Some("UPID".to_owned());
        for (index, state, expected) in [
            (0, StepState::Done, true),
            (0, StepState::Failed, false),
            (1, StepState::Failed, true),
            (1, StepState::Unknown, false),
            (2, StepState::Failed, false),
        ] {
            let was = known.was_carried_out(index, state);
            assert_eq!(was, expected, "{index} {state:?}");
        }
    }

    #[test]
    fn a_caller_is_present_until_let_go_of_without_an_answer() {
        let left = Arc::new(AtomicBool::default());
        let presence = || Presence(Some(left.clone()));
        presence().answered();
        assert!(!left.load(Ordering::Relaxed));
        let waiting = presence();
        assert!(!left.load(Ordering::Relaxed));
        waiting.left();
        assert!(left.swap(false, Ordering::Relaxed));
        drop(waiting);
        assert!(left.load(Ordering::Relaxed));
    }

    #[test]
    fn the_only_step_is_as_far_as_pve_says() {
        let mut known = known(&[StepState::Running]);
        assert_eq!(known.share(0, None), None);
        assert!(is(known.share(0, Some(0.25)), 0.25));
    }
}
