"""A new user at a terminal, played by `expect`: `oxmox setup` from an empty home directory to a working call and back, and
every way for it to go wrong. Whatever goes wrong ends in a clear message, with the home directory and the cluster as before.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import hashlib
import hmac
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import urllib.request
from pathlib import Path

from harness import OXMOX, Report, Simulator, free_port, https_server, simulator

PLAYER = Path(__file__).with_name("terminal.exp")
EXPECT = shutil.which("expect") or "expect"
TOTP_KEY = "12345678901234567890"
RECOVERY_KEY = "1f2e-3d4c-5b6a-7988"
# Nothing else on a screen is like it.
WRONG = "canary-7Q"

Turn = tuple[str, str]
Tree = dict[str, str]

# The questions of a first run, in order, with the answers of somebody who takes what is offered.
LOGIN: list[Turn] = [("How does oxmox get in?", ""), ("Which one?", r"\r"), ("Who logs in", r"\r"), ("Password of root@pam", r"simulated\r")]
CHOICES: list[Turn] = [("How far may oxmox go?", ""), ("Which one?", r"operate\r"), ("Only what is in one of these pools?", ""),
                       ("Which ones", r"\r"), ("What shall the cluster be called", r"\r"), ("Which clients shall know oxmox?", ""),
                       ("Which ones", r"cursor\r")]
YES: list[Turn] = [("Do it?", r"y\r")]


def at(port: int) -> list[Turn]:
    """The first questions: which host, and whether it is the right one."""
    return [("A node of the cluster", rf"127.0.0.1:{port}\r"), ("Is this its certificate?", r"y\r")]


class Terminal:
    """A machine with nothing on it but oxmox, and a cluster that it can reach."""

    def __init__(self, report: Report, home: Path, sim: Simulator) -> None:
        self.report, self.home, self.sim = report, home, sim
        self.host = at(sim.port)

    def environment(self) -> dict[str, str]:
        """Nobody's settings. Nothing is in PATH: no keyring is found, whatever this machine has."""
        return {"HOME": str(self.home), "PATH": "/nowhere", "TERM": "xterm", "LANG": "C.UTF-8"}

    def play(self, turns: list[Turn], *command: str) -> tuple[int, str]:
        """The exit code, and all that was shown."""
        with tempfile.NamedTemporaryFile("w", suffix=".turns") as file:
            file.writelines(f"{words}\t{keys}\n" for words, keys in turns)
            file.flush()
            ran = subprocess.run([EXPECT, str(PLAYER), file.name, *command], env=self.environment(), stdin=subprocess.DEVNULL,
                                 capture_output=True, text=True, timeout=120)
        return ran.returncode, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", ran.stdout).replace("\r", "") + ran.stderr

    def setup(self, turns: list[Turn], *more: str) -> tuple[int, str]:
        """`oxmox setup` for this cluster, of which the other nodes are left alone: they are nowhere."""
        return self.play(turns, OXMOX, "setup", "--only-host", *more)

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """A command without a terminal."""
        return subprocess.run([OXMOX, *command], env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)

    def check(self, ok: bool, what: str, detail: object = "") -> bool:
        """One check, one line."""
        if self.report.check(ok, what, detail):
            print(f"ok   {what}", flush=True)
        return ok

    def says(self, what: str, ended: tuple[int, str], code: int, *words: str) -> None:
        """It ended with this code, and these words were on the screen; what was typed in secret was not."""
        missing = [word for word in words if word not in " ".join(ended[1].split())]
        # The simulator's certificates name it as well.
        shown = ended[1].replace("(simulated)", "")
        hidden = [secret for secret in ("simulated", WRONG, RECOVERY_KEY) if secret in shown]
        self.check(ended[0] == code and not missing and not hidden, what, f"exit {ended[0]}, not shown: {missing}, shown: {hidden}\n{ended[1]}")

    def harmless(self, what: str, turns: list[Turn], code: int, *words: str, more: tuple[str, ...] = ()) -> None:
        """It fails with these words, and leaves everything as it was."""
        before = self.tree(), accounts(self.sim)
        self.says(what, self.setup(turns, *more), code, *words)
        after = self.tree(), accounts(self.sim)
        self.check(before == after, f"{what}: nothing is left of it", f"{before}\n{after}")

    def tree(self) -> Tree:
        """Everything below the home directory, directories and permissions too."""
        entries = ((path.relative_to(self.home), path) for path in sorted(self.home.rglob("*")))
        return {str(name): f"{path.lstat().st_mode:o} " + ("" if path.is_dir() else hashlib.sha256(path.read_bytes()).hexdigest())
                for name, path in entries}


