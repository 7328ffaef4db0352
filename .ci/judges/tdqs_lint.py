"""tdqs: the deterministic half of the score by which registries grade tool definitions.

The core toolset must be free of warnings. With all toolsets on, tools that resemble each other are expected
(`shadow-candidate`); nothing else is.
"""

from __future__ import annotations

import json
import os
import subprocess

from harness import Report, clean_env, command_line

TDQS = f"{os.environ['VENV']}/bin/tdqs"
ALLOWED = {"core": set(), "all": {"shadow-candidate"}}


def main() -> None:
    report = Report("tdqs")
    for toolsets, allowed in ALLOWED.items():
        with clean_env() as env:
            ran = subprocess.run(
                [TDQS, "lint", "--command", command_line("--demo", "--toolsets", toolsets),
                 "--format", "json", "--fail-on", "never"],
                env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        if not report.check(ran.returncode == 0, f"{toolsets}: tdqs ran (exit {ran.returncode})", ran.stderr):
            continue
        result = json.loads(ran.stdout)
        report.check(result["server"]["toolCount"] > 0, f"{toolsets}: lists tools")
        for finding in result["findings"]:
            if finding["severity"] in ("warning", "error") and finding["rule"] not in allowed:
                report.check(False, f"{toolsets}: {finding['rule']}", finding["message"])
        report.note(f"{toolsets}: {result['server']['toolCount']} tools, {len(result['findings'])} findings in all")
    report.finish()


if __name__ == "__main__":
    main()
