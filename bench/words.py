"""How much of a model's context the list of tools and typical answers take."""

from __future__ import annotations

import json
from typing import Any

from calls import CLONE
from figures import Figure, Section, unmeasured
from installed import TOKENIZER, count_tokens
from settings import Settings
from simulator import simulator
from stdio import ready

TOOLSETS = ("core", "lean", "all")
ANSWERS: list[tuple[str, str, dict[str, Any]]] = [
    ("list of two dozen guests", "list_proxmox_resources", {}),
    ("list, filtered", "list_proxmox_resources", {"filter": "tag:prod status:running"}),
    ("status of a VM", "get_proxmox_vm_status", {"vmid": 105}),
    ("plan of a clone", "preview_proxmox_change", CLONE),
    ("search of the API", "search_proxmox_api", {"query": "add a firewall rule to a container"}),
    ("digest of the cluster", "get_proxmox_digest", {}),
]


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def shown_to_models(tools: list[dict[str, Any]]) -> str:
    """What clients hand on to the model of each tool; titles, output schemas and `_meta` are for the client itself."""
    return compact([{key: tool[key] for key in ("name", "description", "inputSchema") if key in tool} for tool in tools])


def add_texts(section: Section, named: list[tuple[str, list[str]]]) -> None:
    """A row for each name: bytes and tokens of its texts."""
    counts = count_tokens([text for _, texts in named for text in texts])
    left = iter(counts or [])
    for name, texts in named:
        figures = []
        for text in texts:
            figures += [Figure(len(text.encode()), "bytes"),
                        Figure(next(left)) if counts else unmeasured("the tokenizer could not be installed", excused=True)]
        section.add(name, *figures)


def measure(settings: Settings) -> list[Section]:
    how = f"Tokens are those of o200k_base, counted by {TOKENIZER}; other models count otherwise."
    lists = Section("tools", "What the list of tools takes", f"{how} As sent, and the part that clients hand on to a model: names, "
                    "descriptions, input schemas.", ["as sent", "tokens", "for the model", "tokens"])
    named = []
    for toolset in TOOLSETS:
        with ready([settings.binary, "--toolsets", toolset], "2025-11-25") as client:
            tools = client.list_tools()
            named.append((f"`--toolsets {toolset}`: {len(tools)} tools", [compact(tools), shown_to_models(tools)]))
    add_texts(lists, named)
    answers = Section("answers", "What typical answers take", "The demo cluster. An answer comes as text and as structured content; clients show "
                      "a model the one or the other.", ["text", "tokens", "structured", "tokens"])
    named = []
    with simulator(settings.binary) as sim, ready([settings.binary, "--toolsets", "core,ops"], **sim.environment) as client:
        for name, tool, arguments in ANSWERS:
            result = client.call(tool, arguments)
            text = "".join(part.get("text", "") for part in result["content"])
            named.append((f"{name} (`{tool}`)", [text, compact(result.get("structuredContent", {}))]))
    add_texts(answers, named)
    return [lists, answers]