def ask(sim: Simulator, method: str, path: str, body: bytes | None = None, kind: str = "application/x-www-form-urlencoded") -> object:
    """A request to the simulator, as root."""
    token = f"PVEAPIToken={sim.user}!{sim.token_name}={sim.token_value}"
    request = urllib.request.Request(f"https://127.0.0.1:{sim.port}{path}", method=method, data=body,
                                     headers={"Authorization": token, "Content-Type": kind})
    with urllib.request.urlopen(request, context=ssl._create_unverified_context(), timeout=20) as answer:  # noqa: S323
        return json.loads(answer.read() or b"null")


def accounts(sim: Simulator) -> list[object]:
    """Its roles, users with their tokens, and rules."""
    return [ask(sim, "GET", f"/api2/json/access/{path}") for path in ("roles", "users?full=1", "acl")]


def factors(sim: Simulator, **which: object) -> None:
    """What root is asked for beside the password."""
    ask(sim, "POST", "/sim/factors", json.dumps({"user": "root@pam", **which}).encode(), "application/json")


def code(sim: Simulator) -> str:
    """What an authenticator shows now (RFC 6238). Its clock is the simulator's; a minute later a code is good again."""
    ask(sim, "POST", "/sim/advance", b'{"seconds": 60}', "application/json")
    period = int(ask(sim, "GET", "/sim/clock")["now"]) // 30
    tag = hmac.digest(TOTP_KEY.encode(), period.to_bytes(8, "big"), "sha1")
    at = tag[-1] & 15
    return f"{(int.from_bytes(tag[at:at + 4], 'big') & 0x7FFFFFFF) % 1_000_000:06d}"


def journey(t: Terminal) -> None:
    """From nothing to a working call, and back to nothing."""
    factors(t.sim, totp=TOTP_KEY)
    before = accounts(t.sim)
    totp = [("Code of root@pam's authenticator", rf"{code(t.sim)}\r")]
    ended = t.setup(t.host + LOGIN + totp + CHOICES + YES)
    t.says("from an empty home to a cluster", ended, 0, t.sim.fingerprint, "make the role oxmox-operate", "give the role oxmox-operate on /",
           "enter oxmox in Cursor", "oxmox reaches homelab as oxmox@pve!")
    t.says("no keyring: a file takes its place, and that is said", ended, 0, "there is no keyring (secret-tool is not installed)")
    secret = t.home / ".config/oxmox/secrets/homelab"
    t.check(secret.is_file() and secret.stat().st_mode & 0o777 == 0o600, "only its owner can read the secret")
    others = [path for path in t.home.rglob("*") if path.is_file() and path != secret]
    leaks = [path for path in others if secret.read_bytes().strip() in path.read_bytes()]
    t.check(secret.read_text().strip() not in ended[1] and not leaks, "the secret is nowhere else", leaks)
    entry = json.loads((t.home / ".cursor/mcp.json").read_text())["mcpServers"]["oxmox"]
    t.check(Path(entry["command"]).is_file(), "the client finds oxmox", entry)
    listed = t.run("call", "list_proxmox_resources", "--json")
    t.check(listed.returncode == 0 and len(listed.stdout) > 1000, "a call works", listed.stderr)
    doctor = t.run("doctor")
    t.check(doctor.returncode == 0, "the doctor finds nothing that is broken", doctor.stdout + doctor.stderr)
    again = t.setup([t.host[0], ("has the certificate that it should have", ""), *LOGIN,
                     ("Code of", rf"{code(t.sim)}\r"), *CHOICES])
    t.says("a second run has nothing to do", again, 0, "there is nothing to do")
    trail = t.run("audit")
    t.check(trail.returncode == 0 and "make the role oxmox-operate" in trail.stdout and "as root@pam" in trail.stdout, "what it did is in the audit trail", trail.stdout)
    whole = t.run("audit", "verify")
    t.check(whole.returncode == 0, "which is whole", whole.stderr)

    undo = t.play([("Password of root@pam", r"simulated\r"), ("Code of", rf"{code(t.sim)}\r"), ("Take it back?", r"y\r")],
                  OXMOX, "setup", "--undo")
    t.says("it is taken back", undo, 0, "the token oxmox@pve!", "all of it was taken back")
    t.check(accounts(t.sim) == before, "the cluster is as it was", accounts(t.sim))
    state = (".local", ".local/state", ".local/state/oxmox")
    left = [name for name in t.tree() if name not in state and not name.startswith(".local/state/oxmox/")]
    setup = [name for name in t.tree() if name.startswith(".local/state/oxmox/setup")]
    t.check(not left and not setup, "and the home directory, but for the audit trail", left + setup)
    factors(t.sim)


