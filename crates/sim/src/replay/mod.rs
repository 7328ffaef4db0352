//! The replay checker: sends recorded requests to a fresh `recorded` world and compares the answers with those of the
//! real PVE in status, reason phrase, content type, parameter errors and body shape, and in the few values that are the same
//! in every run; and started tasks in exit status and last line.
//!
//! [`exchange`] reads the recording, [`script`] what the recording leaves out (credentials, steps in between,
//! accepted differences), [`shape`] and [`values`] compare bodies, `runner` plays one scenario, `session` the frames of a websocket.

pub mod exchange;
mod report;
mod runner;
pub mod script;
mod session;
pub mod shape;
pub mod values;

pub use exchange::Exchange;
pub use report::{Report, Verdict};
pub use script::Script;

/// Replays all exchanges, each scenario in a world of its own.
pub fn run(exchanges: &[Exchange], script: &Script) -> Report {
    let mut report = Report::default();
    for scenario in exchanges.chunk_by(|left, right| left.scenario == right.scenario) {
        let mut runner = runner::Runner::new(script);
        for exchange in scenario {
            report.add(exchange, runner.play(exchange));
        }
    }
    report
}
