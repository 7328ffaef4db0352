"""Many clients at once over Streamable HTTP, made by wrk."""

from __future__ import annotations

import contextlib
import json
import re
import resource
import shutil
import subprocess
import tempfile
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from figures import Figure, Section, unmeasured
from processes import Measured, clean_env, free_port, running
from settings import Settings
from simulator import DELAY_SECONDS, Simulator, simulator
from stdio import STATELESS

READS_PER_SECOND = 5_000
# Limits far above what is asked for, and said here: out of the box a caller gets 50 requests a second.
CONFIG = """\
[limits]
requests_per_second = 1000000
burst = 1000000
concurrent_requests = 4096
"""
READ = ("list_proxmox_resources", {"limit": 10})
NO_WRK = "wrk is not installed (Debian: `apt install wrk`)"


class Service(Measured):
    """`oxmox serve --http` with a token for its one caller."""

    def __init__(self, measured: Measured, port: int, token: str, sim: Simulator) -> None:
        super().__init__(measured.process)
        self.port, self.token, self.sim = port, token, sim


@contextlib.contextmanager
def service(binary: str, sim: Simulator, open_door: bool = False) -> Iterator[Service]:
    with clean_env(**sim.environment) as env:
        config = Path(env["XDG_CONFIG_HOME"]) / "oxmox/config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(CONFIG)
        token = "-"
        if not open_door:
            add = [binary, "token", "add", "bench", "--scope", "read"]
            token = subprocess.run(add, env=env, check=True, capture_output=True, text=True).stdout.strip()
        port = free_port()
        with running([binary, "serve", "--http", f"127.0.0.1:{port}"], env, ready=f":{port}") as (measured, _):
            yield Service(measured, port, token, sim)


def body(tool: str, arguments: dict[str, Any]) -> str:
    """The request of a client that keeps no session."""
    params = {"name": tool, "arguments": arguments, "_meta": STATELESS}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})


def first_call(server: Service) -> None:
    """One call that counts for nothing: it connects to PVE, and works out the token's hash, which is slow on purpose."""
    tool, arguments = READ
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Method": "tools/call",
               "MCP-Protocol-Version": "2026-07-28", "Mcp-Name": tool, "Authorization": f"Bearer {server.token}"}
    if server.token == "-":
        del headers["Authorization"]
    request = urllib.request.Request(f"http://127.0.0.1:{server.port}/mcp", body(tool, arguments).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        said = answer.read().decode()
    if '"result"' not in said:
        raise RuntimeError(f"{tool}: {said[:500]}")


def load(server: Service, clients: int, seconds: float, calls: list[tuple[str, dict[str, Any]]]) -> dict[str, float]:
    """Lets wrk call for so long. Every answer has to be right, or there is no figure."""
    with tempfile.NamedTemporaryFile("w", suffix=".requests") as bodies:
        for tool, arguments in calls:
            bodies.write(f"{tool}\t{body(tool, arguments)}\n")
        bodies.flush()
        wrk = ["wrk", "-t1", f"-c{clients}", f"-d{seconds:g}s", "--timeout", "30s", "-s", str(Path(__file__).parent / "crowd.lua"),
               f"http://127.0.0.1:{server.port}/mcp", "--", bodies.name, server.token]
        before = server.cpu_seconds(), server.sim.measured.cpu_seconds(), cpu_of_ended()
        out = subprocess.run(wrk, capture_output=True, text=True)
        after = server.cpu_seconds(), server.sim.measured.cpu_seconds(), cpu_of_ended()
    found = re.search(r"^figures (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)$", out.stdout, re.MULTILINE)
    if not found or int(found[1]) == 0 or int(found[2]):
        raise RuntimeError(f"wrk with {clients} clients: {out.stdout[-800:]}{out.stderr[-400:]}")
    right, _, micros, middle, late, _ = map(int, found.groups())
    own, sim, generator = ((late - early) / right * 1000 for early, late in zip(before, after))
    return {"calls": right, "rate": right / micros * 1e6, "middle": middle / 1000, "late": late / 1000,
            "cpu": own, "sim_cpu": sim, "wrk_cpu": generator}


def cpu_of_ended() -> float:
    """CPU seconds of the processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextlib.contextmanager
def forgetting(sim: Simulator) -> Iterator[None]:
    """Empties the simulator's log of requests every second: what it remembers would slow it down."""
    done = threading.Event()

    def forget() -> None:
        while not done.wait(1):
            sim.forget_requests()
    thread = threading.Thread(target=forget)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def wrk_version() -> str:
    said = subprocess.run(["wrk", "--version"], capture_output=True, text=True).stdout
    return (re.search(r"wrk \S+", said) or ["wrk"])[0]


def measure(settings: Settings) -> Section:
    seconds, crowds = settings.load_seconds, settings.clients
    tool, arguments = READ
    section = Section("crowd", "Many clients over Streamable HTTP",
                      f"`{tool}` {json.dumps(arguments)} as stateless requests of MCP 2026-07-28, {seconds} s for each line, by wrk with one thread "
                      f"and a connection for each client, without TLS; every answer was read and was a 200 without an error. A caller with a "
                      "token that may read, limits raised to 1,000,000 requests a second, a Proxmox VE that answers in "
                      f"{DELAY_SECONDS * 1000:g} ms. oxmox, simulator and wrk share the machine's cores; the last column is what two cores "
                      "would carry by oxmox's own CPU, computed and not measured.",
                      ["reads/s", "median", "99th percentile", "CPU of a read: oxmox", "simulator", "wrk", "oxmox alone, 2 cores"])
    if not shutil.which("wrk"):
        for clients in crowds:
            section.add(f"{clients} clients", *[unmeasured(NO_WRK)] * len(section.columns))
        return section
    with simulator(settings.binary) as sim:
        sim.delay()
        with service(settings.binary, sim) as server, forgetting(sim):
            first_call(server)
            for clients in crowds:
                add_load(section, f"{clients} client" + "s" * (clients > 1), load(server, clients, seconds, [READ]), clients == crowds[-1])
            section.add("resident memory afterwards", Figure(server.memory_mib(), "MiB"))
        with service(settings.binary, sim, open_door=True) as server, forgetting(sim):
            first_call(server)
            add_load(section, f"{crowds[-1]} clients, nobody asked for a token", load(server, crowds[-1], seconds, [READ]), False)
    return section


def add_load(section: Section, what: str, figures: dict[str, float], judged: bool) -> None:
    section.add(what, Figure(figures["rate"], "/s", READS_PER_SECOND if judged else None, at_least=True), Figure(figures["middle"], "ms"),
                Figure(figures["late"], "ms"), Figure(figures["cpu"], "ms"), Figure(figures["sim_cpu"], "ms"), Figure(figures["wrk_cpu"], "ms"),
                Figure(2 / figures["cpu"] * 1000, "/s"))
