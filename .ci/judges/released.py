"""What packaging/release wrote: all that it promises, whole, and every file for the machine that it names."""

from __future__ import annotations

import hashlib
import json
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from debian_package import architecture, clean_debian, judge_deb
from harness import Report
from package_parts import (
    PACKAGING, judge_bundle, judge_notices, judge_parts, judge_server, judge_started, run, version,
)


@dataclass
class Kind:
    """The files for one kind of machine."""

    dist: Path
    machine: str
    debian: str
    elf: str

    @property
    def name(self) -> str:
        return f"oxmox-{version()}-linux-{self.machine}"

    @property
    def binary(self) -> Path:
        return self.dist / f"bin/oxmox-linux-{self.debian}"

    @property
    def deb(self) -> Path:
        return self.dist / f"oxmox_{version()}_{self.debian}.deb"

    @property
    def bundle(self) -> Path:
        return self.dist / f"{self.name}.mcpb"

    @property
    def tarball(self) -> Path:
        return self.dist / f"{self.name}.tar.gz"


def judge_release(report: Report, dist: Path, out: Path) -> None:
    """All of it. `out` is a directory to work in."""
    kinds = [Kind(dist, "x86_64", "amd64", "x86-64"), Kind(dist, "aarch64", "arm64", "ARM aarch64")]
    parts, skill, server = dist / f"oxmox-{version()}.cdx.json", dist / f"oxmox-{version()}-skill.zip", dist / "server.json"
    promised = {parts, skill, server, *(file for kind in kinds for file in (kind.binary, kind.deb, kind.bundle, kind.tarball))}
    if not judge_sums(report, dist, {str(path.relative_to(dist)) for path in promised}):
        return
    listed = judge_parts(report, parts.read_text())
    judge_server(report, server)
    packages = {Path(package["identifier"]).name: package["fileSha256"] for package in json.loads(server.read_text())["packages"]}
    sums = {kind.bundle.name: hashlib.sha256(kind.bundle.read_bytes()).hexdigest() for kind in kinds}
    report.check(packages == sums, "server.json names both bundles with their checksums", packages)
    with zipfile.ZipFile(skill) as archive:
        report.check(archive.namelist() == ["proxmox-with-oxmox/SKILL.md"], "the skill's archive holds the skill", archive.namelist())
    for kind in kinds:
        judge_kind(report, kind, listed, out)


def judge_sums(report: Report, dist: Path, promised: set[str]) -> bool:
    """Nothing is missing, nothing too much, nothing changed since."""
    run(report, "the checksums are right", "sha256sum", "--check", "--strict", "SHA256SUMS", cwd=dist)
    summed = {line.split()[1] for line in (dist / "SHA256SUMS").read_text().splitlines()}
    there = {str(path.relative_to(dist)) for path in dist.rglob("*") if path.is_file()} - {"SHA256SUMS"}
    odd = (summed ^ promised) | (there ^ promised)
    return report.check(not odd, "what is promised is there and has a checksum, and nothing else is there", sorted(odd))


def judge_kind(report: Report, kind: Kind, parts: dict[str, dict], out: Path) -> None:
    """What there is for one kind of machine."""
    about = run(report, "file knows the binary", "file", "--brief", kind.binary) or ""
    report.check(kind.elf in about and "static" in about, f"{kind.binary.name} is static, and of its machine", about)
    run(report, f"{kind.binary.name} runs where there is nothing else", PACKAGING / "proof", kind.binary)
    judge_tarball(report, kind, parts)

    home = judge_bundle(report, kind.bundle, out)
    report.check((home / "server/oxmox").read_bytes() == kind.binary.read_bytes(), f"{kind.bundle.name} holds that binary")
    if kind.debian == architecture():
        judge_started(report, home)

    control = run(report, f"dpkg reads {kind.deb.name}", "dpkg-deb", "--field", kind.deb, "Package", "Version", "Architecture") or ""
    report.check(control.split()[1::2] == ["oxmox", version(), kind.debian], "and it is what its name says", control)
    clean = clean_debian(kind.debian)
    if clean.tar.exists():
        judge_deb(report, kind.deb, clean, out / kind.debian, version())
    else:
        how = f"make a clean Debian first: .ci/judges/foreign_debian make {kind.debian} {clean.tar}"
        report.check(False, f"{kind.deb.name} can be installed", how)


def judge_tarball(report: Report, kind: Kind, parts: dict[str, dict]) -> None:
    """The same binary, the licences, and nothing that is only the builder's to read."""
    with tarfile.open(kind.tarball) as tar:
        held = {name: tar.extractfile(f"{kind.name}/{name}").read() for name in ["oxmox", "NOTICES"]}
        report.check(held["oxmox"] == kind.binary.read_bytes(), f"{kind.tarball.name} holds that binary")
        judge_notices(report, held["NOTICES"].decode(), parts)
        odd = [entry.name for entry in tar if entry.uid or entry.gid or entry.mode & 0o022 or not entry.mode & 0o004]
        report.check(not odd, "its files are root's, and everybody may read them", odd)
