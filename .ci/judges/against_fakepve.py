"""oxmox's tools against fakepve, a fake PVE written by others, so that client and simulator cannot share a mistake.

Effects are read from the fake itself, never from what oxmox says about them. A request that the fake calls malformed
(400), unknown (501) or unauthorised (401, 403) is a failure: real PVE would most likely say the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import logging
import os
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import aiohttp
from fakepve import FakePve
from fakepve.certs import make_cert
from harness import OXMOX, Report, clean_env
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import CallToolResult

NODE, OTHER = "pve1", "pve2"
WEB, SPARE, TEMPLATE, CONTAINER, COPY, NAMED = 100, 101, 102, 200, 150, 160
TOKEN_USER, TOKEN_NAME, TOKEN_SECRET = "root@pam", "oxmox", "11111111-2222-3333-4444-555555555555"
OUR_FAULT = {400, 401, 403, 501}
TAKEN = "/api2/json/cluster/nextid?vmid="


class Recorder(FakePve):
    """fakepve that also remembers how it answered."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.answers: list[tuple[str, str, int, str]] = []

    def _build_app(self) -> Any:
        app = super()._build_app()
        app.on_response_prepare.append(self._remember)
        return app

    async def answer(self, request: Any, match: Any, params: Any, user: Any, call: Any = None) -> Any:
        """Two effects that fakepve checks the requests for but does not model: what snapshots need, and a backup made."""
        data = await super().answer(request, match, params, user, call)
        if request.path.endswith("/feature"):
            return {"hasFeature": 1}
        if request.method == "POST" and request.path.endswith("/vzdump") and params.get("storage") in self.storages:
            storage, name = params["storage"], f"vzdump-qemu-{params['vmid']}-2026_01_01-00_00_00.vma.zst"
            self.store_file(storage, name, 1 << 20, content="backup")
            self.storages[storage]["volumes"][f"backup/{name}"]["vmid"] = int(params["vmid"])
        return data

    async def _remember(self, request: Any, response: Any) -> None:
        self.answers.append((request.method, request.path_qs, response.status, response.reason))

    def accepted(self, method: str, ending: str) -> bool:
        """Whether a request of this kind arrived and was answered with 200."""
        return any(m == method and path.partition("?")[0].endswith(ending) and status == 200
                   for m, path, status, _ in self.answers)


def populate(pve: FakePve) -> None:
    """One guest of each sort. SPARE has no smbios1, vmgenid or meta, as VMs made by old releases have none."""
    identity = {"smbios1": "uuid=6f1e2a54-0c3b-4a5e-9f7d-2b8c9d0e1f2a", "meta": "creation-qemu=10.0.2,ctime=1760000000",
                "vmgenid": "0b5e7c0e-52a5-4c0a-8a4b-3f1d2c6b7a89"}
    net = {"net0": "virtio=BC:24:11:00:00:01,bridge=vmbr0"}
    pve.add_node(OTHER)
    pve.add_vm(WEB, "web", node=NODE, status="running",
               config={"memory": "2048", "scsi0": f"local-lvm:vm-{WEB}-disk-0,size=8G", **net, **identity})
    pve.add_vm(SPARE, "spare", node=NODE, config={"scsi0": f"local-lvm:vm-{SPARE}-disk-0,size=8G"})
    pve.add_vm(TEMPLATE, "base", node=NODE, template=True,
               config={"scsi0": f"local-lvm:base-{TEMPLATE}-disk-0,size=8G", **identity})
    pve.add_ct(CONTAINER, "dns", node=NODE, status="running", config={})
    template = {"content": "vztmpl", "format": "tzst", "size": 130_000_000, "ctime": 1760000000}
    pve.storages["local"]["volumes"] = {"vztmpl/debian-13-standard_13.1-2_amd64.tar.zst": template}


