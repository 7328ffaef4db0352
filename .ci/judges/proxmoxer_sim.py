"""proxmoxer, the client that most Proxmox automation uses, against `oxmox sim`.

Only what a script written for a real PVE would do, and the errors it would meet there, word for word.
"""

from __future__ import annotations

import hashlib
import ssl
import time
from typing import Any

import urllib3
from harness import Report, Simulator, simulator
from proxmoxer import AuthenticationError, ProxmoxAPI, ResourceException

TASK_SECONDS = 60


def by_token(sim: Simulator, value: str | None = None) -> ProxmoxAPI:
    """A client with the simulator's token, or with another secret."""
    return ProxmoxAPI("127.0.0.1", port=sim.port, user=sim.user, token_name=sim.token_name,
                      token_value=value or sim.token_value, verify_ssl=False, timeout=20)


def by_password(sim: Simulator, password: str) -> ProxmoxAPI:
    """A client that logs in for a ticket."""
    return ProxmoxAPI("127.0.0.1", port=sim.port, user="root@pam", password=password, verify_ssl=False, timeout=20)


def await_task(pve: ProxmoxAPI, node: str, upid: str) -> dict[str, Any]:
    """The task's last status."""
    deadline = time.monotonic() + TASK_SECONDS
    while time.monotonic() < deadline:
        status = pve.nodes(node).tasks(upid).status.get()
        if status["status"] == "stopped":
            return status
        time.sleep(0.1)
    raise TimeoutError(f"{upid} still runs after {TASK_SECONDS} s")


def judge_certificate(report: Report, sim: Simulator) -> None:
    pem = ssl.get_server_certificate(("127.0.0.1", sim.port))
    digest = hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest().upper()
    shown = sim.fingerprint.replace(":", "")
    report.check(digest == shown, "the printed fingerprint is the certificate's", f"{digest} is not {shown}")


def judge_logins(report: Report, sim: Simulator) -> None:
    report.check(by_token(sim).version.get()["version"][0] in "89", "a token reads /version")
    try:
        by_token(sim, "00000000-0000-0000-0000-000000000000").version.get()
        report.check(False, "a wrong token is refused")
    except ResourceException as error:
        report.check(error.status_code == 401, "a wrong token is 401", error)
    try:
        by_password(sim, "not the password")
        report.check(False, "a wrong password is refused")
    except AuthenticationError:
        report.check(True, "a wrong password is refused")
    if report.check(sim.password is not None, "`oxmox sim` prints the password of root@pam"):
        report.check(bool(by_password(sim, sim.password).nodes.get()), "a ticket reads /nodes")


def judge_power(report: Report, pve: ProxmoxAPI) -> None:
    """Start a stopped VM and stop it again, reading back what happened."""
    guests = pve.cluster.resources.get(type="vm")
    report.check(bool(guests), "lists guests")
    stopped = [g for g in guests if g["type"] == "qemu" and g["status"] == "stopped" and not g.get("template")]
    if not report.check(bool(stopped), "the demo world has a stopped VM", guests):
        return
    node, vmid = stopped[0]["node"], stopped[0]["vmid"]
    vm = pve.nodes(node).qemu(vmid)
    report.check(vm.status.current.get()["status"] == "stopped", "status agrees with the list")
    report.check("digest" in vm.config.get(), "the config has a digest")
    for action, expected in (("start", "running"), ("stop", "stopped")):
        upid = vm.status(action).post()
        report.check(upid.startswith(f"UPID:{node}:") and f":qm{action}:{vmid}:" in upid, f"{action} is a task", upid)
        ended = await_task(pve, node, upid)
        report.check(ended.get("exitstatus") == "OK", f"{action} ends OK", ended)
        log = pve.nodes(node).tasks(upid).log.get()
        report.check(log[-1]["t"] == "TASK OK", f"the log of {action} ends with TASK OK", log)
        report.check(vm.status.current.get()["status"] == expected, f"after {action} it is {expected}")


def judge_errors(report: Report, pve: ProxmoxAPI) -> None:
    node = pve.nodes.get()[0]["node"]
    vmid = pve.cluster.nextid.get()
    wanted = [
        (lambda: pve.nodes(node).qemu(vmid).config.get(), 500,
         f"Configuration file 'nodes/{node}/qemu-server/{vmid}.conf' does not exist"),
        (lambda: pve.nodes(node).qemu(vmid).clone.post(), 400, "property is missing and it is not optional"),
        (lambda: pve.nodes(node).qemu(vmid).clone.post(newid="x"), 400, "type check ('integer') failed"),
        (lambda: pve.nosuch.get(), 501, "Method 'GET /nosuch' not implemented"),
    ]
    for request, status, words in wanted:
        try:
            report.check(False, f"{status} {words}", request())
        except ResourceException as error:
            report.check(error.status_code == status and words in f"{error} {error.errors}", f"{status} {words}", error)


def main() -> None:
    urllib3.disable_warnings()
    report = Report("proxmoxer")
    with simulator() as sim:
        judge_certificate(report, sim)
        judge_logins(report, sim)
        pve = by_token(sim)
        judge_power(report, pve)
        judge_errors(report, pve)
    report.finish()


if __name__ == "__main__":
    main()
