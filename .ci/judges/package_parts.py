"""What is judged in the same way of a packed debug binary and of a release: parts list, licences, bundle, server.json."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import skillsaw
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from harness import Report, clean_env, simulator

REPO = Path(__file__).resolve().parent.parent.parent
PACKAGING = REPO / "packaging"
VENV = Path(sys.executable).parent
MODULES = Path(os.environ["JUDGES"]) / "mcpb/node_modules"
NODE = os.environ["NODE"]
SCHEMA = Path(skillsaw.__file__).parent / "schemas/mcp_registry/v2025_12_11/server.schema.json"


def run(report: Report, what: str, *command: object, cwd: Path = REPO, **options: object) -> str | None:
    """Its stdout if it went well; else the check named `what` has failed."""
    done = subprocess.run([str(word) for word in command], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, **options)
    ok = report.check(done.returncode == 0, what, (done.stdout + done.stderr)[-1500:])
    return done.stdout if ok else None


def judge_parts(report: Report, text: str) -> dict[str, dict]:
    """The parts list by CycloneDX's own schema, and by what must be in it. The parts by their names."""
    fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    report.check(fault is None, "the parts list follows CycloneDX 1.6", fault)
    parts = {part["name"]: part for part in json.loads(text)["components"]}
    for name in ["rustls", "rmcp", "sqlite", "oxmox-tools"]:
        report.check(name in parts, f"{name} is in the parts list")
    for name in ["insta", "proptest", "serde_derive"]:
        report.check(name not in parts, f"{name} is not in the parts list: it builds or tests, and is not linked")
    return parts


def judge_notices(report: Report, notices: str, parts: dict[str, dict]) -> None:
    """Whoever gave something is named, with the licence."""
    missing = [n for n, part in parts.items() if part["purl"].startswith("pkg:cargo/") and not n.startswith("oxmox")
               and f"{n} {part['version']} (" not in notices]
    report.check(not missing, "every part has its licence in NOTICES", missing)


def mcpb(out: Path) -> Path:
    """The `mcpb` program, by the node of the judges."""
    script = out / "mcpb"
    script.write_text(f'#!/bin/sh\nexec "{NODE}" "{MODULES}/@anthropic-ai/mcpb/dist/cli/cli.js" "$@"\n')
    script.chmod(0o755)
    return script


def judge_server(report: Report, server: Path) -> None:
    """What the MCP registry would be told."""
    run(report, "server.json follows the registry's schema", VENV / "check-jsonschema", "--schemafile", SCHEMA, server)


def judge_bundle(report: Report, bundle: Path, out: Path) -> Path:
    """The bundle by mcpb, into a directory that is returned."""
    home = out / bundle.stem
    run(report, f"mcpb unpacks {bundle.name}", mcpb(out), "unpack", bundle, home)
    run(report, f"mcpb takes the manifest of {bundle.name}", mcpb(out), "validate", home / "manifest.json")
    return home


def judge_started(report: Report, home: Path) -> None:
    """An unpacked bundle, started by the settings that mcpb makes of a person's."""
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