@contextlib.asynccontextmanager
async def fake() -> AsyncIterator[tuple[Recorder, str]]:
    """A fresh fake, and its certificate's fingerprint."""
    pve = Recorder(host="127.0.0.1", port=0)
    pve.apitokens[f"{TOKEN_USER}!{TOKEN_NAME}"] = TOKEN_SECRET
    populate(pve)
    with tempfile.TemporaryDirectory(prefix="fakepve-") as directory:
        certificate, key, der = make_cert(directory)
        await pve.start(certificate, key)
    try:
        yield pve, hashlib.sha256(der).digest().hex(":").upper()
    finally:
        await pve.stop()


@contextlib.asynccontextmanager
async def fake_and_client(mode: str = "trusted", pin: str | None = None) -> AsyncIterator[tuple[Recorder, Client]]:
    """The same, and oxmox on stdio pointed at it by environment and fingerprint."""
    async with fake() as (pve, fingerprint):
        with clean_env(PROXMOX_HOST="127.0.0.1", PROXMOX_PORT=str(pve.port), PROXMOX_USER=TOKEN_USER,
                       PROXMOX_TOKEN_NAME=TOKEN_NAME, PROXMOX_TOKEN_VALUE=TOKEN_SECRET,
                       PROXMOX_FINGERPRINT=pin or fingerprint) as env:
            server = StdioServerParameters(command=OXMOX, args=["--mode", mode, "--toolsets", TOLD], env=env)
            async with Client(server, read_timeout_seconds=60) as client:
                yield pve, client


def text_of(result: CallToolResult) -> str:
    """The words of a result."""
    return "\n".join(block.text for block in result.content if block.type == "text")


# The story of one working day: a tool, its arguments, and how the fake shows that it happened. An argument may be a
# function of the fake, for values that exist only then.
Effect = Callable[[Recorder], bool]
# The toolsets whose tools have a part in the story. The others are one method of PVE each, held against its schemas.
TOLD = "core,ops,qemu,console"
# fakepve serves no consoles: these are held against the simulator and a real QEMU instead.
NO_CONSOLE = {"type_vm_text", "capture_vm_screen", "run_proxmox_vm_command", "read_vm_terminal",
              "send_vm_terminal_line"}
