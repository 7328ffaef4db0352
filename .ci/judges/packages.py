"""Packs the debug binary as a release packs its own, and lets the programs judge that others judge packages with.

dpkg, lintian and systemd for the .deb, which is also installed into a clean Debian; mcpb for the bundle, which is then
started as a client would; the MCP registry's schema, CycloneDX's, that of compose files; hadolint, shellcheck, skillsaw.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import skillsaw
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from debian_package import judge_deb
from harness import OXMOX, Report, clean_env, simulator

REPO = Path(__file__).resolve().parent.parent.parent
PACKAGING = REPO / "packaging"
VENV = Path(sys.executable).parent
MODULES = Path(os.environ["JUDGES"]) / "mcpb/node_modules"
NODE = os.environ["NODE"]
SCRIPTS = ["tools.sh", "static", "proof", "files", "deb", "bundle", "release",
           "debian/postinst", "debian/prerm", "debian/postrm"]


def run(report: Report, what: str, *command: object, **options: object) -> str | None:
    """Its stdout if it went well; else the check named `what` has failed."""
    done = subprocess.run([str(word) for word in command], cwd=REPO, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, **options)
    ok = report.check(done.returncode == 0, what, (done.stdout + done.stderr)[-1500:])
    return done.stdout if ok else None


def judge_texts(report: Report) -> None:
    """What needs no binary."""
    run(report, "shellcheck finds nothing", "shellcheck", "--external-sources", *(PACKAGING / name for name in SCRIPTS))
    run(report, "hadolint finds nothing", VENV / "hadolint", PACKAGING / "docker/Dockerfile")
    compose = PACKAGING / "docker/compose.yaml"
    run(report, "the compose file follows the compose specification", VENV / "check-jsonschema", "--builtin-schema",
        "vendor.compose-spec", compose)
    # The rest of Docker would want an engine. These are the promises of the file's first line.
    for promise in ["read_only: true", "cap_drop:\n      - ALL", "no-new-privileges:true", "- 127.0.0.1:8765\n", "network_mode: host", "user: 65532:65532"]:
        report.check(promise in compose.read_text(), f"the compose file says {promise!r}")
    run(report, "skillsaw finds nothing in the skill", VENV / "skillsaw", "lint", "--strict", PACKAGING / "skill")


def judge_parts(report: Report, files: Path) -> None:
    """The parts list by CycloneDX's own schema, and by what must be in it."""
    text = (files / "oxmox.cdx.json").read_text()
    fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    report.check(fault is None, "the parts list follows CycloneDX 1.6", fault)
    parts = {part["name"]: part for part in json.loads(text)["components"]}
    for name in ["rustls", "rmcp", "sqlite", "oxmox-tools"]:
        report.check(name in parts, f"{name} is in the parts list")
    for name in ["insta", "proptest", "serde_derive"]:
        report.check(name not in parts, f"{name} is not in the parts list: it builds or tests, and is not linked")
    notices = (files / "NOTICES").read_text()
    missing = [n for n, part in parts.items() if part["purl"].startswith("pkg:cargo/") and not n.startswith("oxmox")
               and f"{n} {part['version']} (" not in notices]
    report.check(not missing, "every part has its licence in NOTICES", missing)


def judge_bundle(report: Report, binary: Path, files: Path, out: Path) -> None:
    """The bundle by mcpb; then it is started by the settings that mcpb makes of a person's."""
    mcpb = out / "mcpb"
    mcpb.write_text(f'#!/bin/sh\nexec "{NODE}" "{MODULES}/@anthropic-ai/mcpb/dist/cli/cli.js" "$@"\n')
    mcpb.chmod(0o755)
    env = os.environ | {"MCPB": str(mcpb)}
    said = run(report, "mcpb takes the manifest and packs the bundle", PACKAGING / "bundle", binary, "linux-x86_64", files, out, env=env)
    if not said:
        return
    bundle = Path(said.split()[-1])
    server = run(report, "server.json can be made", sys.executable, PACKAGING / "metadata.py", "server", version(),
                 "https://example.com/v1", "com.example/oxmox", bundle)
    (out / "server.json").write_text(server or "")
    schema = Path(skillsaw.__file__).parent / "schemas/mcp_registry/v2025_12_11/server.schema.json"
    run(report, "server.json follows the registry's schema", VENV / "check-jsonschema", "--schemafile", schema, out / "server.json")

    home = out / "unpacked"
    run(report, "mcpb unpacks the bundle", mcpb, "unpack", bundle, home)
    with simulator() as pve:
        settings = {"host": f"127.0.0.1:{pve.port}", "token": f"{pve.user}!{pve.token_name}", "secret": pve.token_value}
        refused = start(report, home, settings)
        report.check("certificate" in refused, "without a fingerprint the certificate is not trusted, and the answer says so", refused)
        answered = start(report, home, settings | {"pin": pve.fingerprint})
        report.check('"id": "105"' in answered, "the bundle lists the guests of the cluster in its settings", answered)


def start(report: Report, home: Path, settings: dict[str, str]) -> str:
    """What the bundle's command answers to a call, started as a client starts it."""
    script = f"""
        import {{ getMcpConfigForManifest }} from "{MODULES}/@anthropic-ai/mcpb/dist/node.js";
        import {{ readFileSync }} from "node:fs";
        const manifest = JSON.parse(readFileSync("{home}/manifest.json"));
        const userConfig = JSON.parse(process.argv[1]);
        console.log(JSON.stringify(await getMcpConfigForManifest(
            {{ manifest, extensionPath: "{home}", systemDirs: {{}}, userConfig, pathSeparator: "/" }})));
    """
    made = run(report, "mcpb makes a command of the settings", NODE, "--input-type=module", "--eval", script, json.dumps(settings))
    config = json.loads(made or "{}")
    if not config:
        return ""
    with clean_env(**config["env"]) as env:
        done = subprocess.run([config["command"], *config["args"], "call", "list_proxmox_resources", "--json"], env=env,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


def version() -> str:
    """The workspace's."""
    lines = (REPO / "Cargo.toml").read_text().splitlines()
    return next(line.split('"')[1] for line in lines if line.startswith("version = "))


def main() -> None:
    report = Report("packages")
    judge_texts(report)
    with tempfile.TemporaryDirectory(prefix="oxmox-packages-") as name:
        out = Path(name)
        out.chmod(0o755)
        binary = out / "oxmox"
        # Without what only a debugger reads, which would be most of every package.
        run(report, "the binary can be stripped", "strip", "-o", binary, shutil.which(OXMOX) or OXMOX)
        if run(report, "pages, completions and the parts list are written", PACKAGING / "files", binary, out / "files") is not None:
            judge_parts(report, out / "files")
            judge_bundle(report, binary, out / "files", out)
            judge_deb(report, run, binary, out / "files", out, version())
    report.finish()


main()
