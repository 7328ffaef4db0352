//! The oxmox binary. All of it is in the library, where tests reach it.

use std::process::ExitCode;

/// musl's own takes one lock for all threads, and under load it keeps several times of what it was asked for.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // That one asks for large pages, of which a server that waits for one client would fill little.
    #[cfg(target_env = "musl")]
    let _ = rustix::thread::disable_transparent_huge_pages(true);
    oxmox::cli::main()
}
