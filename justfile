# The steps of CI, by name. `just` alone lists them; `just ci` runs what CI runs.

export CARGO_TARGET_DIR := env("CARGO_TARGET_DIR", home_directory() / ".cache/oxmox-target")

_list:
    @just --list --unsorted

# Everything CI runs, or only the named steps (`just ci clippy test`)
ci *steps:
    .ci/run {{ steps }}

# Format the code
fmt:
    cargo fmt --all

# Lint all targets; a warning is an error
clippy:
    .ci/run clippy

# The test command of the README
test:
    cargo test --workspace

# API docs without warnings, and the generated documents are current
docs:
    .ci/run doc generated

# Write the generated documents anew
generate:
    cargo run -q -p oxmox -- generate

# The programs that others wrote, against the built binary
judges:
    .ci/run build conformance inspector tdqs scanner clients proxmoxer fakepve

# Fuzz what reads others' words: all of fuzz/targets or those named, `--cpu SECONDS` each; needs a nightly toolchain and cargo-fuzz
fuzz *options:
    fuzz/run {{ options }}

# What oxmox costs: start-up, memory, calls, load, tokens; `--rivals` beside others, `--json`, `--soak SECONDS`, `--write docs/performance.md`
bench *options:
    .ci/bench {{ options }}

# Do the tests notice when engine, policy, plan or audit are wrong? Tries every small change of them (hours; `--sample 50` is quicker)
mutants *options:
    .ci/mutants/run {{ options }}

# Packages of the debug binary, judged; `packaging/release` builds the real ones
package:
    .ci/run build package

# What a schema that PVE serves (apidoc.js) has that the risk table does not name
pve-diff schema:
    OXMOX_NEW_SCHEMA={{ absolute_path(schema) }} cargo test -q -p oxmox-tools --lib risk::coverage::a_new_schema_is_compared -- --nocapture