def refused(t: Terminal) -> None:
    """Who does not get in."""
    wrong = [("Password of root@pam", rf"{WRONG}\r"), ("PVE refused the login of root@pam", "")]
    t.harmless("a wrong password, three times", t.host + LOGIN[:3] + wrong * 3, 1, "the name, the realm")
    factors(t.sim, totp=TOTP_KEY)
    good = code(t.sim)
    bad = [LOGIN[3], ("Code of root@pam's authenticator", "000001\\r" if good == "000000" else "000000\\r"), ("PVE refused the code", "")]
    t.harmless("a wrong code, three times", t.host + LOGIN[:3] + bad * 3, 1, "the password is right, and PVE refused the code", "wait for the next one")
    factors(t.sim, webauthn=True)
    t.harmless("a factor that takes a browser", t.host + LOGIN, 1, "takes a browser: webauthn", "oxmox setup --token USER!NAME")
    factors(t.sim, webauthn=True, recovery=[RECOVERY_KEY])
    keys = [LOGIN[3], ("recovery keys", rf"{WRONG}\r"), ("PVE refused the recovery key", "")]
    t.harmless("wrong recovery keys", t.host + LOGIN[:3] + keys * 3, 1, "each of them is good for one login")
    t.harmless("a recovery key opens", t.host + LOGIN + [("recovery keys", rf"{RECOVERY_KEY}\r"), ("How far may oxmox go?", r"\003")], 130)
    t.harmless("it is used up", t.host + LOGIN, 1, "takes a browser: webauthn")
    factors(t.sim)
    ask(t.sim, "POST", "/api2/json/access/users", b"userid=poor@pve")
    made = ask(t.sim, "POST", "/api2/json/access/users/poor@pve/token/poor", b"privsep=1")
    token = [LOGIN[0], ("Which one?", r"2\r"), ("The token's name", r"poor@pve!poor\r"), ("Secret of poor@pve!poor", rf"{made['data']['value']}\r")]
    t.harmless("a token without rights", t.host + token, 1, "poor@pve!poor gets in, and may do nothing there", "pveum acl modify")
    token[3] = ("Secret of poor@pve!poor", rf"{WRONG}\r")
    t.harmless("a token with a wrong secret", t.host + token, 1, "PVE refused the token poor@pve!poor")
    ask(t.sim, "DELETE", "/api2/json/access/users/poor@pve")
    t.harmless("a keyring that is asked for and missing", t.host[:1], 1, "there is no keyring: secret-tool is not installed",
               more=("--secret-store", "keyring"))


def elsewhere(t: Terminal) -> None:
    """Hosts that are none."""
    t.harmless("nothing listens there", [("A node of the cluster", rf"127.0.0.1:{free_port()}\r")], 1, "nothing listens there")
    t.harmless("a name that means nothing", [("A node of the cluster", r"no.such.host.invalid\r")], 1, "was not reached", "check the name")
    with https_server() as port:
        t.harmless("something else answers there", at(port) + LOGIN, 1, f"127.0.0.1:{port} does not answer as Proxmox VE does", "something else answers")
    t.harmless("a certificate that is not accepted", [t.host[0], (t.sim.fingerprint, ""), ("Is this its certificate?", r"n\r")], 1,
               "the certificate was not accepted; nothing was sent")


