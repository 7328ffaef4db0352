"""What the judges share: where the binary is, how it is started and stopped, and how a verdict is kept.

Standard library only, so that every judge can import it from its own environment. Everything listens on loopback.
"""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import re
import shlex
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OXMOX = os.environ.get("OXMOX_BIN", "oxmox")
START_SECONDS = 20.0


class Report:
    """Counts what was checked and prints what failed; the exit code of a judge comes from here."""

    def __init__(self, judge: str) -> None:
        self.judge = judge
        self.passed = 0
        self.failures: list[str] = []

    def check(self, ok: bool, what: str, detail: object = "") -> bool:
        """Record one check. `what` states the expectation; `detail` is shown when it does not hold."""
        if ok:
            self.passed += 1
        else:
            self.failures.append(what)
            print(f"FAIL {what}" + (f"\n     {str(detail)[:1500]}" if detail != "" else ""), flush=True)
        return ok

    def note(self, text: str) -> None:
        """Say something that is not a verdict."""
        print(f"     {text}", flush=True)

    def finish(self) -> None:
        """Print the count and end the process. A judge that checked nothing has not passed."""
        print(f"{self.judge}: {self.passed} passed, {len(self.failures)} failed", flush=True)
        sys.exit(1 if self.failures or not self.passed else 0)


@contextlib.contextmanager
def clean_env(**extra: str) -> Iterator[dict[str, str]]:
    """The environment with a state directory of its own and without any PVE that a developer has configured."""
    keep = {k: v for k, v in os.environ.items() if not k.startswith(("PROXMOX_", "OXMOX_"))}
    with tempfile.TemporaryDirectory(prefix="oxmox-judge-") as home:
        yield keep | {"OXMOX_STATE_DIR": f"{home}/state", "XDG_CONFIG_HOME": f"{home}/config"} | extra


def command_line(*args: str) -> str:
    """The binary and its arguments as one shell word list, for judges that take a command as a string."""
    return shlex.join([OXMOX, *args])


def free_port() -> int:
    """A loopback port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def running(*args: str, port: int, binary: str = OXMOX, **extra: str) -> Iterator[Path]:
    """Run oxmox with these arguments until the block ends; entered once the port answers. Yields its stderr file."""
    with clean_env(**extra) as env, tempfile.NamedTemporaryFile("wb", suffix=".stderr") as log:
        process = subprocess.Popen([binary, *args], env=env, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=log)
        try:
            _await_port(process, port, Path(log.name))
            yield Path(log.name)
        finally:
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _await_port(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.02)
    raise SystemExit(f"{shlex.join(map(str, process.args))} did not listen on port {port}:\n{log.read_text()}")


def _await_words(log: Path, word: str) -> str:
    """What was printed, once it contains this word: a port can answer a moment before the words are written."""
    deadline = time.monotonic() + START_SECONDS
    while word not in log.read_text() and time.monotonic() < deadline:
        time.sleep(0.02)
    return log.read_text()


@contextlib.contextmanager
def http_server(*flags: str, binary: str = OXMOX, **extra: str) -> Iterator[str]:
    """The demo served over Streamable HTTP; yields the address of its MCP endpoint."""
    port = free_port()
    serve = ["--demo", *flags, "serve", "--http", f"127.0.0.1:{port}"]
    with running(*serve, port=port, binary=binary, **extra):
        yield f"http://127.0.0.1:{port}/mcp"


@contextlib.contextmanager
def https_server() -> Iterator[int]:
    """A web server with a certificate of its own, and nothing on it; yields its port."""
    with tempfile.TemporaryDirectory(prefix="oxmox-judge-") as home:
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                        "-subj", "/CN=localhost", "-keyout", f"{home}/key", "-out", f"{home}/certificate"], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{home}/certificate", f"{home}/key")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Empty)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


class _Empty(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_error(404)

    do_POST = do_GET

    def log_message(self, *_: object) -> None:
        """What clients ask for is their matter."""


@dataclass
class Simulator:
    """What `oxmox sim` says about itself when it starts."""

    port: int
    fingerprint: str
    user: str
    token_name: str
    token_value: str
    password: str | None

    def environment(self) -> dict[str, str]:
        """The variables that point oxmox at this simulator."""
        return {"PROXMOX_HOST": "127.0.0.1", "PROXMOX_PORT": str(self.port), "PROXMOX_USER": self.user,
                "PROXMOX_TOKEN_NAME": self.token_name, "PROXMOX_TOKEN_VALUE": self.token_value,
                "PROXMOX_FINGERPRINT": self.fingerprint}


@contextlib.contextmanager
def simulator(*flags: str, port: int | None = None) -> Iterator[Simulator]:
    """`oxmox sim` in a process of its own, on this port or a free one."""
    port = port or free_port()
    with running("sim", "--listen", f"127.0.0.1:{port}", *flags, port=port) as log:
        said = _await_words(log, "password")
        fingerprint = re.search(r"(?:[0-9A-Fa-f]{2}:){31}[0-9A-Fa-f]{2}", said)
        token = re.search(r"([\w.-]+@[\w.-]+)!([\w.-]+)=([\w-]+)", said)
        password = re.search(r"(?i)\bpassword\b[^\n]*?[\s:=]+(\S+)\s*$", said, re.MULTILINE)
        if not fingerprint or not token:
            raise SystemExit(f"`oxmox sim` printed no fingerprint or no token:\n{said}")
        yield Simulator(port, fingerprint[0].upper(), *token.groups(), password[1] if password else None)


def tools_json(*flags: str) -> list[dict[str, Any]]:
    """The tools as `oxmox tools --json` prints them, with no PVE configured."""
    with clean_env() as env:
        out = subprocess.run([OXMOX, *flags, "tools", "--json"], env=env, stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, timeout=60)
    if out.returncode != 0:
        raise SystemExit(f"`oxmox tools --json` ended with {out.returncode}:\n{out.stderr}")
    listed = json.loads(out.stdout)
    return listed["tools"] if isinstance(listed, dict) else listed


def examples(tool: dict[str, Any]) -> list[dict[str, Any]]:
    """The arguments of a tool's own examples, from the `_meta` entry whose name ends in `examples`."""
    found = next((v for k, v in (tool.get("_meta") or {}).items() if re.split(r"[./]", k)[-1] == "examples"), [])
    arguments = [entry.get("args", entry) for entry in found]
    return [json.loads(a) if isinstance(a, str) else a for a in arguments]
