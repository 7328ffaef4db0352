"""Processes that are measured: how they are started and ended, and what the kernel says about them."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / ".ci/judges"))
from harness import clean_env, free_port  # noqa: E402, F401  (the judges' own)

PATIENCE = 60.0


class Measured:
    """What a process has used up so far."""

    def __init__(self, process: subprocess.Popen) -> None:
        self.process = process

    def memory_mib(self, what: str = "VmRSS") -> float:
        """Resident memory: now (VmRSS) or at its highest (VmHWM)."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split(f"{what}:")[1].split()[0]) / 1024

    def cpu_seconds(self) -> float:
        """utime + stime of all threads, in nanoseconds' precision: the kernel's CPU clock of that process."""
        return time.clock_gettime((~self.process.pid << 3) | 2)


@contextlib.contextmanager
def running(command: list[str], env: dict[str, str], ready: str) -> Iterator[tuple[Measured, Path]]:
    """Runs a server until the block ends; entered once it has written `ready` on stderr. Yields that file as well."""
    with tempfile.NamedTemporaryFile("wb", suffix=".stderr") as log:
        process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log)
        said = Path(log.name)
        try:
            deadline = time.monotonic() + PATIENCE
            while ready not in said.read_text():
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"{' '.join(command)} did not start:\n{said.read_text()[-2000:]}")
                time.sleep(0.01)
            yield Measured(process), said
        finally:
            end(process)


def end(process: subprocess.Popen) -> None:
    """Ends a process, and waits until it has ended."""
    process.terminate()
    try:
        process.wait(30)  # under valgrind an end takes its time
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def say(text: str) -> None:
    """Talk goes to stderr; stdout has the figures."""
    print(text, file=sys.stderr, flush=True)


def release_binary() -> str:
    """The release build of this checkout, built now."""
    target = os.environ.setdefault("CARGO_TARGET_DIR", str(Path.home() / ".cache/oxmox-target"))
    subprocess.run(["cargo", "build", "--release", "-p", "oxmox"], check=True, cwd=ROOT)
    return f"{target}/release/oxmox"
