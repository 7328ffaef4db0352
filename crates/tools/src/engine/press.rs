//! Keys on a VM's console. PVE acknowledges none of them; QEMU says when it has taken them all.

use std::time::Duration;

use secrecy::ExposeSecret;

use super::Engine;
use super::halt_point;
use super::read_back::Known;
use super::report::Report;
use super::step::refused;
use crate::fault::explain;
use crate::keyboard::{self, Stroke};
use crate::outcome::StepState;
use crate::plan::{Keys, Plan, Secrets, Typed};
use crate::words;

/// How long a console may take to open, and to say that it took the keys.
const OPENING: Duration = Duration::from_secs(15);

/// Milliseconds that QEMU takes for an event.
const EVENT: u64 = 10;

impl Engine {
    /// Presses the keys of a step.
    #[expect(
        clippy::disallowed_types,
        reason = "the engine hands its writer to its own steps"
    )]
    pub(super) async fn press(
        &self,
        writer: &pve::Writer,
        plan: &Plan,
        index: usize,
        keys: &Keys,
        report: &Report,
    ) -> Result<Known, Known> {
        let not_typable =
            |why: &str| Known::new(StepState::Failed, format!("{why}; no key was pressed"));
        let strokes = strokes(&keys.typed, &plan.secrets).map_err(not_typable)?;
        let mut console = match writer.keyboard(&keys.at, OPENING).await {
            Ok(console) => console,
            Err(error) => {
                let pve = &self
                    .cluster(&plan.cluster)
                    .map_err(|fault| not_typable(&fault.message))?
                    .pve;
                let known = refused(pve, plan, &error).await;
                let detail = known.detail.unwrap_or_default();
                return Err(not_typable(&detail));
            }
        };
        let all = strokes.len();
        for (done, stroke) in strokes.iter().enumerate() {
            if let Some(why) = self.stopped(report).await {
                return Err(broken_off(StepState::Failed, (done, all), &why));
            }
            let pressed = console
                .press(stroke, Duration::from_millis(keys.hold))
                .await;
            pressed
                .map_err(|error| broken_off(StepState::Unknown, (done, all), &explain(&error)))?;
            tokio::time::sleep(pause(keys, stroke)).await;
            #[expect(clippy::cast_precision_loss, reason = "few keys are pressed")]
            let share = (done + 1) as f64 / all as f64;
            report.progress(index, Some(share), &plan.steps[index].says);
        }
        halt_point::at("sent").await;
        let taken = console.taken(OPENING).await;
        halt_point::at("answered").await;
        taken.map_err(|error| broken_off(StepState::Unknown, (all, all), &explain(&error)))?;
        let what = words::count(all, "stroke");
        Ok(Known::new(
            StepState::Done,
            format!("QEMU has taken {what}"),
        ))
    }

    /// Why no further key may be pressed.
    pub(super) async fn stopped(&self, report: &Report) -> Option<String> {
        if let Some(why) = self.ended_by(report).await {
            return Some(why);
        }
        // Other work goes on, as PVE does it by itself. Whoever types must be there.
        let left = report.caller_left();
        left.then(|| "the caller has gone".to_owned())
    }
}

/// The strokes of what is typed. The error does not quote it: it may be a secret.
fn strokes(typed: &Typed, secrets: &Secrets) -> Result<Vec<Stroke>, &'static str> {
    match typed {
        Typed::Combos(combos) => {
            let strokes = combos.iter().map(|combo| keyboard::stroke(combo));
            strokes
                .collect::<Option<_>>()
                .ok_or("one of the keys is not on the keyboard")
        }
        Typed::Text { text, layout } => {
            let text = secrets.text(text).ok_or("the secret text is missing")?;
            keyboard::strokes(text.expose_secret(), *layout)
                .map_err(|_| "one of the characters is not on the keyboard")
        }
    }
}

/// QEMU hands on an event every 10 ms, and drops those that do not fit into its queue: no more may be pressed than it
/// hands on.
fn pause(keys: &Keys, stroke: &Stroke) -> Duration {
    let events = u64::try_from(stroke.len()).unwrap_or_default() * 2;
    Duration::from_millis(keys.pause.max((events * EVENT).saturating_sub(keys.hold)))
}

/// It ended after so many strokes of all.
fn broken_off(state: StepState, (done, all): (usize, usize), why: &str) -> Known {
    Known::new(
        state,
        format!(
            "{done} of {all} strokes were sent, then: {why}; capture_vm_screen shows the result"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two events for each key of a stroke, one every 10 ms, of which the time that the keys are held is a part.
    #[test]
    fn no_more_is_pressed_than_is_handed_on() {
        let paused = |combo: &str, hold: u64, least: u64| {
            let keys = Keys {
                at: crate::plan::tests::at("100"),
                typed: Typed::Combos(Vec::new()),
                hold,
                pause: least,
            };
            pause(&keys, &keyboard::stroke(combo).unwrap()).as_millis()
        };
        assert_eq!(paused("a", 0, 0), 2 * u128::from(EVENT));
        assert_eq!(paused("ctrl-alt-delete", 0, 0), 6 * u128::from(EVENT));
        assert_eq!(paused("ctrl-alt-delete", 40, 0), 6 * u128::from(EVENT) - 40);
        assert_eq!(paused("a", 500, 0), 0);
        assert_eq!(paused("a", 0, 300), 300);
    }
}