# It checks these requests and does nothing about them, so that what oxmox reads back is not so: they are held against
# the simulator alone.
NO_EFFECT = {"resize_vm_disk", "reboot_vm", "move_vm_disk", "migrate_vm", "update_vm_cloudinit"}
# It serves no API schema: nothing is written unchecked then, and reads say that they are.
NO_SCHEMA = {"search_proxmox_api", "write_proxmox_api"}
STORY: list[tuple[str, dict[str, Any], Effect]] = [
    ("list_proxmox_resources", {}, lambda pve: pve.accepted("GET", "/cluster/resources")),
    ("list_proxmox_resources", {"resource_type": "volume"}, lambda pve: pve.accepted("GET", "/content")),
    ("list_proxmox_resources", {"resource_type": "snapshot", "filter": f"vmid:{WEB},{CONTAINER}"},
     lambda pve: pve.accepted("GET", f"/lxc/{CONTAINER}/snapshot")),
    ("get_proxmox_vm_status", {"vmid": WEB}, lambda pve: pve.accepted("GET", f"/qemu/{WEB}/status/current")),
    ("get_proxmox_vm_status", {"vmid": CONTAINER}, lambda pve: pve.accepted("GET", f"/lxc/{CONTAINER}/status/current")),
    ("get_proxmox_digest", {}, lambda pve: pve.accepted("GET", "/certificates/info")),
    ("list_proxmox_findings", {}, lambda pve: pve.accepted("GET", "/apt/update")),
    ("get_proxmox_drift", {}, lambda pve: True),
    ("get_proxmox_metrics", {"vmid": WEB}, lambda pve: pve.accepted("GET", f"/qemu/{WEB}/rrddata")),
    ("read_proxmox_api", {"path": f"/nodes/{NODE}/qemu/{WEB}/config"},
     lambda pve: pve.accepted("GET", f"/qemu/{WEB}/config")),
    ("get_proxmox_node_status", {"node": NODE}, lambda pve: pve.accepted("GET", f"/nodes/{NODE}/status")),
    ("clone_proxmox_vm", {"node": NODE, "vmid": SPARE, "new_vmid": COPY, "name": "copy"},
     lambda pve: pve.vm(COPY) is not None),
    ("clone_proxmox_vm", {"vmid": TEMPLATE, "new_vmid": COPY + 1, "full": False},
     lambda pve: pve.vm(COPY + 1) is not None),
    ("create_proxmox_vm", {"name": "fresh", "vmid": COPY + 2, "storage": "local-lvm", "disk_size": 4},
     lambda pve: pve.vm(COPY + 2) is not None),
    ("create_proxmox_vm", {"name": "app", "vmid": COPY + 3, "template": TEMPLATE, "cores": 2, "ciuser": "me",
                           "cipassword": "change-me", "start": True},
     lambda pve: pve.vm(COPY + 3).status == "running" and pve.vm(COPY + 3).config["ciuser"] == "me"),
    ("create_proxmox_lxc", {"hostname": "cache", "vmid": COPY + 4, "storage": "local-lvm"},
     lambda pve: pve.guest(COPY + 4) is not None),
    ("get_proxmox_task", {"upid": lambda pve: next(iter(pve.tasks))}, lambda pve: True),
    ("update_proxmox_vm", {"vmid": COPY, "set": {"memory": 2048, "description": "a copy"}},
     lambda pve: pve.accepted("POST", f"/qemu/{COPY}/config")),
    ("start_proxmox_vm", {"vmid": COPY}, lambda pve: pve.vm(COPY).status == "running"),
    ("send_vm_key", {"node": NODE, "vmid": COPY, "key": "ctrl-alt-delete"},
     lambda pve: pve.accepted("PUT", f"/qemu/{COPY}/sendkey")),
    ("preview_proxmox_change", {"tool": "stop_proxmox_vm", "arguments": {"vmid": COPY}},
     lambda pve: pve.vm(COPY).status == "running"),
    ("stop_proxmox_vm", {"vmid": COPY}, lambda pve: pve.vm(COPY).status == "stopped"),
    ("stop_proxmox_vm", {"vmid": CONTAINER}, lambda pve: pve.guest(CONTAINER).status == "stopped"),
    ("start_proxmox_vm", {"vmid": CONTAINER}, lambda pve: pve.guest(CONTAINER).status == "running"),
    ("snapshot_proxmox_vm", {"vmid": SPARE, "name": "before"}, lambda pve: "before" in pve.vm(SPARE).snapshots),
    ("rollback_proxmox_vm", {"vmid": SPARE, "snapshot": "before"},
     lambda pve: pve.accepted("POST", f"/qemu/{SPARE}/snapshot/before/rollback")),
    ("delete_proxmox_vm_snapshot", {"vmid": SPARE, "snapshot": "before"}, lambda pve: not pve.vm(SPARE).snapshots),
    ("backup_proxmox_vm", {"vmid": SPARE, "storage": "local"}, lambda pve: pve.accepted("POST", "/vzdump")),
    ("start_proxmox_vm", {"vmids": [COPY, SPARE]},
     lambda pve: all(pve.vm(vmid).status == "running" for vmid in (COPY, SPARE))),
    ("stop_proxmox_vm", {"vmids": [COPY, SPARE]},
     lambda pve: all(pve.vm(vmid).status == "stopped" for vmid in (COPY, SPARE))),
    ("migrate_proxmox_vm", {"vmid": CONTAINER, "target": OTHER, "restart": True},
     lambda pve: pve.guest(CONTAINER).node == OTHER and pve.guest(CONTAINER).status == "running"),
    ("delete_proxmox_vm_preview", {"node": NODE, "vmid": COPY}, lambda pve: pve.vm(COPY) is not None),
    ("delete_proxmox_vm", {"vmid": COPY}, lambda pve: pve.vm(COPY) is None),
    # The same and more by the names of other servers.
    ("list_vms", {"node": NODE}, lambda pve: pve.accepted("GET", f"/nodes/{NODE}/qemu")),
    ("get_vm_status", {"vmid": WEB}, lambda pve: pve.accepted("GET", f"/qemu/{WEB}/status/current")),
    ("get_vm_config", {"vmid": WEB}, lambda pve: pve.accepted("GET", f"/qemu/{WEB}/config")),
    ("get_vm_pending", {"vmid": WEB}, lambda pve: pve.accepted("GET", f"/qemu/{WEB}/pending")),
    ("get_vm_feature", {"vmid": WEB, "feature": "snapshot"}, lambda pve: pve.accepted("GET", f"/qemu/{WEB}/feature")),
    ("get_vm_rrddata", {"vmid": WEB}, lambda pve: pve.accepted("GET", f"/qemu/{WEB}/rrddata")),
    ("create_vm", {"node": NODE, "vmid": NAMED, "name": "named", "scsi0": "local-lvm:4", "onboot": True,
                   "description": "by the names of PVE"}, lambda pve: pve.vm(NAMED).config["onboot"] in (1, "1")),
    ("clone_vm", {"vmid": NAMED, "newid": NAMED + 1, "name": "second"}, lambda pve: pve.vm(NAMED + 1) is not None),
    ("update_vm_config", {"vmid": NAMED, "memory": 4096, "delete": "description"},
     lambda pve: str(pve.vm(NAMED).config["memory"]) == "4096" and "description" not in pve.vm(NAMED).config),
    ("create_vm_snapshot", {"vmid": SPARE, "snapname": "before"}, lambda pve: "before" in pve.vm(SPARE).snapshots),
    ("list_vm_snapshots", {"vmid": SPARE}, lambda pve: pve.accepted("GET", f"/qemu/{SPARE}/snapshot")),
    ("get_vm_snapshot_config", {"vmid": SPARE, "snapname": "before"},
     lambda pve: pve.accepted("GET", f"/qemu/{SPARE}/snapshot/before/config")),
    ("rollback_vm_snapshot", {"vmid": SPARE, "snapname": "before"},
     lambda pve: pve.accepted("POST", f"/qemu/{SPARE}/snapshot/before/rollback")),
    ("delete_vm_snapshot", {"vmid": SPARE, "snapname": "before"}, lambda pve: not pve.vm(SPARE).snapshots),
    ("get_vm_cloudinit", {"vmid": COPY + 3}, lambda pve: pve.accepted("GET", f"/qemu/{COPY + 3}/cloudinit")),
    ("dump_vm_cloudinit", {"vmid": COPY + 3}, lambda pve: pve.accepted("GET", f"/qemu/{COPY + 3}/cloudinit/dump")),
    ("start_vm", {"vmid": NAMED}, lambda pve: pve.vm(NAMED).status == "running"),
    ("send_vm_monitor_command", {"vmid": NAMED, "command": "info status"},
     lambda pve: pve.accepted("POST", f"/qemu/{NAMED}/monitor")),
    ("get_vm_vncproxy", {"vmid": NAMED}, lambda pve: pve.accepted("POST", f"/qemu/{NAMED}/vncproxy")),
    ("get_vm_spiceproxy", {"vmid": NAMED}, lambda pve: pve.accepted("POST", f"/qemu/{NAMED}/spiceproxy")),
    ("suspend_vm", {"vmid": NAMED}, lambda pve: pve.accepted("POST", f"/qemu/{NAMED}/status/suspend")),
    ("resume_vm", {"vmid": NAMED}, lambda pve: pve.accepted("POST", f"/qemu/{NAMED}/status/resume")),
    ("suspend_vm", {"vmid": NAMED, "todisk": True}, lambda pve: pve.vm(NAMED).status == "stopped"),
    ("start_vm", {"vmid": NAMED}, lambda pve: pve.vm(NAMED).status == "running"),
    ("reset_vm", {"vmid": NAMED}, lambda pve: pve.accepted("POST", f"/qemu/{NAMED}/status/reset")),
    ("shutdown_vm", {"vmid": NAMED}, lambda pve: pve.vm(NAMED).status == "stopped"),
    ("stop_vm", {"vmid": COPY + 3}, lambda pve: pve.vm(COPY + 3).status == "stopped"),
    ("convert_vm_to_template", {"vmid": NAMED + 1}, lambda pve: pve.vm(NAMED + 1).template),
    ("delete_vm", {"vmid": NAMED}, lambda pve: pve.vm(NAMED) is None),
]


