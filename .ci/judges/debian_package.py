"""The .deb: what lintian and systemd say of it, and what it does to a clean Debian when it comes and when it goes."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from harness import Report
from package_parts import run

JUDGES = Path(os.environ["JUDGES"])
FOREIGN = Path(__file__).resolve().parent / "foreign_debian"


@dataclass
class Clean:
    """A Debian with nothing in it, packed, and the words that go before a command and its root directory."""

    tar: Path
    enter: list[object]


def architecture() -> str:
    """This machine's, as Debian names it."""
    return subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()


def clean_debian(kind: str) -> Clean:
    """The clean Debian of this architecture. That of another machine is made once, by `foreign_debian make`."""
    if kind == architecture():
        return Clean(JUDGES / "debian/root.tar", ["chroot"])
    return Clean(JUDGES / f"debian-{kind}/root.tar", [FOREIGN, "enter", kind])


def judge_deb(report: Report, package: Path, clean: Clean, out: Path, version: str) -> None:
    """Judge it, install it, take it away. `out` is a directory for this package alone."""
    run(report, f"lintian finds neither error nor warning in {package.name}", "lintian", "--allow-root",
        "--fail-on", "error,warning", package)

    root = out / "root"
    root.mkdir(parents=True)
    run(report, "a clean Debian is unpacked", "tar", "-C", root, "-xf", clean.tar)
    shutil.copy(package, root / "oxmox.deb")
    before = listing(root)
    inside = [*clean.enter, root, "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "DEBIAN_FRONTEND=noninteractive"]

    run(report, "it installs into a clean Debian", *inside, "dpkg", "--install", "/oxmox.deb")
    told = run(report, "oxmox runs there", *inside, "oxmox", "--version") or ""
    report.check(version in told, "and is this version", told)
    judge_installed(report, root)
    run(report, "installing it again changes nothing that asks", *inside, "dpkg", "--install", "/oxmox.deb")
    owner = run(report, "the configuration is there", *inside, "stat", "-c", "%U:%G %a", "/etc/oxmox/config.toml") or ""
    report.check(owner.strip() == "root:oxmox 640", "the configuration is root's, and the service may read it", owner)

    # A state directory, as the service would make it.
    (root / "var/lib/oxmox").mkdir(exist_ok=True)
    (root / "var/lib/oxmox/key").touch()
    run(report, "it goes when removed", *inside, "dpkg", "--remove", "oxmox")
    report.check((root / "etc/oxmox/config.toml").exists(), "a removal leaves the configuration")
    report.check((root / "var/lib/oxmox/key").exists(), "and the state")
    run(report, "and when purged", *inside, "dpkg", "--purge", "oxmox")
    left = listing(root) - before
    report.check(not left, "nothing of it is left", sorted(left))


def judge_installed(report: Report, root: Path) -> None:
    """What it put where."""
    for path in ["usr/share/man/man1/oxmox-serve.1.gz", "usr/share/bash-completion/completions/oxmox",
                 "usr/share/zsh/vendor-completions/_oxmox", "usr/share/fish/vendor_completions.d/oxmox.fish",
                 "usr/share/doc/oxmox/copyright", "usr/share/doc/oxmox/changelog.gz", "usr/share/doc/oxmox/NOTICES.gz"]:
        report.check((root / path).is_file(), f"it brings {path}")
    report.check("oxmox:" in (root / "etc/passwd").read_text(), "it makes the user of the service")
    wanted = list((root / "etc/systemd").rglob("oxmox.service"))
    report.check(not wanted, "the service is not enabled", wanted)
    config = (root / "etc/oxmox/config.toml").read_text()
    settings = [line for line in config.splitlines() if line and not line.startswith("#")]
    report.check(not settings, "the configuration is an example, and names no cluster", settings)
    # systemd looks for what the unit starts below / and not below its --root: a copy of the unit names the installed binary.
    unit = root.parent / "oxmox.service"
    text = (root / "usr/lib/systemd/system/oxmox.service").read_text()
    unit.write_text(text.replace("ExecStart=/usr/bin/oxmox", f"ExecStart={root}/usr/bin/oxmox"))
    run(report, "systemd takes the unit", "systemd-analyze", "verify", "--man=no", "--recursive-errors=no", unit)
    run(report, "and finds little to expose", "systemd-analyze", "security", "--offline=yes", "--threshold=20", unit)


def listing(root: Path) -> set[str]:
    """Every file and directory, but for what dpkg and adduser keep about packages and users."""
    kept = ("var/lib/dpkg/", "var/log/", "etc/passwd", "etc/group", "etc/shadow", "etc/gshadow", "etc/subuid", "etc/subgid", "var/cache/", "run/")
    names = (str(path.relative_to(root)) for path in root.rglob("*"))
    return {name for name in names if not name.startswith(kept)}
