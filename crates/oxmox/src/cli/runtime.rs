//! How commands that wait are run: threads, logging, and the signals that end them.

use std::io;

use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;
use tools::fault::{Fault, Kind};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::exit::Exit;
use super::out;

/// How many threads a command is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// One caller who mostly waits for the network: starting more threads would only cost time and memory. The demo's
    /// simulator fits in too, since the caller waits while it works.
    One,
    /// Many callers at once: a write to the database or a TLS handshake of one must not hold up the others.
    Several,
}

/// Runs a command to its end.
pub fn block_on<T>(
    threads: Threads,
    future: impl Future<Output = Result<T, Fault>>,
) -> Result<T, Fault> {
    let runtime = build(threads)
        .map_err(|error| Fault::new(Kind::Internal, format!("no threads to run on: {error}")))?;
    let result = runtime.block_on(future);
    // A thread that waits for a line on stdin would hold up the end until somebody presses enter.
    runtime.shutdown_background();
    result
}

fn build(threads: Threads) -> io::Result<Runtime> {
    match threads {
        Threads::One => Builder::new_current_thread().enable_all().build(),
        Threads::Several => Builder::new_multi_thread().enable_all().build(),
    }
}

/// Logs to stderr: stdout belongs to MCP.
pub fn log(verbose: u8) {
    let level = match verbose {
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    // Whole messages stand in rmcp's log below this level, arguments with secrets included.
    let targets = Targets::new()
        .with_default(level)
        .with_target("rmcp", LevelFilter::WARN);
    let layer = tracing_subscriber::fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(out::in_colour());
    tracing_subscriber::registry()
        .with(targets)
        .with(layer)
        .init();
}

/// Cancelled by the first SIGINT or SIGTERM. The second ends the process where it stands.
pub fn stop_signal() -> CancellationToken {
    let stop = CancellationToken::new();
    let cancel = stop.clone();
    tokio::spawn(async move {
        signal().await;
        cancel.cancel();
        signal().await;
        std::process::exit(Exit::Interrupted as i32);
    });
    stop
}

/// Waits for SIGINT or SIGTERM.
#[cfg(unix)]
async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};
    match (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
    ) {
        (Ok(mut interrupt), Ok(mut terminate)) => {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        }
        _ => std::future::pending().await,
    }
}

#[cfg(not(unix))]
async fn signal() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
