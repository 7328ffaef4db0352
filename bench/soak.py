"""Memory under a load that goes on."""

from __future__ import annotations

import shutil
import threading

from calls import PLAN, READS
from crowd import NO_WRK, first_call, forgetting, load, service
from figures import Figure, Section, unmeasured
from settings import Settings
from simulator import simulator

CLIENTS = 16
# Memory is flat where its peak in the last quarter is above that of the second by no more than this.
FLAT_MIB = 1.0
SAMPLES_PER_SECOND = 4


def measure(settings: Settings) -> Section:
    seconds = settings.soak_seconds
    section = Section("soak", "Memory under a load that goes on", f"{seconds:g} s of {CLIENTS} clients over HTTP that call "
                      + ", ".join(dict.fromkeys(f"`{tool}`" for _, tool, _ in [*READS, PLAN])) + " in turn. Flat means: the peak in the last quarter is above "
                      f"that of the second by no more than {FLAT_MIB:g} MiB.", ["measured"])
    rows = ("calls", "resident at the start", "peak in the second quarter", "peak in the last quarter", "growth between them")
    if not shutil.which("wrk"):
        for what in rows:
            section.add(what, unmeasured(NO_WRK))
        return section
    samples: list[float] = []
    with simulator(settings.binary) as sim, service(settings.binary, sim) as server, forgetting(sim):
        first_call(server)
        done = threading.Event()

        def sample() -> None:
            while not done.wait(1 / SAMPLES_PER_SECOND):
                samples.append(server.memory_mib())
        start = server.memory_mib()
        thread = threading.Thread(target=sample)
        thread.start()
        try:
            loaded = load(server, CLIENTS, seconds, [call[1:] for call in [*READS, PLAN]])
        finally:
            done.set()
            thread.join()
    quarter = len(samples) // 4
    second, last = max(samples[quarter:2 * quarter]), max(samples[-quarter:])
    values = (Figure(loaded["calls"]), Figure(start, "MiB"), Figure(second, "MiB"), Figure(last, "MiB"),
              Figure(last - second, "MiB", FLAT_MIB))
    for what, figure in zip(rows, values):
        section.add(what, figure)
    return section
