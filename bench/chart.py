"""The chart of a run: panels of horizontal bars, as SVG, for light and dark surroundings."""

from __future__ import annotations

from dataclasses import dataclass
from xml.sax.saxutils import escape

from figures import Figure, Results, number

WIDTH, GAP, TOP = 960, 36, 92
PANEL = (WIDTH - 3 * GAP) // 2
LABEL, VALUE, LINE, BAR = 186, 84, 24, 14
STYLE = """
svg{color-scheme:light dark}
.card{fill:#ffffff;stroke:#d0d7de}text{font:13px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,'DejaVu Sans',sans-serif;fill:#24292f}
.title{font-size:18px;font-weight:600}.head{font-weight:600}.dim{fill:#57606a;font-size:12px}
.own{fill:#bc4c00}.other{fill:#8c959f}.mine{font-weight:600}.axis{stroke:#d0d7de}
@media (prefers-color-scheme:dark){.card{fill:#0d1117;stroke:#30363d}text{fill:#e6edf3}.dim{fill:#9198a1}
.own{fill:#f0883e}.other{fill:#6e7681}.axis{stroke:#30363d}}
"""


@dataclass
class Bar:
    label: str
    value: float
    own: bool


@dataclass
class Panel:
    title: str
    unit: str
    bars: list[Bar]

    @property
    def height(self) -> int:
        return 30 + LINE * len(self.bars) + 22


def svg(results: Results) -> str:
    panels = [panel for panel in (*of_rivals(results), of_crowd(results), of_estates(results)) if panel and panel.bars]
    rows = [panels[at:at + 2] for at in range(0, len(panels), 2)]
    height = TOP + sum(max(panel.height for panel in row) for row in rows) - 12
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
             'aria-label="What oxmox costs, beside other servers">', f"<style>{STYLE.strip()}</style>",
             f'<rect class="card" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>',
             f'<text class="title" x="{GAP}" y="40">What oxmox costs</text>',
             f'<text class="dim" x="{GAP}" y="62">{escape(results.machine["date"])} · {escape(results.machine["CPU"])} · shorter is better, '
             "but for reads per second</text>"]
    top = TOP
    for row in rows:
        for column, panel in enumerate(row):
            parts += draw(panel, GAP + column * (PANEL + GAP), top)
        top += max(panel.height for panel in row)
    return "\n".join([*parts, "</svg>"]) + "\n"


def draw(panel: Panel, left: int, top: int) -> list[str]:
    """A panel: its title, and a bar for each line with its number behind it. All bars begin at zero."""
    room = PANEL - LABEL - VALUE
    longest = max(bar.value for bar in panel.bars) or 1
    base = left + LABEL
    bottom = top + 14 + LINE * len(panel.bars)
    parts = [f'<text class="head" x="{left}" y="{top}">{escape(panel.title)}</text>',
             f'<line class="axis" x1="{base - .5}" y1="{top + 10}" x2="{base - .5}" y2="{bottom}"/>']
    for at, bar in enumerate(panel.bars):
        y = top + 14 + at * LINE
        length = max(bar.value / longest * room, 1)
        bold = ' class="mine"' if bar.own else ""
        parts += [f'<text{bold} x="{base - 10}" y="{y + 12}" text-anchor="end">{escape(bar.label)}</text>',
                  f'<rect class="{"own" if bar.own else "other"}" x="{base}" y="{y + 1}" width="{length:.1f}" height="{BAR}" rx="2"/>',
                  f'<text{bold} x="{base + length + 7:.1f}" y="{y + 12}">{number(bar.value)} {escape(panel.unit)}</text>']
    return parts


def of_rivals(results: Results) -> list[Panel]:
    section = next((one for one in results.sections if one.key == "rivals"), None)
    if section is None:
        return []

    def panel(title: str, column: int, unit: str) -> Panel:
        cells = [(row.what, row.figures[column]) for row in section.rows]
        return Panel(title, unit, [Bar(what, figure.value, what == "oxmox") for what, figure in cells if figure.value is not None])
    return [panel("Start to tools/list", 1, "ms"), panel("Resident memory after it", 2, "MiB"),
            panel("List of guests, PVE answers in 5 ms", 3, "ms"), panel("CPU of that call", 5, "ms")]


def of_crowd(results: Results) -> Panel | None:
    section = next((one for one in results.sections if one.key == "crowd"), None)
    lines = [(row.what, row.figures[0]) for row in section.rows if row.what[0].isdigit() and "," not in row.what] if section else []
    return Panel("Reads per second over HTTP", "/s", bars(lines))


def of_estates(results: Results) -> Panel | None:
    section = next((one for one in results.sections if one.key == "estates"), None)
    row = next((row for row in section.rows if row.what == "list, CPU"), None) if section else None
    return Panel("CPU of a list, by guests of the cluster", "ms", bars(list(zip(section.columns, row.figures[:3])))) if row else None


def bars(lines: list[tuple[str, Figure]]) -> list[Bar]:
    return [Bar(label, figure.value, True) for label, figure in lines if figure.value is not None]
