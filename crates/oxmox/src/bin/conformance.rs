//! oxmox with what the conformance suite calls, under a name of its own: it never takes the place of the binary that
//! people run.

use std::process::ExitCode;

fn main() -> ExitCode {
    oxmox::cli::main()
}
