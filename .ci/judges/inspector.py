"""The MCP inspector: every tool's schema must be one that all common clients can read (`--strict`, exit code 6).

What it merely warns of, a client or two that may stumble, is printed and not counted.
"""

from __future__ import annotations

import json
import os
import subprocess

from harness import OXMOX, Report, clean_env

INSPECTOR = f"{os.environ['JUDGES']}/npm/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"


def main() -> None:
    report = Report("inspector")
    for toolsets in ("core", "all"):
        for era in ("legacy", "modern"):
            with clean_env() as env:
                ran = subprocess.run(
                    [os.environ["NODE"], INSPECTOR, "--cli", OXMOX, "--demo", "--toolsets", toolsets,
                     "--method", "tools/list", "--strict", "--format", "json", "--protocol-era", era],
                    env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
            what = f"toolsets {toolsets}, {era} era"
            if report.check(ran.returncode == 0, f"{what}: strict listing (exit {ran.returncode})", ran.stderr):
                listed = json.loads(ran.stdout)["result"]["tools"]
                report.check(len(listed) > 0, f"{what}: lists tools")
                report.note(f"{what}: {len(listed)} tools")
                if "Warning: tool" in ran.stderr:
                    report.note(ran.stderr)
    report.finish()


if __name__ == "__main__":
    main()