async def tell_story(report: Report) -> None:
    """Every listed tool has a part in the story, and every part has its effect."""
    async with fake_and_client() as (pve, client):
        listed = [tool.name for tool in (await client.list_tools()).tools]
        for name in listed:
            # fakepve's guests have no agent.
            outside = name in NO_CONSOLE | NO_SCHEMA | NO_EFFECT or name.startswith("vm_agent_")
            told = outside or any(name == told for told, _, _ in STORY)
            report.check(told, f"{name} has a part in STORY")
        for name, template, effect in STORY:
            arguments = {k: v(pve) if callable(v) else v for k, v in template.items()}
            before = len(pve.answers)
            try:
                result = await client.call_tool(name, arguments)
            except (MCPError, RuntimeError, TimeoutError) as error:
                report.check(False, f"{name} {arguments} answers with a tool result", repr(error))
                continue
            report.check(not result.is_error, f"{name} {arguments} succeeds", text_of(result))
            report.check(effect(pve), f"{name} {arguments} has its effect", pve.answers[before:])
        judge_answers(report, pve)


# What rules of our demo world speak of, and a fake without it takes for a mistake.
PREPARED = [
    ("/cluster/firewall/ipset", {"name": "admins"}),
    ("/cluster/firewall/aliases", {"name": "lan", "cidr": "10.0.0.0/24"}),
    ("/cluster/firewall/aliases", {"name": "old-printer", "cidr": "10.0.0.9"}),
]


