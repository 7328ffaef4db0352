#!/usr/bin/env python3
"""Makes session.svg from a session that is really run, on a simulated cluster of its own.

    docs/pictures/session.py            writes it
    docs/pictures/session.py --check    fails if the session would look otherwise

Takes OXMOX_BIN, or the debug binary of this checkout. Each command runs at a terminal, and what a person types is typed.
What differs from run to run (the id of a task or a plan, the time of day) is shortened, so that the same program gives the
same picture.
"""

import os
import pty
import re
import select
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

HERE = Path(__file__).resolve().parent
PICTURE = HERE / "session.svg"
SESSION = [
    "oxmox call list_proxmox_resources --filter 'tag:prod status:running' --fields id,name,node,memory,tags",
    "oxmox call snapshot_proxmox_vm --vmid 105 --name before-upgrade",
    "oxmox call delete_proxmox_vm --vmid 101",
    "oxmox call delete_proxmox_vm --vmid 105",
]
COLUMNS = 112
PATIENCE = 60  # seconds, for one command

# How the picture looks.
SIZE, LEADING, MARGIN, BAR = 13, 19, 18, 34
WIDTH = round(COLUMNS * SIZE * 0.602) + 2 * MARGIN
COLOURS = [
    (r"^\$ .*", "c"),
    (r"^(error|warning):", "e"),
    (r"^- destroyed:", "e"),
    (r"^(applied|- done):?", "g"),
    (r"^(needs confirmation|Do it\?).*", "y"),
    (r"^(hint|undo|sends|next):", "h"),
    (r"^(- kept:|id  ).*", "d"),
]


def binary():
    """The program, by its whole path."""
    default = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent.parent / "target")) / "debug/oxmox"
    return Path(os.environ.get("OXMOX_BIN", default)).resolve()


def simulator(program):
    """A cluster, and what leads to it."""
    sim = subprocess.Popen([program, "sim", "--listen", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True)
    said = []
    for line in sim.stderr:
        said.append(line.strip())
        if "password" in line:
            break
    address = said[0].split("https://")[1]
    user, token = said[-2].removeprefix("token: ").split("!")
    name, value = token.split("=")
    return sim, {
        "PROXMOX_HOST": address,
        "PROXMOX_USER": user,
        "PROXMOX_TOKEN_NAME": name,
        "PROXMOX_TOKEN_VALUE": value,
        "PROXMOX_FINGERPRINT": said[1].removeprefix("fingerprint "),
    }


def run(command, environment):
    """What a person sees who types this and says yes."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe("sh", ["sh", "-c", f"stty cols {COLUMNS}; exec {command}"], environment)
    shown, answered = "", False
    while select.select([terminal], [], [], PATIENCE)[0]:
        try:
            some = os.read(terminal, 65536)
        except OSError:  # Linux says so when the other end is closed.
            break
        if not some:
            break
        shown += some.decode()
        if not answered and shown.endswith("[y/N] "):
            os.write(terminal, b"y\n")
            answered = True
    os.waitpid(pid, 0)
    os.close(terminal)
    return clean(shown)


def clean(shown):
    """The lines as they stay on the screen: without colours and without what was written over."""
    lines = []
    for line in shown.replace("\r\n", "\n").split("\n"):
        line = re.split(r"\r|\x1b\[[0-9]*K", line)[-1]
        line = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line)
        line = re.sub(r"\[UPID:[^\]]*\]", "[UPID:…]", line).rstrip()
        line = re.sub(r"(taken [0-9-]+)T[0-9:]+Z", r"\1", line)
        line = re.sub(r"`oxmox undo \w+`", "`oxmox undo …`", line)
        if line:
            lines.append(line)
    return lines


def wrapped(line):
    """As a terminal breaks it."""
    return [line[at : at + COLUMNS] for at in range(0, len(line), COLUMNS)] or [""]


def styled(line):
    for pattern, name in COLOURS:
        found = re.match(pattern, line)
        if found:
            head, tail = escape(found.group()), escape(line[found.end() :])
            return f'<tspan class="{name}">{head}</tspan>{tail}'
    return escape(line)


def picture(session):
    """The session as SVG. It stands still: what moves is empty wherever animations are not played."""
    rows, y = [], BAR
    for command, lines in session:
        for line in [f"$ {command}", *lines]:
            for part in wrapped(line):
                y += LEADING
                rows.append(f'<text x="{MARGIN}" y="{y}">{styled(part)}</text>')
        y += LEADING // 2
    height = y + MARGIN
    dots = "".join(
        f'<circle cx="{MARGIN + 4 + at * 18}" cy="{BAR // 2}" r="5.5" fill="{colour}"/>'
        for at, colour in enumerate(["#ff5f57", "#febc2e", "#28c840"])
    )
    style = (
        "text{font:%dpx ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#c9d1d9;"
        "white-space:pre}"
        ".c{fill:#fff;font-weight:600}.e{fill:#ff7b72}.g{fill:#56d364}.y{fill:#e3b341}.h{fill:#79c0ff}.d{fill:#8b949e}" % SIZE
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
        f'aria-label="A session at a terminal">\n<style>{style}</style>\n'
        f'<rect width="{WIDTH}" height="{height}" rx="10" fill="#0d1117"/>\n{dots}\n' + "\n".join(rows) + "\n</svg>\n"
    )


def main():
    program = binary()
    sim, way = simulator(program)
    try:
        with tempfile.TemporaryDirectory() as home:
            path = f"{program.parent}:{os.environ['PATH']}"
            environment = {"HOME": home, "PATH": path, "TERM": "xterm-256color", "LANG": "C.UTF-8", **way}
            drawn = picture([(command, run(command, environment)) for command in SESSION])
    finally:
        sim.terminate()
        sim.wait()
    if "--check" not in sys.argv[1:]:
        PICTURE.write_text(drawn)
    elif not PICTURE.exists() or PICTURE.read_text() != drawn:
        sys.exit(f"{PICTURE.name} is not current: {Path(__file__).name} makes it anew")


if __name__ == "__main__":
    main()
