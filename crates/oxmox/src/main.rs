//! The oxmox binary. All of it is in the library, where tests reach it.

use std::process::ExitCode;

fn main() -> ExitCode {
    oxmox::cli::main()
}