def upload(params: list[tuple[str, str]]) -> dict[str, Any]:
    """The parts of an upload as PVE reads them: the name is in the first line of a part, and the file comes last."""
    parts = []
    for name, value in params:
        is_file = name == "filename"
        says = f'name="{name}"; filename="{value}"' if is_file else f'name="{name}"'
        parts.append(f"--parts\r\nContent-Disposition: form-data; {says}\r\n\r\n{'DATA' if is_file else value}\r\n")
    return {"data": ("".join(parts) + "--parts--\r\n").encode(),
            "headers": {"Content-Type": "multipart/form-data; boundary=parts"}}


async def take_every_request(report: Report) -> None:
    """What the examples of all tools ask of PVE, written down by a test, is known to the fake and of its types.

    Most of it is about things that only our own demo world has; what counts is that nothing is malformed or unknown.
    """
    listed = Path(os.environ["OXMOX_REQUESTS"])
    if not report.check(listed.exists(), "the step 'test' wrote down the requests", listed):
        return
    async with fake() as (pve, _):
        base = f"https://127.0.0.1:{pve.port}/api2/json"
        headers = {"Authorization": f"PVEAPIToken={TOKEN_USER}!{TOKEN_NAME}={TOKEN_SECRET}"}
        async with aiohttp.ClientSession(headers=headers, connector=aiohttp.TCPConnector(ssl=False)) as session:
            for path, params in PREPARED:
                async with session.post(base + path, data=params) as answer:
                    report.check(answer.status == 200, f"fakepve makes {params}", await answer.text())
            for request in json.loads(listed.read_text()):
                params = [tuple(pair) for pair in request["params"]]
                if request["path"].endswith("/upload"):
                    sent = upload(params)
                else:
                    sent = {"params" if request["method"] in ("GET", "DELETE") else "data": params}
                async with session.request(request["method"], base + request["path"], **sent) as answer:
                    line = f"{request['tool']}: {request['method']} {request['path']} {request['params']}"
                    taken = answer.status not in (400, 501)
                    report.check(taken, f"fakepve takes {line}", f"{answer.status} {await answer.text()}")


