# shellcheck shell=bash
# What packages are built with, pinned, and kept between runs. Sourced by the scripts beside it.

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tools="${OXMOX_TOOLS:-$HOME/.cache/oxmox-tools}"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$HOME/.cache/oxmox-target}"
umask 022 # what is packed is for everybody to read, whoever packs it

# The version is the workspace's; the date is the last commit's, so that the same commit gives the same packages.
# shellcheck disable=SC2034 # used by those who source this
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$repo/Cargo.toml" | head -n 1)
SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git -C "$repo" log -1 --format=%ct 2>/dev/null || date +%s)}"
export SOURCE_DATE_EPOCH

die() {
    echo "$(basename "$0"): $*" >&2
    exit 1
}

# zig is a C compiler, a linker and a musl for every target in one; cargo-zigbuild lets cargo use it. Both from PyPI.
zig_tools() {
    local pins="ziglang==0.17.0 cargo-zigbuild==0.24.0" dir="$tools/zig"
    if [[ $(cat "$dir/.complete" 2>/dev/null) != "$pins" ]]; then
        rm -rf "$dir"
        python3 -m venv "$dir"
        # shellcheck disable=SC2086 # the pins are words
        "$dir/bin/pip" install --quiet --disable-pip-version-check $pins
        echo "$pins" >"$dir/.complete"
    fi
    export PATH="$dir/bin:$PATH"
}

# Debian's newest Rust with its source, unpacked beside the system rather than installed into it: for machines that reach
# a Debian mirror and not rustup's. Needs Debian 12 with its security archive.
debian_rust() {
    local dir="$tools/debian-rust" packages
    if [[ ! -e $dir/.complete ]]; then
        rm -rf "$dir"
        mkdir -p "$dir/debs"
        packages=$(apt-get --simulate install --no-install-recommends rustc-web cargo-web rust-web-src |
            awk '/^Inst/ { print $2 }')
        # shellcheck disable=SC2086 # one word for each package
        (cd "$dir/debs" && apt-get download $packages)
        for deb in "$dir"/debs/*.deb; do dpkg-deb --extract "$deb" "$dir"; done
        rm -rf "$dir/debs"
        touch "$dir/.complete"
    fi
    export PATH="$dir/usr/bin:$PATH" RUSTC="$dir/usr/bin/rustc"
    LD_LIBRARY_PATH="$dir/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || echo x86_64-linux-gnu)"
    export LD_LIBRARY_PATH
}
