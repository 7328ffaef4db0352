"""What a client gets besides plain calls: resources and their changes, prompts, completions, progress, tasks."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import mcp.types as types
from mcp import Client
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.types import CallToolResult
from pydantic import ConfigDict, Field

CLUSTER = "proxmox://cluster/demo"
GUEST = f"{CLUSTER}/guest/105"
START = {"vmid": 105}
# The server looks every five seconds.
NEWS_SECONDS = 20.0
# The client warns of what is gone from the newer protocol; here the older one is judged.
warnings.filterwarnings("ignore", message=".*use Client.listen")


class CreatedTask(types.Result):
    """A task in place of an answer."""

    result_type: Literal["task"] = Field(alias="resultType")
    task_id: str = Field(alias="taskId")
    status: str


class TaskParams(types.RequestParams):
    task_id: str = Field(alias="taskId")


class GetTask(types.Request[TaskParams, Literal["tasks/get"]]):
    name_param: ClassVar[str | None] = "taskId"
    method: Literal["tasks/get"] = "tasks/get"
    params: TaskParams


class TaskState(types.Result):
    model_config = ConfigDict(extra="allow")
    status: str
    result: dict[str, Any] | None = None


class Tasks(ClientExtension):
    """Follows a task to its end, as a client with the extension does."""

    identifier = "io.modelcontextprotocol/tasks"

    def __init__(self) -> None:
        self.states: list[str] = []

    def claims(self) -> Sequence[ResultClaim[Any]]:
        return [ResultClaim(result_type="task", model=CreatedTask, resolve=self.follow)]

    async def follow(self, task: CreatedTask, ctx: ClaimContext) -> CallToolResult:
        self.states.append(task.status)
        while True:
            request = GetTask(params=TaskParams(taskId=task.task_id))
            state = await ctx.session.send_request(request, TaskState)
            self.states.append(state.status)
            if state.status != "working":
                return CallToolResult.model_validate(state.result)
            await asyncio.sleep(0.05)


class Beyond:
    """The checks, on one session of `clients.Session`."""

    def __init__(self, session: Any, connected: Any) -> None:
        self.session, self.connected = session, connected
        self.era, self.transport = session.era, session.transport

    def check(self, ok: bool, what: str, detail: object = "") -> bool:
        return self.session.check(ok, what, detail)

    async def judge(self) -> None:
        await self.offers()
        await self.tells_progress()
        if self.era == "legacy":
            await self.hears_changes_2025()
        else:
            await self.hears_changes_2026()
            await self.follows_tasks()

    async def offers(self) -> None:
        """Each template can be filled in and read, each prompt filled in, and both are completed."""
        async with self.connected(self.era, self.transport) as client:
            templates = (await client.list_resource_templates()).resource_templates
            values = {"cluster": "demo", "node": "pve1", "vmid": "105"}
            for template in templates:
                uri = template.uri_template
                if "{upid}" in uri:
                    ref = types.ResourceTemplateReference(type="ref/resource", uri=uri)
                    found = await client.complete(ref, {"name": "upid", "value": "UPID:"})
                    values["upid"] = found.completion.values[0]
                for name, value in values.items():
                    uri = uri.replace("{" + name + "}", value)
                read = (await client.read_resource(uri)).contents[0]
                self.check(bool(json.loads(read.text)), f"{template.uri_template} is JSON", read)
            prompts = (await client.list_prompts()).prompts
            given = {"node": "pve1", "vmid": "105"}
            for prompt in prompts:
                arguments = {a.name: given[a.name] for a in prompt.arguments or [] if a.required}
                told = await client.get_prompt(prompt.name, arguments)
                self.check("_proxmox_" in told.messages[0].content.text, f"prompt {prompt.name} names tools", told)
            ref = types.PromptReference(type="ref/prompt", name="restore_drill")
            found = await client.complete(ref, {"name": "vmid", "value": "10"})
            self.check("105" in found.completion.values, "completes a vmid", found)

    async def tells_progress(self) -> None:
        """Progress grows, counts over both steps, and carries PVE's words."""
        told: list[tuple[float, str]] = []

        async def note(progress: float, _total: float | None, message: str | None) -> None:
            told.append((progress, message or ""))

        async with self.connected(self.era, self.transport) as client:
            arguments = {"vmid": 900, "new_vmid": 300, "start": True}
            result = await client.call_tool("clone_proxmox_vm", arguments, progress_callback=note)
            self.check(not result.is_error, "clones with progress", result)
            values = [progress for progress, _ in told]
            self.check(values == sorted(set(values)) and len(values) > 2, "progress grows", told)
            cloning = [progress for progress, message in told if message.startswith("Clone")]
            self.check(bool(cloning) and max(cloning) < 60, "the first of two steps is not all of it", told)

    async def change(self, client: Client) -> None:
        await client.call_tool("start_proxmox_vm", START)

    async def hears_changes_2025(self) -> None:
        heard: asyncio.Queue[str] = asyncio.Queue()

        async def note(message: Any) -> None:
            if isinstance(message, types.ResourceUpdatedNotification):
                heard.put_nowait(str(message.params.uri))

        async with self.connected(self.era, self.transport, on_message=note) as client:
            await client.session.subscribe_resource(GUEST)
            await self.change(client)
            self.check(await news(heard.get()) == GUEST, "a subscriber hears of a change")
            await client.session.unsubscribe_resource(GUEST)

    async def hears_changes_2026(self) -> None:
        async with self.connected(self.era, self.transport) as client:
            async with client.listen(resource_subscriptions=[GUEST]) as subscription:
                self.check(subscription.honored.resource_subscriptions == [GUEST], "the subscription is granted")
                await self.change(client)
                event = await news(anext(subscription))
                self.check(getattr(event, "uri", None) == GUEST, "a subscriber hears of a change", event)

    async def follows_tasks(self) -> None:
        """A change that is not waited for is a task, with the result at its end."""
        tasks = Tasks()
        async with self.connected(self.era, self.transport, extensions=[tasks]) as client:
            result = await client.call_tool("start_proxmox_vm", START | {"wait": 0})
            status = (result.structured_content or {}).get("status")
            self.check(status == "applied", "a task ends with the answer", result)
            self.check(tasks.states[:1] == ["working"] and tasks.states[-1] == "completed", "a task is followed",
                       tasks.states)


async def news(waiting: Any) -> Any:
    """What comes in time, or nothing."""
    try:
        return await asyncio.wait_for(waiting, NEWS_SECONDS)
    except TimeoutError:
        return None