def judge_answers(report: Report, pve: Recorder) -> None:
    """Print what the fake refused, and count what it would not have refused a good client."""
    for method, path, status, reason in pve.answers:
        # nextid says by a 400 that an id is taken: an answer to a question, not a mistake in it.
        # The schema is asked for without credentials, as PVE serves it; fakepve has none and wants a login first.
        unserved = path.startswith("/pve-docs/")
        if status in OUR_FAULT and not path.startswith(TAKEN) and not unserved:
            report.check(False, f"fakepve accepts {method} {path}", f"{status} {reason}")
        elif status >= 400:
            report.note(f"fakepve: {method} {path}: {status} {reason}")
    report.check(len(pve.answers) > 0, "requests reached fakepve")


async def pass_on_errors(report: Report) -> None:
    """A refusal, and a task that fails later, both reach the caller in PVE's own words."""
    async with fake_and_client() as (pve, client):
        pve.fail("POST", f"/nodes/{NODE}/qemu/{SPARE}/status/start", 500, "no such bridge 'vmbr7'", times=1)
        refused = await client.call_tool("start_proxmox_vm", {"vmid": SPARE})
        report.check(refused.is_error is True and "vmbr7" in text_of(refused), "a refusal is passed on",
                     text_of(refused))
        pve.vm(SPARE).start_error = "start failed: storage 'slow' is not online"
        failed = await client.call_tool("start_proxmox_vm", {"vmid": SPARE})
        report.check(failed.is_error is True and "is not online" in text_of(failed), "a failed task is an error",
                     text_of(failed))
        pve.vm(WEB).lock = "backup"
        locked = await client.call_tool("delete_proxmox_vm", {"vmid": WEB})
        report.check(locked.is_error is True and pve.vm(WEB) is not None, "a locked, running guest is not deleted",
                     text_of(locked))


async def insist_on_the_pin(report: Report) -> None:
    """With another certificate than the pinned one nothing is sent."""
    async with fake_and_client(pin=":".join(["AB"] * 32)) as (pve, client):
        result = await client.call_tool("list_proxmox_resources", {})
        report.check(result.is_error is True and not pve.requests, "a wrong fingerprint sends nothing",
                     f"{text_of(result)}\n{pve.requests}")


async def stay_read_only(report: Report) -> None:
    """In read-only mode only GETs arrive, whatever is called."""
    async with fake_and_client(mode="read-only") as (pve, client):
        for name, arguments in (("start_proxmox_vm", {"vmid": SPARE}), ("delete_proxmox_vm", {"vmid": SPARE})):
            with contextlib.suppress(MCPError):  # an unlisted tool may be unknown to the protocol
                result = await client.call_tool(name, arguments)
                report.check(result.is_error is True, f"read-only refuses {name}", text_of(result))
        writes = [answer for answer in pve.answers if answer[0] != "GET"]
        report.check(not writes, "read-only mode sends no write", writes)


async def main() -> None:
    logging.disable(logging.WARNING)
    report = Report("fakepve")
    for part in (tell_story, take_every_request, pass_on_errors, insist_on_the_pin, stay_read_only):
        try:
            await part(report)
        except Exception as error:  # a broken part must not hide the others
            report.check(False, f"{part.__name__} runs to its end", repr(error))
    report.finish()


if __name__ == "__main__":
    asyncio.run(main())
