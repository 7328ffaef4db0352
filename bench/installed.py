"""What is fetched from registries, at pinned versions, the way the judges of CI fetch theirs, and kept between runs."""

from __future__ import annotations

import functools
import json
import subprocess
from pathlib import Path

from processes import ROOT, say

TOKENIZER = "gpt-tokenizer@4.0.0"


def _install(command: str) -> Path | None:
    """Runs a function of .ci/judges/install.sh; the last line that it prints is where things are."""
    script = f"unavailable=77; source .ci/judges/install.sh; mkdir -p \"$JUDGES\"; {command}"
    out = subprocess.run(["bash", "-c", script], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if out.returncode:
        say(out.stderr[-800:])
        return None
    return Path(out.stdout.strip().splitlines()[-1])


def venv(name: str, *requirements: str) -> Path | None:
    """A virtual environment with these packages; `None` if they could not be had."""
    return _install(f"venv {name} {' '.join(map(repr, requirements))} >&2 && echo \"$VENV\"")


@functools.cache
def tokenizer() -> Path | None:
    return _install(f"npm_install tokenizer {TOKENIZER} >&2 && echo \"$JUDGES/tokenizer\"")


def count_tokens(texts: list[str]) -> list[int] | None:
    """Tokens of each text; `None` where the tokenizer could not be installed."""
    where = tokenizer()
    if where is None:
        return None
    script = str(Path(__file__).parent / "tokens.mjs")
    out = subprocess.run(["node", script, str(where)], input=json.dumps(texts), capture_output=True, text=True, check=True)
    return json.loads(out.stdout)
