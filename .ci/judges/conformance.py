"""The official MCP conformance suite over HTTP, in three passes.

1. The scenarios that need no fixtures, against the binary that people run, each for every revision that it belongs to.
2. All that a revision requires, against the same server with the suite's fixtures mounted (cargo feature `conformance`).
3. The same once more with a token required. The suite cannot send one; bearer.mjs, loaded before it, adds it.

The suite exits 0 for what it skipped or only warned of, and its summary does not tell. So a verdict counts by the single
checks that it writes down: each is a success, or it is named in EXPLAINED.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness import Report, clean_env, http_server

SUITE = f"{os.environ['JUDGES']}/npm/node_modules/@modelcontextprotocol/conformance/dist/index.js"
BEARER = Path(__file__).with_name("bearer.mjs")
WITH_FIXTURES = os.environ["OXMOX_CONFORMANCE_BIN"]
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
# What is no success, by revision and check, and why that is right. One that does not occur any more fails too.
EXPLAINED = {
    (OLD, "server-sse-disconnect-resume"): "a server may end a stream before its answer; oxmox never does",
    (NEW, "server-sse-streams-functional"): "an answer without progress is JSON; a stream is a server's choice",
    (NEW, "tasks-status-notifications"): "the suite has no check for these yet, and skips them for every server",
}
# Entries of the suite's log, which it keeps among its checks.
LOG = {"incoming-request", "incoming-response", "incoming-sse-event", "outgoing-request", "stream-closed"}
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
SCENARIO_DIR = re.compile(r"server-(.+)-\d{4}-\d\d-\d\dT")


def run_suite(url: str, *args: str, token: str | None = None) -> tuple[int, str]:
    """The suite's exit code, and what it printed."""
    preload, secret = ([f"--import={BEARER}"], {"OXMOX_TOKEN": token}) if token else ([], {})
    ran = subprocess.run(
        [os.environ["NODE"], *preload, SUITE, "server", "--url", url, *args], env=os.environ | secret,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    return ran.returncode, COLOUR.sub("", ran.stdout)


def judge_scenario(report: Report, url: str, scenario: str, revision: str) -> None:
    """One scenario: the suite's own line "Passed: n/n" is the verdict."""
    code, text = run_suite(url, "--scenario", scenario, "--spec-version", revision)
    count = re.search(r"^Passed: (\d+)/(\d+), 0 failed", text, re.MULTILINE)
    passed = code == 0 and count is not None and int(count[1]) == int(count[2]) > 0
    # After a failure the suite prints a manual for implementors, which is left out.
    report.check(passed, f"{scenario} at {revision}", text.partition("Server Implementation Req")[0])


def checks(kept: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The scenarios that ran, each with its checks."""
    for file in sorted(kept.glob("*/checks.json")):
        name = SCENARIO_DIR.match(file.parent.name)
        entries = json.loads(file.read_text())
        yield name[1] if name else file.parent.name, [entry for entry in entries if not is_log(entry)]


def is_log(entry: dict[str, Any]) -> bool:
    """Whether it tells what went over the wire, and judges nothing."""
    return entry["id"] in LOG and entry["status"] == "INFO"


def judge_requirements(report: Report, url: str, revision: str, token: str | None = None) -> None:
    """All that a revision requires, and what the suite runs besides."""
    how = f"{revision} with a token" if token else revision
    with tempfile.TemporaryDirectory(prefix="conformance-") as kept:
        code, text = run_suite(url, "--requirements", revision, "-o", kept, token=token)
        ran = list(checks(Path(kept)))
    announced = re.search(rf"requirements {revision} \((\d+) scenarios\)", text)
    all_ran = announced is not None and int(announced[1]) == len(ran) and all(found for _, found in ran)
    report.check(all_ran and code == 0, f"the suite runs to its end at {how}", text[-1500:])
    explained, passed, total = set(), 0, 0
    for scenario, found in ran:
        for check in found:
            key = (revision, check["id"])
            if check["status"] in ("INFO", "SKIPPED") and key in EXPLAINED:
                explained.add(key)
                continue
            total += 1
            passed += report.check(check["status"] == "SUCCESS", f"{scenario}: {check['id']} at {how}",
                                   f"{check['status']}: {check.get('errorMessage')} {check.get('details')}")
    for key, why in EXPLAINED.items():
        if key[0] == revision:
            report.check(key in explained, f"{key[1]} at {how} is still left out", why)
            report.note(f"left out: {key[1]}: {why}")
    report.note(f"{how}: {passed}/{total} checks in {len(ran)} scenarios")


@contextmanager
def token_server() -> Iterator[tuple[str, str]]:
    """The server with fixtures where tokens were given out: its address, and one of them."""
    with clean_env() as env:
        add = [WITH_FIXTURES, "--demo", "token", "add", "suite", "--scope", "full"]
        said = subprocess.run(add, env=env, capture_output=True, text=True, check=True, timeout=60).stdout
        token = re.search(r"oxmox_\w+_[\w-]+", said)
        if not token:
            raise SystemExit("`oxmox token add` printed no token")
        with http_server(binary=WITH_FIXTURES, OXMOX_STATE_DIR=env["OXMOX_STATE_DIR"]) as url:
            yield url, token[0]


def status_without_token(url: str) -> int:
    """What a request without a token is answered with."""
    try:
        request = urllib.request.Request(url, b"{}", {"Content-Type": "application/json"})
        return urllib.request.urlopen(request, timeout=10).status
    except urllib.error.HTTPError as error:
        return error.code


def main() -> None:
    report = Report("conformance")
    with http_server() as url:
        for scenario, revisions in SCENARIOS.items():
            for revision in revisions:
                judge_scenario(report, url, scenario, revision)
    for revision in (OLD, NEW):
        with http_server(binary=WITH_FIXTURES) as url:
            judge_requirements(report, url, revision)
        with token_server() as (url, token):
            report.check(status_without_token(url) == 401, "nobody gets in without a token")
            judge_requirements(report, url, revision, token)
    report.finish()


if __name__ == "__main__":
    main()
