"""How cost grows with the guests of a cluster."""

from __future__ import annotations

import contextlib
import re
import shutil
import statistics
import tempfile
from pathlib import Path
from typing import Any

from figures import Figure, Section
from processes import say
from settings import Settings
from simulator import Simulator, simulator
from stdio import ready

CPU_MS, PEAK_MIB = 150, 64
# Calls whose instructions are counted, between two counts.
COUNTED_CALLS = 2
TOOLS: list[tuple[str, str, dict[str, Any]]] = [
    ("list", "list_proxmox_resources", {}),
    ("filter", "list_proxmox_resources", {"filter": "tag:prod status:running mem>40", "sort": "-mem"}),
    ("volumes of at most 9 nodes", "list_proxmox_resources", {"resource_type": "volume", "filter": "node:pve0*"}),
    ("digest", "get_proxmox_digest", {}),
    ("findings", "list_proxmox_findings", {}),
]


def costs(settings: Settings, tool: str, arguments: dict[str, Any], sims: list[Simulator]) -> list[tuple[float, float]]:
    """Of a tool on each cluster: CPU milliseconds of a call, and peak MiB of a process that did nothing else.

    The clusters take turns and the medians count: how fast the machine is changes from second to second.
    """
    with contextlib.ExitStack() as stack:
        command = [settings.binary, "--toolsets", "core,ops"]
        clients = [stack.enter_context(ready(command, **sim.environment)) for sim in sims]
        for client in clients:  # the first call connects
            client.call(tool, arguments)
        taken = [[client.cpu_of(tool, arguments) for client in clients] for _ in range(settings.estate_calls)]
        medians = [statistics.median(column) for column in zip(*taken)]
        return [(cpu, client.memory_mib("VmHWM")) for cpu, client in zip(medians, clients)]


def instructions(settings: Settings, tool: str, arguments: dict[str, Any], sim: Simulator) -> float:
    """Millions of instructions of one call: what a process that calls oftener has executed more."""
    with tempfile.TemporaryDirectory(prefix="oxmox-count-") as home:
        def executed(calls: int) -> int:
            out = f"{home}/{calls}"
            command = ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={out}", settings.binary, "--toolsets", "core,ops"]
            with ready(command, **sim.environment) as client:
                for _ in range(calls):
                    client.call(tool, arguments)
            return int(re.findall(r"^(?:totals|summary): (\d+)", Path(out).read_text(), re.MULTILINE)[-1])
        return (executed(1 + COUNTED_CALLS) - executed(1)) / COUNTED_CALLS / 1e6


def measure(settings: Settings) -> Section:
    counts = not settings.short and shutil.which("valgrind") is not None
    how = ("Growth is judged by instructions, counted by valgrind: times swing with the machine's caches and neighbours."
           if counts else "Growth is judged by CPU time; where valgrind is installed, by instructions.")
    estates = settings.estates
    section = Section("estates", "Large clusters", f"Median of {settings.estate_calls} calls on stdio, with the simulator's world `fleet`, 250 "
                      f"guests to a node. Linear means: ten times the guests, from {estates[-2]:,} to {estates[-1]:,}, cost no more than ten times as much. {how} Peak memory is "
                      "that of a process that did nothing else.", [*(f"{n:,} guests" for n in estates), "growth, last step"])
    with contextlib.ExitStack() as stack:
        sims = [stack.enter_context(simulator(settings.binary, "--world", "fleet", "--guests", str(n))) for n in estates]
        for name, tool, arguments in TOOLS:
            say(f"  {name}")
            taken = costs(settings, tool, arguments, sims)
            add_growth(section, f"{name}, CPU", [cpu for cpu, _ in taken], "ms", CPU_MS, estates, judged=not counts)
            if counts:
                executed = [instructions(settings, tool, arguments, sim) for sim in sims]
                add_growth(section, f"{name}, instructions", executed, "M", None, estates, judged=True)
            add_growth(section, f"{name}, peak memory", [peak for _, peak in taken], "MiB", PEAK_MIB, estates, judged=False)
    return section


def add_growth(section: Section, what: str, values: list[float], unit: str, goal: float | None, estates: tuple[int, ...], judged: bool) -> None:
    small, middle, large = values
    growth = Figure(large / max(middle, 1e-9), "×", estates[2] / estates[1] if judged else None)
    section.add(what, Figure(small, unit), Figure(middle, unit), Figure(large, unit, goal), growth)
