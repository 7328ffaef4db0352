//! How far a change is: a bar on a terminal, a line now and then elsewhere.

use std::io::{self, IsTerminal as _};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use tools::clean;
use tools::engine::Progress;
use tools::words::continued;

use super::out;

/// The shortest time between two plain lines.
const QUIET: Duration = Duration::from_secs(3);
const TICK: Duration = Duration::from_millis(120);

/// Shows progress on stderr.
#[derive(Debug, Default)]
pub struct Display(Mutex<Shown>);

#[derive(Debug, Default)]
struct Shown {
    bar: Option<ProgressBar>,
    last: Option<(Instant, String)>,
}

impl Display {
    /// Shows it.
    pub fn show(&self, progress: &Progress) {
        let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if io::stderr().is_terminal() {
            draw(shown.bar.get_or_insert_with(new_bar), progress);
        } else {
            shown.line(progress);
        }
    }

    /// Takes the bar away, so that the answer stands alone.
    pub fn clear(&self) {
        let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bar) = shown.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Shown {
    fn line(&mut self, progress: &Progress) {
        let too_soon = self
            .last
            .as_ref()
            .is_some_and(|(at, text)| at.elapsed() < QUIET || *text == progress.message);
        if !too_soon {
            let percent = progress
                .fraction
                .map(|fraction| format!("{:3.0} % ", fraction * 100.0))
                .unwrap_or_default();
            out::say(format_args!("{percent}{}", continued(&progress.message)));
            self.last = Some((Instant::now(), progress.message.clone()));
        }
    }
}

fn new_bar() -> ProgressBar {
    let bar = ProgressBar::new(100);
    bar.enable_steady_tick(TICK);
    bar
}

fn draw(bar: &ProgressBar, progress: &Progress) {
    let template = if progress.fraction.is_some() {
        "{spinner} [{bar:30}] {percent:>3} % {elapsed} {wide_msg}"
    } else {
        "{spinner} {elapsed} {wide_msg}"
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    if let Some(fraction) = progress.fraction {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and 100"
        )]
        bar.set_position((fraction.clamp(0.0, 1.0) * 100.0) as u64);
    }
    // PVE, and what a guest prints, have a say in it.
    bar.set_message(clean::line(&progress.message));
}
