//! The simulator in the same process: what `--demo` talks to, with nothing to configure.

use pve::{Credentials, Host, Settings};
use sim::{Clock, Sim};
use tools::fault::{Fault, Kind};

/// The name of the demo's cluster.
pub const CLUSTER: &str = "demo";

/// Time in the demo runs so many times as fast: a copy of 16 GiB takes a few seconds.
const SPEED: u32 = 10;

/// Starts the simulator on a free port of the loopback.
pub async fn simulator() -> Result<Sim, Fault> {
    Sim::builder(sim::worlds::homelab())
        .clock(Clock::Fast(SPEED))
        .start()
        .await
        .map_err(|error| did_not_start(&error))
}

/// A simulator that could not start, and why.
pub fn did_not_start(error: &sim::StartError) -> Fault {
    let cause = std::error::Error::source(error)
        .map(|cause| format!(": {cause}"))
        .unwrap_or_default();
    Fault::new(
        Kind::Internal,
        format!("the simulator did not start: {error}{cause}"),
    )
}

/// What `pve::connect` needs to reach it. Its certificate is pinned like any other self-signed one.
pub fn settings(sim: &Sim) -> Result<Settings, Fault> {
    let internal = |error: pve::id::IdError| Fault::new(Kind::Internal, error.to_string());
    let host: Host = sim.addr().to_string().parse().map_err(internal)?;
    let host = host.with_pin(sim.fingerprint().parse().map_err(internal)?);
    let (user, ..) = sim::worlds::ROOT_TOKEN;
    Ok(Settings::new(
        vec![host],
        // With a token nobody could try the terminals.
        Credentials::Password {
            user: user.to_owned(),
            password: sim::worlds::ROOT_PASSWORD.into(),
        },
    ))
}
