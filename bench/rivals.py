"""Other MCP servers for Proxmox VE, measured by the same client on the same simulator in the same run."""

from __future__ import annotations

import platform
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import installed
from calls import requests_of
from figures import Figure, Section, unmeasured
from processes import say
from settings import Settings
from simulator import DELAY_SECONDS, Simulator, simulator
from startup import start
from stdio import Failed, ready
from words import shown_to_models

# The handshake that all of them know.
ERA = "2025-06-18"
FASTER = 100
Call = tuple[str, dict[str, Any]]
VM = {"node": "pve1", "vmid": 105}


@dataclass
class Server:
    """A server, and how it is asked for the list of guests and for the status of one VM."""

    name: str
    version: str
    listing: Call
    status: Call | None
    # Besides itself: a release of the MCP library that it works with.
    library: str = ""
    env: dict[str, str] = field(default_factory=dict)
    command: list[str] = field(default_factory=list)

    def install(self) -> bool:
        where = installed.venv(f"rival-{self.name}", f"{self.name}=={self.version}", self.library)
        if where is not None:
            self.command = [str(where / "bin" / self.name)]
        return where is not None

    def environment(self, sim: Simulator) -> dict[str, str]:
        """Every name under which one of them looks for the cluster."""
        token = f"{sim.user}!{sim.token_name}"
        url = f"https://127.0.0.1:{sim.port}"
        return {**sim.environment, "PROXMOX_URL": url, "PROXMOX_TOKEN_ID": token, "PROXMOX_TOKEN_SECRET": sim.secret,
                "PROXMOX_VERIFY_SSL": "false"} | {key: value.format(url=url, token=token) for key, value in self.env.items()}


RIVALS = [
    Server("proxmox-mcp-server", "1.4.4", ("get_cluster_resources", {"type": "vm"}), ("get_vm_status", VM), "mcp==2.3.0"),
    Server("proxmox-mcp", "0.1.0", ("list_vms", {"node": "pve1"}), None, "mcp==1.30.0",
           {"PROXMOX_URL": "{url}/api2/json", "PROXMOX_TOKEN_NAME": "{token}", "PROXMOX_ALLOW_DANGER": "true"}),
    Server("proxmox-mcp-plus", "0.6.7", ("get_vms", {}), ("get_vm_config", {**VM, "vmid": "105"}), "mcp==1.30.0", {"PROXMOX_DEV_MODE": "true"}),
    Server("mcp-proxmox", "1.2.3", ("list_vms", {}), ("get_guest_status", {"vmid": 105}), "mcp==1.30.0"),
    # Its own requirements let mcp 2 in, with which it does not start.
    Server("pve-mcp", "1.3.0", ("proxmox_list_vms", {}), ("proxmox_get_vm_status", {"params": VM}), "mcp==1.30.0"),
]
COLUMNS = ["tools", "start to tools/list", "resident memory", "list of guests", "requests", "CPU", "status of a VM", "requests", "CPU",
           "tools/list for the model"]


def one_call(server: Server, sim: Simulator, call: Call | None, runs: int) -> tuple[float, int, float] | None:
    """Medians of a call in ms by the clock and of CPU, and how many requests it makes."""
    if call is None:
        return None
    tool, arguments = call
    with ready(server.command, ERA, **server.environment(sim)) as client:
        asked = len(requests_of(client, sim, tool, arguments))
        took, cpu = [], []
        for _ in range(runs):
            before, began = client.cpu_seconds(), time.perf_counter()
            client.call(tool, arguments)
            took.append((time.perf_counter() - began) * 1000)
            cpu.append((client.cpu_seconds() - before) * 1000)
    return statistics.median(took), asked, statistics.median(cpu)


def figures(server: Server, sim: Simulator, settings: Settings, runs: int) -> list[Figure]:
    started = start(server.command, ERA, runs, **server.environment(sim))
    with ready(server.command, ERA, **server.environment(sim)) as client:
        tools = client.list_tools()
    tokens = installed.count_tokens([shown_to_models(tools)])
    row = [Figure(len(tools)), Figure(started.took, "ms"), Figure(started.resident, "MiB")]
    for call in (server.listing, server.status):
        cost = one_call(server, sim, call, settings.calls // 4 or 1)
        row += ([Figure(cost[0], "ms"), Figure(cost[1]), Figure(cost[2], "ms")] if cost
                else [unmeasured("it has no such tool", excused=True)] * 3)
    return row + [Figure(tokens[0], "tokens") if tokens else unmeasured("no tokenizer", excused=True)]


def method(settings: Settings) -> str:
    """What was compared with what."""
    called = [f"{server.name} " + " and ".join(f"`{call[0]}`" for call in (server.listing, server.status) if call)
              for server in [ours(settings), *RIVALS]]
    return (f"One run, one simulator that answers in {DELAY_SECONDS * 1000:g} ms, one client, stdio, the handshake of MCP {ERA}, the cluster "
            f"configured. Starts: median of {settings.rival_runs} (oxmox: {settings.runs}) after one that is not counted; calls: median of "
            f"{settings.calls // 4 or 1} in a server that has made the same call twice. The others come from PyPI at these versions, run on Python "
            f"{platform.python_version()}, and do not verify the certificate; oxmox pins it. Called were {'; '.join(called)}. They do not answer "
            "alike: proxmox-mcp lists the VMs of one node, the others those of the cluster, some with containers; proxmox-mcp-plus has the "
            "configuration of a VM for its status; oxmox and mcp-proxmox find the node by the VM's id and read its configuration as well, the others are "
            "told the node.")


def measure(settings: Settings) -> list[Section]:
    table = Section("rivals", "Beside other servers", method(settings), COLUMNS)
    ratios = Section("ratios", "How many times oxmox's", "The table above, divided by oxmox's own figures.",
                     ["start to tools/list", "resident memory", "list of guests", "CPU of it", "status of a VM", "CPU of it"])
    with simulator(settings.binary) as sim:
        sim.delay()
        own = figures(ours(settings), sim, settings, settings.runs)
        table.add("oxmox", *own)
        for rival in RIVALS:
            say(f"  {rival.name} {rival.version}")
            name = f"{rival.name} {rival.version}"
            if not rival.install():
                table.add(name, *[unmeasured("it could not be installed", excused=True)] * len(COLUMNS))
                continue
            try:
                row = figures(rival, sim, settings, settings.rival_runs)
            except (Failed, OSError) as failure:
                table.add(name, *[unmeasured(str(failure)[:300], excused=True)] * len(COLUMNS))
                say(f"  {name}: {failure}")
                continue
            table.add(name, *row)
            times = [ratio(row[column], own[column]) for column in (1, 2, 3, 5, 6, 8)]
            times[0].goal, times[0].at_least = FASTER, True
            ratios.add(name, *times)
    return [table, ratios]


def ours(settings: Settings) -> Server:
    return Server("oxmox", "", ("list_proxmox_resources", {}), ("get_proxmox_vm_status", {"vmid": 105}), command=[str(Path(settings.binary).resolve())])


def ratio(theirs: Figure, own: Figure) -> Figure:
    if theirs.value is None or own.value is None:
        return unmeasured(theirs.missing or own.missing, excused=True)
    return Figure(theirs.value / own.value, "×")
