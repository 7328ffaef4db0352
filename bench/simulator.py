"""The simulated Proxmox VE that everything is measured against, and bare requests to it."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import ssl
import time
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from processes import Measured, clean_env, running

# How long the simulator takes for an answer where latency is measured. Nodes on a local network take about as long.
DELAY_SECONDS = 0.005


@dataclass
class Simulator:
    port: int
    fingerprint: str
    user: str
    token_name: str
    secret: str
    measured: Measured

    def __post_init__(self) -> None:
        self.bare = Bare(self)

    @property
    def environment(self) -> dict[str, str]:
        """The variables that point oxmox here."""
        return {"PROXMOX_HOST": "127.0.0.1", "PROXMOX_PORT": str(self.port), "PROXMOX_USER": self.user,
                "PROXMOX_TOKEN_NAME": self.token_name, "PROXMOX_TOKEN_VALUE": self.secret,
                "PROXMOX_FINGERPRINT": self.fingerprint}

    def delay(self, seconds: float = DELAY_SECONDS) -> None:
        """Makes every answer of the API late by so much."""
        self.bare.send("POST", "/sim/fault", json.dumps({"kind": "delay", "seconds": seconds}))

    def forget_requests(self) -> None:
        self.bare.send("DELETE", "/sim/requests")

    def requests(self) -> list[dict[str, Any]]:
        """What was asked since the log was emptied."""
        return json.loads(self.bare.send("GET", "/sim/requests"))


class Bare:
    """Python's own HTTPS client on one connection that stays open: what a request costs without anybody in between."""

    def __init__(self, sim: Simulator) -> None:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self.connection = http.client.HTTPSConnection("127.0.0.1", sim.port, context=context, timeout=30)
        self.headers = {"Authorization": f"PVEAPIToken={sim.user}!{sim.token_name}={sim.secret}"}

    def send(self, method: str, path: str, body: str | None = None) -> bytes:
        try:
            self.connection.request(method, path, body, self.headers)
            answer = self.connection.getresponse()
        except (http.client.RemoteDisconnected, ConnectionError):  # it was closed while nobody used it
            self.connection.close()
            self.connection.request(method, path, body, self.headers)
            answer = self.connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{method} {path}: {answer.status} {answer.reason}")
        return content

    def replay_ms(self, requests: list[dict[str, Any]]) -> float:
        """Milliseconds of these reads, one after another, each answer read to its end and parsed."""
        began = time.perf_counter()
        for request in requests:
            query = urllib.parse.urlencode(request["params"])
            json.loads(self.send("GET", f"/api2/json{request['path']}" + (f"?{query}" if query else "")))
        return (time.perf_counter() - began) * 1000


@contextlib.contextmanager
def simulator(binary: str, *flags: str) -> Iterator[Simulator]:
    """`oxmox sim` in a process of its own, on free ports."""
    command = [binary, "sim", "--listen", "127.0.0.1:0", *flags]
    with clean_env() as env, running(command, env, ready="password") as (measured, log):
        said = log.read_text()
        port = re.search(r"https://127\.0\.0\.1:(\d+)", said)
        fingerprint = re.search(r"(?:[0-9A-Fa-f]{2}:){31}[0-9A-Fa-f]{2}", said)
        token = re.search(r"([\w.-]+@[\w.-]+)!([\w.-]+)=([\w-]+)", said)
        if not (port and fingerprint and token):
            raise RuntimeError(f"`oxmox sim` printed no port, fingerprint or token:\n{said}")
        yield Simulator(int(port[1]), fingerprint[0].upper(), *token.groups(), measured)
