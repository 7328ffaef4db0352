"""What a call costs beside the bare requests that it makes of PVE, which answers after 5 ms."""

from __future__ import annotations

import statistics
import time
from typing import Any

from figures import Figure, Section
from settings import Settings
from simulator import DELAY_SECONDS, Simulator, simulator
from stdio import Connection, ready

RATIO, CPU_MS = 1.2, 0.3
SEARCH_CPU_MS, LOOK_MS, LOOK_CPU_MS = 2, 600, 20
CLONE = {"tool": "clone_proxmox_vm", "arguments": {"vmid": 105, "new_vmid": 300, "name": "copy"}}
# Of these the goals of a read hold: a name, the tool, its arguments.
READS: list[tuple[str, str, dict[str, Any]]] = [
    ("list all guests", "list_proxmox_resources", {}),
    ("a path of the API", "read_proxmox_api", {"path": "/cluster/backup"}),
    ("a path below a node", "read_proxmox_api", {"path": "/nodes/pve1/qemu/105/status/current"}),
    ("status of a VM, by its id alone", "get_proxmox_vm_status", {"vmid": 105}),
]
PLAN = ("plan of a clone", "preview_proxmox_change", CLONE)


def requests_of(client: Connection, sim: Simulator, tool: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    """What a call asks of PVE once the first ones have been made."""
    for _ in range(2):
        sim.forget_requests()
        client.call(tool, arguments)
    return sim.requests()


def beside_bare(client: Connection, sim: Simulator, tool: str, arguments: dict[str, Any], calls: int) -> tuple[int, float, float, float, float]:
    """Requests of a call, and medians in ms: one bare request, all of them one after another, the call, its CPU.

    They take turns: how fast the machine is changes from second to second.
    """
    asked = requests_of(client, sim, tool, arguments)
    one, bare, took, cpu = [], [], [], []
    for _ in range(calls):
        one.append(sim.bare.replay_ms(asked[-1:]))
        bare.append(sim.bare.replay_ms(asked) if len(asked) > 1 else one[-1])
        before, began = client.cpu_seconds(), time.perf_counter()
        client.call(tool, arguments)
        took.append((time.perf_counter() - began) * 1000)
        cpu.append((client.cpu_seconds() - before) * 1000)
    return len(asked), *map(statistics.median, (one, bare, took, cpu))


def measure(settings: Settings) -> Section:
    delay = f"{DELAY_SECONDS * 1000:g} ms"
    section = Section("calls", f"A call, with a Proxmox VE that answers in {delay}",
                      f"Median of {settings.calls} calls on stdio, each in turn with the same requests sent bare: by Python's "
                      "`http.client` and `ssl`, on one connection kept open, from the process that also is the MCP client. A ratio is "
                      "to one bare request.",
                      ["requests", "one bare request", "all, one after another", "oxmox", "ratio", "CPU of oxmox"])
    with simulator(settings.binary) as sim, ready([settings.binary], **sim.environment) as client:
        sim.delay()
        for name, tool, arguments in [*READS, PLAN]:
            count, one, bare, took, cpu = beside_bare(client, sim, tool, arguments, settings.calls)
            read = name != PLAN[0]
            section.add(f"{name} (`{tool}`)", Figure(count), Figure(one, "ms"), Figure(bare, "ms"), Figure(took, "ms"),
                        Figure(took / one, "×", RATIO if read else None), Figure(cpu, "ms", CPU_MS if read else None))
    return section


def measure_others(settings: Settings) -> Section:
    section = Section("others", "Other work", "With a Proxmox VE that answers at once. A screen counts as still after 400 ms, which are in "
                      "the time that it takes to press a key and see what came of it.", ["measured"])
    with simulator(settings.binary) as sim, ready([settings.binary, "--mode", "trusted"], **sim.environment) as client:
        query = {"query": "add a firewall rule to a container"}
        client.call("search_proxmox_api", query)
        cpu = statistics.median(client.cpu_of("search_proxmox_api", query) for _ in range(settings.calls))
        section.add(f"CPU of `search_proxmox_api`, median of {settings.calls}", Figure(cpu, "ms", SEARCH_CPU_MS))
        press = {"vmid": 100, "key": "ret", "look": True}
        client.call("send_vm_key", press)
        before, began = client.cpu_seconds(), time.perf_counter()
        for _ in range(settings.looks):
            client.call("send_vm_key", press)
        took = (time.perf_counter() - began) * 1000 / settings.looks
        cpu = (client.cpu_seconds() - before) * 1000 / settings.looks
    section.add(f"press a key and see the screen, mean of {settings.looks}", Figure(took, "ms", LOOK_MS))
    section.add("CPU of that", Figure(cpu, "ms", LOOK_CPU_MS))
    return section
