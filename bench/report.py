"""Figures as text for a terminal, and as a block of a document."""

from __future__ import annotations

from pathlib import Path

import chart
import machine
from figures import Results, Row, Section
from reasons import reason

BEGIN, END = "<!-- bench begin -->", "<!-- bench end -->"
PICTURE = "pictures/performance.svg"


def cells(section: Section, row: Row) -> list[str]:
    figures = [figure.text for figure in row.figures]
    figures += [""] * (len(section.columns) - len(figures))
    return [row.what, *figures, *([row.goals] if section.has_goals else [])]


def header(section: Section) -> list[str]:
    return ["", *section.columns, *(["goal"] if section.has_goals else [])]


def text(results: Results) -> str:
    lines = [f"{name}: {value}" for name, value in results.machine.items()]
    for section in results.sections:
        rows = [header(section)] + [[cell.replace("**over**", "over") for cell in cells(section, row)] for row in section.rows]
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines += ["", section.title]
        lines += ["  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]).rstrip() for row in rows]
    return "\n".join(lines)


def markdown(results: Results) -> str:
    busy = machine.PROVISIONAL in results.machine[machine.BUSY]
    lines = ["**Provisional: this machine had other work to do.**", ""] if busy else []
    lines += ["| | |", "|---|---|"]
    lines += [f"| {name} | {f'`{value}`' if name == 'command' else value} |" for name, value in results.machine.items()]
    lines += ["", f"![Start-up, memory and calls of oxmox and of other servers; reads per second by clients, cost by guests]({PICTURE})"]
    for section in results.sections:
        titles = header(section)
        lines += ["", f"## {section.title}", "", section.says, "", f"| {' | '.join(titles)} |", "|---" + "|---:" * (len(titles) - 1) + "|"]
        lines += [f"| {' | '.join(cells(section, row))} |" for row in section.rows]
    lines += ["", "## Goals that were missed", ""]
    missed = [f"- {section.title}, {row.what}: {worst(row)}. {reason(section, row, busy)}" for section, row in results.missed()]
    absent = [f"- Not measured: {section.title}, {row.what}: {figure.missing}" for section, row, figure in results.absent()]
    return "\n".join(lines + (missed + absent or ["None."]))


def worst(row: Row) -> str:
    return ", ".join(f"{figure.text.replace(' **over**', '')} (goal {figure.goal_text})" for figure in row.figures if figure.over)


def write(results: Results, path: Path) -> None:
    """Puts the block into a document, between its marks, and the chart beside it."""
    document = path.read_text()
    if document.count(BEGIN) != 1 or document.count(END) != 1:
        raise SystemExit(f"{path} has no block to write: it needs the lines {BEGIN} and {END}, once each")
    before, rest = document.split(BEGIN)
    path.write_text(f"{before}{BEGIN}\n\n{markdown(results)}\n\n{END}{rest.split(END)[1]}")
    picture = path.parent / PICTURE
    picture.write_text(chart.svg(results))
