"""Do the tests notice when the code is wrong? Every small change that cargo-mutants can think of, tried on the modules that
must not be wrong: engine, policy, plan, audit.

    just mutants                  all of them; takes half an hour on two cores
    just mutants --only policy    those whose names contain this
    just mutants --again          only those that nobody noticed the last time; new tests are looked at, old ones are known
    just mutants --sample 40      some of them, spread evenly
    just mutants --short          some of them, against the unit tests alone: whether all this works, as CI wants to know

cargo-mutants lists the changes, but to build the tests anew for each would take days. So all of them are built into one copy
of the tests, each behind a switch (switches.py), and every test runs in a process of its own in which one is on (trials.py).
A change is tried only by tests that come to it. It needs cargo-mutants, and tree-sitter from PyPI, as `.ci/mutants/run` installs them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True

import builds  # noqa: E402
import report  # noqa: E402
import trials  # noqa: E402
from fates import Fates  # noqa: E402
from switches import Mutant  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
# Enough for some that compile and are come to.
SHORT = 40
MODULES = ["engine/**", "policy.rs", "policy/**", "plan/**", "store/audit.rs"]


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="PART", help="only those whose name contains this")
    parser.add_argument("--sample", type=int, metavar="N", help="only so many of them")
    parser.add_argument("--again", action="store_true", help="only those that nobody noticed the last time")
    parser.add_argument("--short", action="store_true", help=f"only {SHORT} of them, against the unit tests alone; fails if they notice none")
    parser.add_argument("--write", type=Path, metavar="DOCUMENT", help="put the table into the block of this document")
    parser.add_argument("--jobs", type=int, default=3 * (os.cpu_count() or 1), help="how many at a time: tests wait more than they work")
    parser.add_argument("--budget", type=float, default=60.0, metavar="SECONDS", help="of tests for one of them; then it counts as not noticed")
    return parser.parse_args()


def listed() -> list[Mutant]:
    """What cargo-mutants would try."""
    globs = [word for module in MODULES for word in ("-f", f"crates/tools/src/{module}")]
    command = ["cargo", "mutants", "--list", "--json", "-p", "oxmox-tools", *globs]
    found = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    return [Mutant.of(number, one) for number, one in enumerate(found, 1)]


def spread(mutants: list[Mutant], number: int) -> list[Mutant]:
    """About so many of them, from everywhere."""
    return mutants[:: max(1, len(mutants) // number)]


def main() -> None:
    chosen = options()
    target = Path(os.environ.setdefault("CARGO_TARGET_DIR", str(Path.home() / ".cache/oxmox-target")))
    scratch = target / ("mutants-short" if chosen.short else "mutants")
    mutants = listed()
    if chosen.short:
        mutants = spread(mutants, SHORT)
    builds.copy(ROOT, scratch / "tree")
    binaries = builds.build(scratch, mutants, ["--lib"] if chosen.short else ["--lib", "--test", "it"])
    listing = hashlib.sha256("\n".join(f"{one.id} {one.name} {one.why}" for one in mutants).encode()).hexdigest()
    fates = Fates(scratch / "results.json", listing)
    tests = trials.survey(binaries, scratch / "survey.json", listing, chosen.again)
    wanted = [one for one in mutants if one.is_built and (not chosen.only or chosen.only in one.name)]
    if chosen.again:
        wanted = [one for one in wanted if not fates.is_noticed(one)]
    if chosen.sample:
        wanted = spread(wanted, chosen.sample)
    for one, fate in trials.run(wanted, mutants, tests, chosen.jobs, chosen.budget):
        fates.add(one, fate)
    table = report.table(mutants, fates.known)
    print(table)
    print("\n".join(report.unnoticed(mutants, fates.known)))
    if chosen.write:
        report.write(table, chosen.write)
    if chosen.short and not any(fates.of(one) == "noticed" for one in wanted):
        raise SystemExit("no test noticed any of them")


if __name__ == "__main__":
    main()
