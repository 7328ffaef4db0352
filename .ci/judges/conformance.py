"""The official MCP conformance suite: the scenarios that need no fixture tools, against the real binary over HTTP.

Each runs once for every revision of the specification that it belongs to. The suite exits 0 for a scenario that it
skipped, so a verdict counts only with its own line "Passed: n/n".
"""

from __future__ import annotations

import os
import re
import subprocess

from harness import Report, http_server

SUITE = f"{os.environ['JUDGES']}/npm/node_modules/@modelcontextprotocol/conformance/dist/index.js"
OLD, NEW = "2025-11-25", "2026-07-28"
SCENARIOS = {
    "server-initialize": [OLD],
    "ping": [OLD],
    "server-session-lifecycle": [OLD],
    "tools-list": [OLD, NEW],
    "resources-list": [OLD, NEW],
    "prompts-list": [OLD, NEW],
    "completion-complete": [OLD, NEW],
    "dns-rebinding-protection": [OLD, NEW],
    "server-sse-multiple-streams": [OLD, NEW],
    "caching": [NEW],
    "http-header-validation": [NEW],
    "sep-2164-resource-not-found": [NEW],
}
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def run_scenario(url: str, scenario: str, revision: str) -> tuple[bool, str]:
    """Whether every check of the scenario passed, and what the suite printed."""
    ran = subprocess.run(
        [os.environ["NODE"], SUITE, "server", "--url", url, "--scenario", scenario, "--spec-version", revision],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    text = COLOUR.sub("", ran.stdout)
    count = re.search(r"^Passed: (\d+)/(\d+), 0 failed", text, re.MULTILINE)
    passed = ran.returncode == 0 and count is not None and int(count[1]) == int(count[2]) > 0
    return passed, text


def main() -> None:
    report = Report("conformance")
    with http_server() as url:
        for scenario, revisions in SCENARIOS.items():
            for revision in revisions:
                passed, text = run_scenario(url, scenario, revision)
                # After a failure the suite prints a manual for implementors, which is left out.
                report.check(passed, f"{scenario} at {revision}", text.partition("Server Implementation Req")[0])
    report.finish()


if __name__ == "__main__":
    main()
