"""Packs the debug binary as a release packs its own, and lets the programs judge that others judge packages with.

dpkg, lintian and systemd for the .deb, which is also installed into a clean Debian; mcpb for the bundle, which is then
started as a client would; the MCP registry's schema, CycloneDX's, that of compose files; hadolint, shellcheck, skillsaw.

With OXMOX_DIST, the directory that packaging/release wrote, they judge the release in it instead (packaging/judge).
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from debian_package import architecture, clean_debian, judge_deb
from harness import OXMOX, Report
from package_parts import (
    PACKAGING, REPO, VENV, judge_bundle, judge_notices, judge_parts, judge_server, judge_started, mcpb, run, version,
)
from released import judge_release

SCRIPTS = [PACKAGING / name for name in ["tools.sh", "static", "proof", "files", "deb", "bundle", "release", "judge", "proof-windows",
                                         "debian/postinst", "debian/prerm", "debian/postrm"]]
SCRIPTS.append(REPO / ".ci/judges/foreign_debian")


def judge_texts(report: Report) -> None:
    """What needs no binary."""
    run(report, "shellcheck finds nothing", "shellcheck", "--external-sources", *SCRIPTS)
    run(report, "hadolint finds nothing", VENV / "hadolint", PACKAGING / "docker/Dockerfile")
    compose = PACKAGING / "docker/compose.yaml"
    run(report, "the compose file follows the compose specification", VENV / "check-jsonschema", "--builtin-schema",
        "vendor.compose-spec", compose)
    # The rest of Docker would want an engine. These are the promises of the file's first line.
    for promise in ["read_only: true", "cap_drop:\n      - ALL", "no-new-privileges:true", "- 127.0.0.1:8765\n", "network_mode: host", "user: 65532:65532"]:
        report.check(promise in compose.read_text(), f"the compose file says {promise!r}")
    run(report, "skillsaw finds nothing in the skill", VENV / "skillsaw", "lint", "--strict", PACKAGING / "skill")


def judge_debug(report: Report, out: Path) -> None:
    """The debug binary, packed."""
    binary, files = out / "oxmox", out / "files"
    # Without what only a debugger reads, which would be most of every package.
    run(report, "the binary can be stripped", "strip", "-o", binary, shutil.which(OXMOX) or OXMOX)
    if run(report, "pages, completions and the parts list are written", PACKAGING / "files", binary, files) is None:
        return
    judge_notices(report, (files / "NOTICES").read_text(), judge_parts(report, (files / "oxmox.cdx.json").read_text()))

    env = os.environ | {"MCPB": str(mcpb(out))}
    said = run(report, "the bundle is packed", PACKAGING / "bundle", binary, "linux-x86_64", files, out, env=env)
    if said:
        bundle = Path(said.split()[-1])
        judge_started(report, judge_bundle(report, bundle, out))
        server = run(report, "server.json can be made", sys.executable, PACKAGING / "metadata.py", "server", version(),
                     "https://example.com/v1", "com.example/oxmox", bundle)
        (out / "server.json").write_text(server or "")
        judge_server(report, out / "server.json")

    # The binary is large, and nobody downloads this package.
    quick = os.environ | {"DPKG_DEB_COMPRESSOR_TYPE": "gzip", "DPKG_DEB_COMPRESSOR_LEVEL": "1"}
    said = run(report, "the .deb is built", PACKAGING / "deb", binary, architecture(), files, out, env=quick)
    if said:
        package = Path(said.split()[-1])
        report.check(package.name == f"oxmox_{version()}_{architecture()}.deb", "it is named as Debian names packages", package)
        judge_deb(report, package, clean_debian(architecture()), out / "debian", version())


def main() -> None:
    report = Report("packages")
    judge_texts(report)
    with tempfile.TemporaryDirectory(prefix="oxmox-packages-") as name:
        out = Path(name)
        out.chmod(0o755)
        if dist := os.environ.get("OXMOX_DIST"):
            judge_release(report, Path(dist).resolve(), out)
        else:
            judge_debug(report, out)
    report.finish()


main()
