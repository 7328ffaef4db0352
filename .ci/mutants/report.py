"""What became of the changes: a table by module, and the changes that nobody noticed, with why where that is known."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from pathlib import Path

from switches import Mutant

BEGIN, END = "<!-- mutants begin -->", "<!-- mutants end -->"
EXPLAINED = Path(__file__).with_name("explained.toml")
COLUMNS = ["changes", "do not compile", "no place", "tried", "noticed", "by hanging", "not noticed", "explained", "not reached", "score"]


def of(one: Mutant, fates: dict[str, dict]) -> str:
    if one.is_built:
        return fates.get(one.name, {}).get("fate", "untried")
    return "uncompiled" if "compile" in one.why else "placeless"


def without_place(name: str) -> str:
    """A change by its file and what it is: lines move."""
    return re.sub(r"^crates/tools/src/([^:]+):\d+:\d+: ", r"\1: ", name)


def explained() -> dict[str, str]:
    """Why nobody can notice these, or need not."""
    groups = tomllib.loads(EXPLAINED.read_text())["because"]
    return {change: group["why"] for group in groups for change in group["changes"]}


def table(mutants: list[Mutant], fates: dict[str, dict]) -> str:
    rows: dict[str, Counter[str]] = {}
    reasons = explained()
    for one in mutants:
        fate = of(one, fates)
        for module in (one.module, "all"):
            row = rows.setdefault(module, Counter())
            row[fate] += 1
            if fate in ("unnoticed", "unreached") and without_place(one.name) in reasons:
                row["explained"] += 1
    lines = [f"| module | {' | '.join(COLUMNS)} |", "|---" + "|---:" * len(COLUMNS) + "|"]
    for module, row in sorted(rows.items(), key=lambda item: (item[0] == "all", item[0])):
        killed = row["noticed"] + row["hung"]
        tried = killed + row["unnoticed"] + row["unreached"]
        score = f"{100 * killed / tried:.1f} %" if tried else "–"
        figures = [sum(row.values()) - row["explained"], row["uncompiled"], row["placeless"], tried, killed, row["hung"], row["unnoticed"],
                   row["explained"], row["unreached"], score]
        lines.append(f"| {module} | {' | '.join(map(str, figures))} |")
    return "\n".join(lines)


def unnoticed(mutants: list[Mutant], fates: dict[str, dict]) -> list[str]:
    reasons = explained()
    lines = []
    for one in mutants:
        fate, why = of(one, fates), reasons.get(without_place(one.name))
        if fate in ("unnoticed", "unreached", "placeless", "untried"):
            lines.append(f"{fate}: {one.name}" + (f" ({why})" if why else ""))
    return lines


def write(text: str, path: Path) -> None:
    """Puts it into a document, between its marks."""
    before, rest = path.read_text().split(BEGIN)
    path.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}")
