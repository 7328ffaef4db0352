"""The official Python MCP client against the demo: both eras of the protocol, over stdio and over HTTP.

Every tool answers its own examples with output that fits its schema, refuses bad input in words (a tool error, never a
protocol error), and destroys nothing that a person did not agree to. Each group of calls gets a fresh demo world.
What there is besides tools is judged in beyond_tools.py.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator
from typing import Any

from beyond_tools import Beyond
from harness import OXMOX, Report, clean_env, examples, http_server, tools_json
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import CallToolResult, ElicitResult

ERAS = {"legacy": "2025-", "auto": "2026-07-28"}
TRANSPORTS = ("stdio", "http")
ABSENT_VMID = 999_999_998
CALL_SECONDS = 60.0


class Person:
    """Stands for the human behind the client: counts the questions and gives always the same answer."""

    def __init__(self, action: str) -> None:
        self.action = action
        self.asked: list[str] = []

    async def __call__(self, _context: Any, params: Any) -> ElicitResult:
        self.asked.append(params.message)
        if self.action != "accept":
            return ElicitResult(action=self.action)
        schema = getattr(params, "requested_schema", None) or {}
        content = {name: _agreeing(prop) for name, prop in schema.get("properties", {}).items()}
        return ElicitResult(action="accept", content=content)


def _agreeing(prop: dict[str, Any]) -> Any:
    """A value that says yes to one field of a form."""
    if prop.get("type") == "boolean":
        return True
    if "enum" in prop:
        return prop["enum"][0]
    return prop.get("default", prop.get("minimum", "yes"))


@contextlib.asynccontextmanager
async def connected(era: str, transport: str, *flags: str, person: Person | None = None, on_message: Any = None,
                    extensions: Any = None) -> AsyncIterator[Client]:
    """A client on a demo of its own."""
    options: dict[str, Any] = {"mode": era, "elicitation_callback": person, "read_timeout_seconds": CALL_SECONDS,
                               "message_handler": on_message, "extensions": extensions}
    if transport == "stdio":
        with clean_env() as env:
            server = StdioServerParameters(command=OXMOX, args=["--demo", *flags], env=env)
            async with Client(server, **options) as client:
                yield client
    else:
        with http_server(*flags) as url:
            async with Client(url, **options) as client:
                yield client


def text_of(result: CallToolResult) -> str:
    """The words of a result."""
    return "\n".join(block.text for block in result.content if block.type == "text")


class Session:
    """One era on one transport, judged on all counts."""

    def __init__(self, report: Report, era: str, transport: str, tools: list[dict[str, Any]]) -> None:
        self.report, self.era, self.transport, self.tools = report, era, transport, tools
        self.label = f"{era}/{transport}"

    def check(self, ok: bool, what: str, detail: object = "") -> bool:
        return self.report.check(ok, f"{self.label} {what}", detail)

    async def call(self, client: Client, name: str, arguments: dict[str, Any]) -> CallToolResult | None:
        """Call a tool; anything but a tool result is a failure. The client itself checks the output schema."""
        try:
            return await client.call_tool(name, arguments)
        except (MCPError, RuntimeError, TimeoutError) as error:
            self.check(False, f"{name}({json.dumps(arguments)}) answers with a tool result", repr(error))
            return None

    async def lists(self) -> None:
        """The handshake, and that every client sees the same tools."""
        async with connected(self.era, self.transport) as client:
            self.check(client.protocol_version.startswith(ERAS[self.era]), "speaks its era", client.protocol_version)
            listed = (await client.list_tools()).tools
            self.check([t.name for t in listed] == [t["name"] for t in self.tools], "lists what `oxmox tools` lists",
                       [t.name for t in listed])
            for tool in listed:
                self.check(bool(tool.output_schema), f"{tool.name} has an output schema")
                self.check(bool(tool.annotations), f"{tool.name} has annotations")
            able = client.server_capabilities
            if able.resources:
                await client.list_resources()
                await client.list_resource_templates()
            if able.prompts:
                await client.list_prompts()
            self.check(True, "lists resources and prompts")

    async def answers_examples(self, tool: dict[str, Any]) -> None:
        """Each example of a tool works on a fresh world, for a person who agrees."""
        for arguments in examples(tool):
            async with connected(self.era, self.transport, person=Person("accept")) as client:
                result = await self.call(client, tool["name"], arguments)
                if result is None:
                    continue
                shown = f"{tool['name']}({json.dumps(arguments)})"
                self.check(not result.is_error, f"{shown} succeeds", text_of(result))
                self.check(bool(result.structured_content), f"{shown} has structured content")
                self.check(bool(text_of(result).strip()), f"{shown} has text")

    async def refuses_bad_input(self) -> None:
        """Wrong types, missing arguments and unknown guests are tool errors that name what is wrong."""
        async with connected(self.era, self.transport, person=Person("decline")) as client:
            for tool in self.tools:
                schema = tool["inputSchema"]
                good = next(iter(examples(tool)), {})
                for name in schema.get("required", []):
                    without = {k: v for k, v in good.items() if k != name}
                    await self.refuses(client, tool["name"], without, name)
                    wrong = 7 if schema["properties"][name].get("type") == "object" else {"not": ["this"]}
                    await self.refuses(client, tool["name"], good | {name: wrong}, name)
                # Where vmid is optional it is a filter, or the id that a new guest is to have.
                if "vmid" in schema.get("required", []) and not tool["name"].startswith("create_"):
                    await self.refuses(client, tool["name"], good | {"vmid": ABSENT_VMID}, str(ABSENT_VMID))

    async def refuses(self, client: Client, tool: str, arguments: dict[str, Any], names: str) -> None:
        result = await self.call(client, tool, arguments)
        if result is not None:
            shown = f"{tool}({json.dumps(arguments)})"
            self.check(result.is_error is True and names in text_of(result), f"{shown} is refused, naming {names}",
                       text_of(result))

    async def asks_before_destroying(self) -> None:
        """Declined, or with nobody to ask, the guest stays; agreed to, it goes."""
        tool = next((t for t in self.tools if t["name"] == "delete_proxmox_vm"), None)
        if not self.check(tool is not None and bool(examples(tool)), "delete_proxmox_vm has an example"):
            return
        arguments = examples(tool)[0]
        for person, remains in ((None, True), (Person("decline"), True), (Person("cancel"), True),
                                (Person("accept"), False)):
            who = person.action if person else "nobody to ask"
            async with connected(self.era, self.transport, "--mode", "ask", person=person) as client:
                result = await self.call(client, "delete_proxmox_vm", arguments)
                if person:
                    self.check(len(person.asked) == 1, f"{who}: asked exactly once", person.asked)
                after = await self.call(client, "get_proxmox_vm_status", {"vmid": arguments["vmid"]})
                if after is not None:
                    self.check(after.is_error is not remains, f"{who}: the guest is {'there' if remains else 'gone'}",
                               f"{text_of(result) if result else ''}\n{text_of(after)}")

    async def stays_read_only(self) -> None:
        """Read-only mode lists no tool that changes anything."""
        async with connected(self.era, self.transport, "--mode", "read-only") as client:
            listed = (await client.list_tools()).tools
            self.check(bool(listed), "read-only: lists tools")
            for tool in listed:
                reads = tool.annotations is not None and tool.annotations.read_only_hint is True
                self.check(reads, f"read-only: {tool.name} is a reading tool")

    async def judge(self) -> None:
        await self.lists()
        for tool in self.tools:
            await self.answers_examples(tool)
        await self.refuses_bad_input()
        await self.asks_before_destroying()
        await self.stays_read_only()
        await Beyond(self, connected).judge()


async def judged(session: Session) -> None:
    """One broken pair of era and transport must not hide the others."""
    try:
        await session.judge()
    except Exception as error:
        session.check(False, "runs to its end", repr(error))


async def main() -> None:
    logging.disable(logging.WARNING)
    report = Report("clients")
    tools = tools_json()
    for tool in tools:
        report.check(bool(examples(tool)), f"{tool['name']} carries examples in its _meta")
    # Side by side: what takes long is simulated copying of disks, which nobody has to wait for four times.
    await asyncio.gather(*(judged(Session(report, era, transport, tools)) for era in ERAS for transport in TRANSPORTS))
    report.finish()


if __name__ == "__main__":
    asyncio.run(main())
