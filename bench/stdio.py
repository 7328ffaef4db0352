"""An MCP client on stdio, line by line: the same for oxmox and for every other server that is measured."""

from __future__ import annotations

import contextlib
import json
import select
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from processes import Measured, clean_env, end

PATIENCE = 60.0
CLIENT = {"name": "bench", "version": "1"}
# What every request of a 2026-07-28 client carries instead of a handshake.
STATELESS = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Failed(Exception):
    """The server did not do what it was asked."""


class Connection(Measured):
    """A server on stdio."""

    def __init__(self, command: list[str], env: dict[str, str], era: str) -> None:
        self.era = era
        self.last_id = 0
        self.began = time.perf_counter()
        # Some servers leave files where they are started, or at home.
        home = str(Path(env["XDG_CONFIG_HOME"]).parent)
        super().__init__(subprocess.Popen(command, env={**env, "HOME": home}, cwd=home, text=True, stdin=subprocess.PIPE,
                                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL))

    def send(self, message: dict[str, Any]) -> None:
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Sends a request and returns its result."""
        self.last_id += 1
        if self.era == "2026":
            params = {**params, "_meta": STATELESS}
        self.send({"id": self.last_id, "method": method, "params": params})
        while True:
            # Answers come one at a time, so that nothing is left in a buffer that select does not see.
            if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
                raise Failed(f"{method}: no answer within {PATIENCE:g} s")
            line = self.process.stdout.readline()
            if not line:
                raise Failed(f"{method}: the server closed the connection")
            with contextlib.suppress(json.JSONDecodeError):  # some servers print other things there as well
                answer = json.loads(line)
                if isinstance(answer, dict) and answer.get("id") == self.last_id and "method" not in answer:
                    if "result" not in answer:
                        raise Failed(f"{method}: {answer}")
                    return answer["result"]

    def handshake(self) -> None:
        """What clients before 2026-07-28 begin with."""
        if self.era != "2026":
            self.ask("initialize", {"protocolVersion": self.era, "capabilities": {}, "clientInfo": CLIENT})
            self.send({"method": "notifications/initialized"})

    def list_tools(self) -> list[dict[str, Any]]:
        return self.ask("tools/list", {})["tools"]

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Calls a tool, which must not fail."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise Failed(f"{tool} {arguments}: {result['content']}")
        return result

    def cpu_of(self, tool: str, arguments: dict[str, Any]) -> float:
        """CPU milliseconds of one call."""
        before = self.cpu_seconds()
        self.call(tool, arguments)
        return (self.cpu_seconds() - before) * 1000


@contextlib.contextmanager
def connection(command: list[str], era: str = "2026", **extra: str) -> Iterator[Connection]:
    """A server on stdio, as fresh from the start; the handshake is the caller's matter where the start is measured."""
    with clean_env(**extra) as env:
        client = Connection(command, env, era)
        try:
            yield client
        finally:
            client.process.stdin.close()
            end(client.process)


@contextlib.contextmanager
def ready(command: list[str], era: str = "2026", **extra: str) -> Iterator[Connection]:
    """The same after the handshake."""
    with connection(command, era, **extra) as client:
        client.handshake()
        yield client
