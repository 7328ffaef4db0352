"""What oxmox costs before it has done anything: start-up, memory, size, the list of tools."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import NamedTuple

from figures import Figure, Section
from settings import Settings
from stdio import connection, ready

MIB = 1024 * 1024
START_MS, RESIDENT_MIB, SIZE_MIB = 8, 12, 15
# The two eras of MCP: with a handshake, and without.
ERAS = {"2025-11-25": "2025-11-25, with a handshake", "2026": "2026-07-28, without"}


class Started(NamedTuple):
    """From spawn to the answered tools/list: milliseconds, those of CPU, and what is resident then, in MiB."""

    took: float
    cpu: float
    resident: float
    allocated: float


def start(command: list[str], era: str, runs: int, **env: str) -> Started:
    """Medians of so many starts, after one that brings the files into the machine's memory."""
    taken = []
    for run in range(runs + 1):
        with connection(command, era, **env) as client:
            client.handshake()
            client.list_tools()
            took = (time.perf_counter() - client.began) * 1000
            if run:
                taken.append((took, client.cpu_seconds() * 1000, client.memory_mib(), client.memory_mib("RssAnon")))
    return Started(*(statistics.median(column) for column in zip(*taken)))


def list_again_ms(command: list[str], runs: int, **env: str) -> float:
    """Milliseconds of tools/list in a server that has answered it before."""
    with ready(command, "2025-11-25", **env) as client:
        client.list_tools()
        times = []
        for _ in range(runs):
            began = time.perf_counter()
            client.list_tools()
            times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


def measure(settings: Settings) -> Section:
    section = Section("start", "Start-up, memory, size", f"Median of {settings.runs} starts on stdio, with no cluster configured: "
                      "from the start of the process to the answered `tools/list`, read and parsed.", ["measured"])
    command = [settings.binary]
    for era, name in ERAS.items():
        started = start(command, era, settings.runs)
        section.add(f"start to tools/list, MCP {name}", Figure(started.took, "ms", START_MS))
    section.add("CPU of that", Figure(started.cpu, "ms"))
    section.add("resident memory after it", Figure(started.resident, "MiB", RESIDENT_MIB))
    section.add("of that, allocated (the rest is the program itself)", Figure(started.allocated, "MiB"))
    section.add("tools/list again, core", Figure(list_again_ms(command, settings.runs), "ms"))
    section.add("tools/list again, all toolsets", Figure(list_again_ms([*command, "--toolsets", "all"], settings.runs), "ms"))
    section.add("binary", Figure(Path(settings.binary).stat().st_size / MIB, "MiB", SIZE_MIB))
    return section
