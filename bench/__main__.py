"""What oxmox costs, measured and held against goals. A missed goal is marked "over" and fails nothing; a figure that could
not be had does.

    just bench                          builds the release binary and measures all but the rivals
    just bench --rivals                 with other servers, installed from PyPI, in the same run
    just bench --json > figures.json    the figures as data
    just bench --soak 3600              memory over an hour instead of seconds
    just bench --write docs/performance.md
    just bench --read figures.json --write docs/performance.md    figures that were measured before

The parts are modules of their own: startup, calls, crowd, estates, words, soak, rivals.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

sys.dont_write_bytecode = True

import calls  # noqa: E402
import crowd  # noqa: E402
import estates  # noqa: E402
import machine  # noqa: E402
import report  # noqa: E402
import rivals  # noqa: E402
import soak  # noqa: E402
import startup  # noqa: E402
import words  # noqa: E402
from figures import Results, Section, unmeasured  # noqa: E402
from processes import release_binary, say  # noqa: E402
from settings import Settings  # noqa: E402

PARTS: dict[str, Callable[[Settings], Section | list[Section]]] = {
    "start": startup.measure,
    "calls": calls.measure,
    "others": calls.measure_others,
    "crowd": crowd.measure,
    "estates": estates.measure,
    "words": words.measure,
    "soak": soak.measure,
    "rivals": rivals.measure,
}


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", nargs="?", help="measure this one instead of building a release")
    parser.add_argument("--rivals", action="store_true", help="measure other servers as well; installs them from PyPI")
    parser.add_argument("--soak", type=float, metavar="SECONDS", help="how long memory is watched under load (20)")
    parser.add_argument("--only", metavar="PARTS", help=f"only these, separated by commas: {', '.join(PARTS)}")
    parser.add_argument("--short", action="store_true", help="few runs and small clusters: is every figure there?")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--write", type=Path, metavar="DOCUMENT", help="write the figures into the block of this document, with a chart")
    parser.add_argument("--read", type=Path, metavar="JSON", help="measure nothing; take the figures of an earlier --json")
    return parser.parse_args()


def measure(chosen: argparse.Namespace) -> Results:
    names = chosen.only.split(",") if chosen.only else [name for name in PARTS if name != "rivals" or chosen.rivals]
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        raise SystemExit(f"there is no part {', '.join(unknown)}\nhint: there are {', '.join(PARTS)}")
    settings = Settings(str(Path(chosen.binary or release_binary()).resolve()), chosen.short)
    settings.soak_seconds = chosen.soak or (4 if chosen.short else 20)
    flags = ["BINARY" if word == chosen.binary else word for word in sys.argv[1:]]
    results = Results(machine.describe(settings.binary, shlex.join(["just", "bench", *flags])))
    for name in names:
        say(f"measuring: {name}")
        try:
            found = PARTS[name](settings)
        except Exception as failure:  # one part that breaks down does not take the others along
            found = Section(name, name, "", ["measured"])
            found.add("all of it", unmeasured(f"{type(failure).__name__}: {failure}"))
        results.sections += found if isinstance(found, list) else [found]
    return results


def main() -> None:
    chosen = options()
    results = Results.from_json(json.loads(chosen.read.read_text())) if chosen.read else measure(chosen)
    if chosen.write:
        report.write(results, chosen.write)
        say(f"written: {chosen.write}")
    print(json.dumps(results.to_json(), indent=1) if chosen.json else report.text(results))
    for section, row, figure in results.absent():
        say(f"not measured: {section.title}, {row.what}: {figure.missing}")
    sys.exit(1 if results.absent() else 0)


if __name__ == "__main__":
    main()
