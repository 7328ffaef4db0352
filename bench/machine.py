"""The machine that a run was made on, and when."""

from __future__ import annotations

import datetime
import os
import platform
import re
import shutil
import subprocess
import time
from pathlib import Path

from crowd import wrk_version

# The part of the cores' time that others took; above this the machine had other things to do than to be measured.
CALM = 0.05
LOOKED_FOR_SECONDS = 3.0
BUSY = "others' work before"
PROVISIONAL = "provisional"


def describe(binary: str, command: str) -> dict[str, str]:
    info = Path("/proc/cpuinfo").read_text()
    model = re.search(r"^model name\s*: (.*)$", info, re.MULTILINE)
    memory = int(re.search(r"MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text())[1]) / 1024 / 1024
    version = subprocess.run([binary, "--version"], capture_output=True, text=True).stdout.strip()
    busy = busy_part()
    found = {
        "date": datetime.date.today().isoformat(),
        "command": command,
        "oxmox": f"{version}, {kind(binary)}",
        "CPU": f"{model[1] if model else platform.machine()}, {os.cpu_count()} cores",
        "memory": f"{memory:.1f} GiB",
        "system": f"{system()}, Linux {platform.release()}",
        BUSY: f"{busy:.1%} of the cores' time" + ("" if busy < CALM else f": these figures are {PROVISIONAL}"),
        "simulator": "`oxmox sim` of the same binary",
        "client": f"Python {platform.python_version()}",
    }
    if shutil.which("wrk"):
        found["load generator"] = f"{wrk_version()} (Debian's package)" if Path("/etc/debian_version").exists() else wrk_version()
    return found


def busy_part() -> float:
    """How much of the cores' time is taken while nothing is measured. The load average would still tell of what has ended."""
    def times() -> tuple[int, int]:
        ticks = [int(field) for field in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
        return sum(ticks), ticks[3] + ticks[4]  # all, and idle or waiting for a disk
    all_before, idle_before = times()
    time.sleep(LOOKED_FOR_SECONDS)
    all_after, idle_after = times()
    return 1 - (idle_after - idle_before) / (all_after - all_before)


def system() -> str:
    release = Path("/etc/os-release")
    name = re.search(r'^PRETTY_NAME="?([^"\n]*)', release.read_text(), re.MULTILINE) if release.exists() else None
    return name[1] if name else platform.system()


def kind(binary: str) -> str:
    """How it was built, by where cargo puts things."""
    parts = Path(binary).resolve().parts
    build = next((part for part in ("release", "debug") if part in parts), "build")
    return f"{build} build" + (", static (musl)" if any("musl" in part for part in parts) else "")
