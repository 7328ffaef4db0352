"""Tests against changes: which tests come to which, and whether one of them fails."""

from __future__ import annotations

import bisect
import concurrent.futures
import dataclasses
import hashlib
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from switches import Mutant

# The first of them alone: most changes are noticed at once.
BATCHES = [1, 4, 12, 24, 48]
# What the names of changes are full of.
PASSED_OVER = {"crat", "tool", "repl", "with", "dele", "true", "fals", "defa", "beha", "swee", "resu", "opti", "stri"}


@dataclasses.dataclass
class Test:
    binary: str
    directory: str
    name: str
    seconds: float
    comes_to: set[int]


def run_tests(binary: str, directory: str, names: list[str], limit: float, **env: str) -> bool | None:
    """Whether they pass; None: they were ended."""
    command = [binary, "--exact", "-q", "--test-threads", "2", *names]
    env = os.environ | {"INSTA_UPDATE": "no", "RUST_BACKTRACE": "0", "OXMOX_REFERENCE": reference()} | env
    with subprocess.Popen(command, cwd=directory, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            return process.wait(limit) == 0
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            return None


def reference() -> str:
    """The schemas that some tests read lie beside the project, not beside the copy."""
    return os.environ.get("OXMOX_REFERENCE", str(Path(__file__).resolve().parents[3] / "shared"))


def survey(binaries: dict[str, str], keep: Path, listing: str, again: bool) -> list[Test]:
    """Every test once, with nothing switched on. Those that fail then are of no use here. `again`: what tests of the same name
    came to among the same changes is taken from the last time."""
    # What they are and not when they were made: the same changes are written and built anew every time.
    stamps = {binary: hashlib.sha256(Path(binary).read_bytes()).hexdigest() for binary in binaries}
    kept = json.loads(keep.read_text()) if keep.exists() else {"stamps": {}, "tests": []}
    is_same = kept["stamps"] == stamps or (again and kept.get("listing") == listing)
    known = {(one[1], one[2]): one for one in kept["tests"]} if is_same else {}
    jobs = []
    for binary, directory in binaries.items():
        told = subprocess.run([binary, "--list", "--format", "terse"], cwd=directory, check=True, capture_output=True, text=True).stdout
        jobs += [(binary, directory, line.removesuffix(": test")) for line in told.splitlines() if line.endswith(": test")]

    def found(job: tuple[str, str, str]) -> Test | None:
        if one := known.get(job[1:]):
            return Test(*job, one[3], set(one[4]))
        return look(*job)

    print(f"running {sum(job[1:] not in known for job in jobs)} tests once", file=sys.stderr, flush=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        tests = [test for test in pool.map(found, jobs) if test]
    rows = [[*dataclasses.astuple(one)[:4], sorted(one.comes_to)] for one in tests]
    keep.write_text(json.dumps({"stamps": stamps, "listing": listing, "tests": rows}))
    return tests


def look(binary: str, directory: str, name: str) -> Test | None:
    with tempfile.TemporaryDirectory() as scratch:
        log = Path(scratch) / "seen"
        began = time.monotonic()
        if not run_tests(binary, directory, [name], 600, MUTANTS_SEEN=str(log)):
            print(f"fails with nothing changed, and is left out: {name}", file=sys.stderr, flush=True)
            return None
        seconds = time.monotonic() - began
        comes_to = {int(line) for line in log.read_text().splitlines()} if log.exists() else set()
    return Test(binary, directory, name, seconds, comes_to)


def run(mutants: list[Mutant], known: list[Mutant], tests: list[Test], jobs: int, budget: float) -> Iterator[tuple[Mutant, dict]]:
    """What became of each of these, as it is known; `known` are all that there are."""
    files: dict[str, set[int]] = {}
    for one in known:
        files.setdefault(one.file, set()).add(one.id)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        waiting = {pool.submit(fate, one, tests, budget, files[one.file]): one for one in mutants}
        for number, done in enumerate(concurrent.futures.as_completed(waiting), 1):
            one, found = waiting[done], done.result()
            if found["fate"] in ("unnoticed", "unreached"):
                print(f"{found['fate']}: {one.name}", file=sys.stderr, flush=True)
            if number % 50 == 0:
                print(f"{number} of {len(mutants)}", file=sys.stderr, flush=True)
            yield one, found


def in_common(one: str, other: str) -> int:
    """How many words of two names begin alike."""
    words = lambda name: {word[:4].lower() for word in re.findall(r"[A-Za-z]{4,}", name)} - PASSED_OVER  # noqa: E731
    return len(words(one) & words(other))


def within(budget: float, tests: list[Test]) -> list[Test]:
    """As many as there is time for, and at least one."""
    seconds = list(itertools.accumulate(test.seconds for test in tests))
    return tests[: max(1, bisect.bisect_right(seconds, budget))]


def in_order(one: Mutant, able: list[Test], beside: set[int]) -> list[Test]:
    """Most changes are noticed by many tests, so that quick ones whose names speak of it go first; others only by a test that is
    about it: in turn with these go those that come to much of what is beside it, in the same file, for the time that they take.
    A sweep over all tools comes to everything, and two of them would use up the time for all others."""
    likely = sorted(able, key=lambda test: test.seconds / (1 + 10 * in_common(one.name, test.name)))
    deep = sorted(able, key=lambda test: test.seconds / (1 + len(test.comes_to & beside)))
    both = itertools.chain.from_iterable(zip(likely, deep))
    return list({test.name: test for test in both}.values())


def fate(one: Mutant, tests: list[Test], budget: float, beside: set[int]) -> dict:
    able = in_order(one, [test for test in tests if one.id in test.comes_to], beside)
    if not able:
        return {"fate": "unreached"}
    ran = 0
    sizes = iter(BATCHES)
    while able and budget > 0:
        batch = within(budget, [test for test in able[: next(sizes, 48)] if test.binary == able[0].binary])
        able = [test for test in able if test not in batch]
        seconds = sum(test.seconds for test in batch)
        budget -= seconds
        ran += len(batch)
        passed = run_tests(batch[0].binary, batch[0].directory, [test.name for test in batch], 15 + 4 * seconds, MUTANT=str(one.id))
        if passed is None:
            return {"fate": "hung", "by": [test.name for test in batch]}
        if not passed:
            return {"fate": "noticed", "by": [test.name for test in batch]}
    return {"fate": "unnoticed", "tests": ran, "left": len(able)}