def leaving(t: Terminal) -> None:
    """Whoever goes at any question has changed nothing."""
    factors(t.sim, totp=TOTP_KEY)
    everything = t.host + LOGIN + [("Code of", "")] + CHOICES + YES
    for at, (words, _) in enumerate(everything):
        if words in ("How does oxmox get in?", "How far may oxmox go?") or words.startswith(("Only what", "Which clients")):
            continue  # the question follows its list
        so_far = [(shown, rf"{code(t.sim)}\r" if shown == "Code of" else keys) for shown, keys in everything[:at]]
        t.harmless(f"Ctrl-C at question {at + 1}, {words}", [*so_far, (words, r"\003")], 130, "interrupted; nothing was changed")
        so_far = [(shown, rf"{code(t.sim)}\r" if shown == "Code of" else keys) for shown, keys in everything[:at]]
        t.harmless(f"the end of input at question {at + 1}, {words}", [*so_far, (words, r"\004")], 1,
                   "what was typed has ended; nothing was changed")
    factors(t.sim)
    t.harmless("a no", t.host + LOGIN + CHOICES + [("Do it?", r"n\r")], 1, "nothing was changed")
    t.harmless("a terminal that is closed", t.host + LOGIN[:3] + [("Password of", ""), ("<hang up>", "")], 130)
    shell = f"trap : INT; {OXMOX} setup; /bin/stty -a"
    ended = t.play(t.host + LOGIN[:3] + [("Password of", r"\003"), ("speed", "")], "/bin/sh", "-c", shell)
    t.check(re.search(r"(?<!-)\becho\b", ended[1].rpartition("speed")[2]) is not None, "after Ctrl-C the terminal shows again what is typed", ended[1])


def leaving_a_trial(t: Terminal) -> None:
    """A secret was typed, and what it is tried at says nothing: whoever has no patience can go."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host = f"127.0.0.1:{silent.getsockname()[1]}"

        def interrupt() -> None:
            silent.settimeout(60)
            connection, _ = silent.accept()
            for process in Path("/proc").glob("[0-9]*"):
                with contextlib.suppress(OSError):  # gone meanwhile
                    words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
                    if words[0] == OXMOX and host in words:
                        os.kill(int(process.name), signal.SIGINT)
            connection.settimeout(60)
            while connection.recv(4096):
                pass

        before = t.tree()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            interrupted = pool.submit(interrupt)
            ended = t.play([("The secret", r"simulated\r")], OXMOX, "cluster", "add", "slow", "--host", host, "--token", "a@pve!b", "--secret-store", "file")
            interrupted.result()
        t.says("Ctrl-C while a typed secret is tried", ended, 130, "interrupted; nothing was changed")
        t.check(t.tree() == before, "Ctrl-C while a typed secret is tried: nothing is left of it")


def changed_certificate(report: Report) -> None:
    """The same address, another certificate."""
    with tempfile.TemporaryDirectory(prefix="oxmox-home-") as home:
        with simulator() as sim:
            t = Terminal(report, Path(home), sim)
            t.says("a cluster is pinned", t.setup(t.host + LOGIN + CHOICES + YES), 0, "oxmox reaches homelab")
            port, pinned = sim.port, sim.fingerprint
        with simulator(port=port) as sim:
            t = Terminal(report, Path(home), sim)
            t.check(sim.fingerprint != pinned, "its certificate is another one now")
            called = t.run("call", "list_proxmox_resources")
            t.check(called.returncode != 0 and sim.fingerprint in called.stderr, "a call is not sent there", called.stderr)
            shown = [t.host[0], ("ANOTHER certificate", ""), (pinned, ""), (sim.fingerprint, ""), ("nothing was sent", "")]
            t.harmless("a changed certificate is shown as such", shown, 1, "--pin " + sim.fingerprint)
            t.harmless("and is not taken for good by a flag", [("presents another certificate", "")], 1, "--pin " + sim.fingerprint,
                       more=("--host", f"127.0.0.1:{port}", "--accept-pin", "--yes"))
            before = t.tree(), accounts(sim)
            undo = t.play([("presents another certificate", ""), (sim.fingerprint, ""), (pinned, "")], OXMOX, "setup", "--undo")
            t.says("nothing is taken back there, and no password asked for", undo, 1, "--pin " + sim.fingerprint)
            t.check((t.tree(), accounts(sim)) == before, "nothing is taken back there: nothing is lost by it")
            asked = ask(sim, "GET", "/sim/requests")
            t.check(not [entry for entry in asked if "simulated" in json.dumps(entry)], "the password was sent to nobody", asked)


def main() -> None:
    report = Report("terminal")
    with tempfile.TemporaryDirectory(prefix="oxmox-home-") as home, simulator() as sim:
        t = Terminal(report, Path(home), sim)
        elsewhere(t)
        refused(t)
        leaving(t)
        leaving_a_trial(t)
        journey(t)
    changed_certificate(report)
    report.finish()


if __name__ == "__main__":
    main()
