"""A figure, with the goal that it is held against, and the tables that figures stand in."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Figure:
    """One number. Without a value it says in `missing` why there is none."""

    value: float | None
    unit: str = ""
    goal: float | None = None
    at_least: bool = False
    missing: str = ""
    # What cannot be had here (a registry that is down, a program that is not installed) is no mistake of the bench.
    excused: bool = False

    @property
    def over(self) -> bool:
        """Whether the goal is missed."""
        if self.value is None or self.goal is None:
            return False
        return self.value < self.goal if self.at_least else self.value > self.goal

    @property
    def text(self) -> str:
        if self.value is None:
            return "–"
        shown = number(self.value)
        # A goal that is just missed must not look as if it were met.
        digits = 2
        while self.over and float(shown.replace(",", "")) == self.goal and digits < 9:
            shown, digits = f"{self.value:,.{digits}f}", digits + 1
        return f"{shown} {self.unit}".strip() + (" **over**" if self.over else "")

    @property
    def goal_text(self) -> str:
        if self.goal is None:
            return ""
        return f"{'≥' if self.at_least else '≤'} {number(self.goal, goal=True)} {self.unit}".strip()


def number(value: float, goal: bool = False) -> str:
    """Three digits that count, and thousands told apart."""
    if goal or value == int(value) or abs(value) >= 100:
        return f"{value:,.0f}" if value == int(value) or abs(value) >= 100 else f"{value:,g}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


@dataclass
class Row:
    what: str
    figures: list[Figure]

    @property
    def goals(self) -> str:
        return ", ".join(dict.fromkeys(f.goal_text for f in self.figures if f.goal is not None))


@dataclass
class Section:
    """A table: what it is about, how it was measured, and a row for each thing."""

    key: str
    title: str
    says: str
    columns: list[str]
    rows: list[Row] = field(default_factory=list)

    def add(self, what: str, *figures: Figure) -> None:
        self.rows.append(Row(what, list(figures)))

    @property
    def has_goals(self) -> bool:
        return any(row.goals for row in self.rows)


@dataclass
class Results:
    """Everything that one run measured."""

    machine: dict[str, str]
    sections: list[Section] = field(default_factory=list)

    def missed(self) -> list[tuple[Section, Row]]:
        return [(s, row) for s in self.sections for row in s.rows if any(f.over for f in row.figures)]

    def absent(self) -> list[tuple[Section, Row, Figure]]:
        """The figures that should be there and are not."""
        return [(s, row, f) for s in self.sections for row in s.rows for f in row.figures if f.value is None and not f.excused]

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> Results:
        def row(one: dict[str, Any]) -> Row:
            return Row(one["what"], [Figure(**figure) for figure in one["figures"]])
        sections = [Section(**{**one, "rows": [row(r) for r in one["rows"]]}) for one in data["sections"]]
        return Results(data["machine"], sections)


def unmeasured(why: str, excused: bool = False) -> Figure:
    return Figure(None, missing=why, excused=excused)
