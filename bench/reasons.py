"""Why a goal is missed, where that is understood. Kept beside the bench, so that a document names both or neither."""

from __future__ import annotations

from figures import Row, Section

# By section and the beginning of the row.
REASONS: dict[tuple[str, str], str] = {
    ("start", "resident memory"): "Four fifths of it are the program itself, of which the kernel maps more around each page that is used; the "
    "next line of the table is what is allocated.",
    ("start", "binary"): "Most of it is machine code: hundreds of tools, the parts of a service (TLS, OAuth, SQLite, a client of PostgreSQL), "
    "and the simulator.",
    ("crowd", "256 clients"): "oxmox shares the cores with the simulator and with wrk. Alone it would miss it, too, as the last column says: two "
    "cores give 5,000 reads 0.4 ms of CPU each, and a read of this list takes more; what it takes is told above.",
    **{("calls", begin): "By its profile (perf, a build for glibc) no function takes more than six in a hundred: TLS, parsing, cleaning, two forms of the answer, memory. A process "
       "that is woken every few milliseconds, after others had the core, finds its caches cold: beside other servers, where calls follow each other, it takes less."
       for begin in ("list all guests", "a path of the API")},
    **{("ratios", begin): "It is among the leanest of the others: half a second from its start to its list of tools."
       for begin in ("proxmox-mcp 0.1.0", "mcp-proxmox")},
    ("calls", "a path below a node"): "It asks first whether a cluster has this node and whether it is online: two requests, one after the other.",
    ("calls", "status of a VM"): "It finds the VM by its id, every time anew, then reads its state and its configuration side by side: three requests, "
    "two of them one after the other, where one is what it is compared with.",
}


def reason(section: Section, row: Row, busy: bool) -> str:
    """Why this row misses a goal; `busy`: the machine had other work to do."""
    found = [why for (key, begin), why in REASONS.items() if key == section.key and row.what.startswith(begin)]
    unknown = "It was measured while the machine had other work to do." if busy else "The reason is not known yet."
    return found[0] if found else unknown
