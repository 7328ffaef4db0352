"""A copy of the project with all changes in it, and the tests built from it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from switches import SWITCHES, Mutant, rewrite

UNCOMPILED = "does not compile"
LIB = "crates/tools/src/lib.rs"


def copy(root: Path, tree: Path) -> None:
    """What git knows of, as it is now. Files that are the same stay as they are, or everything would be built anew."""
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, check=True, capture_output=True, text=True).stdout
    there = {name for name in names.splitlines() if (root / name).is_file()}
    for name in there:
        put(tree / name, (root / name).read_bytes())
    for file in tree.rglob("*"):
        if file.is_file() and str(file.relative_to(tree)) not in there:
            file.unlink()


def put(path: Path, content: bytes) -> None:
    if path.exists() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def build(scratch: Path, mutants: list[Mutant], tests: list[str]) -> dict[str, str]:
    """These test programs by the directory that they run in. What does not compile is left out, and it is built again."""
    tree = scratch / "tree"
    lib = (tree / LIB).read_text()
    originals = {file: (tree / file).read_text() for file in {one.file for one in mutants}}
    # What did not compile the last time does not now, if its file is the same.
    memory = scratch / "uncompiled.json"
    known = json.loads(memory.read_text()) if memory.exists() else {}
    prints = {file: hashlib.sha256(text.encode()).hexdigest() for file, text in originals.items()}
    for one in mutants:
        if known.get(one.name) == prints[one.file]:
            one.why = UNCOMPILED
    while True:
        put(tree / "crates/tools/src/switches.rs", SWITCHES.encode())
        if "mod switches;" not in lib:
            put(tree / LIB, (lib + "\nmod switches;\n").encode())
        for file, text in originals.items():
            put(tree / file, rewrite(text, [one for one in mutants if one.file == file and one.is_built]).encode())
        built = [one for one in mutants if one.is_built]
        print(f"building {len(built)} of {len(mutants)} changes", file=sys.stderr, flush=True)
        binaries, wrong = compiled(scratch, {one.id: one for one in built}, tests)
        if not wrong:
            return binaries
        for one in wrong:
            one.why = UNCOMPILED
            known[one.name] = prints[one.file]
        memory.write_text(json.dumps(known))


def compiled(scratch: Path, mutants: dict[int, Mutant], tests: list[str]) -> tuple[dict[str, str], list[Mutant]]:
    # A directory of its own: cargo takes what it built of this copy for the project's.
    env = os.environ | {"CARGO_TARGET_DIR": str(scratch / "target"), "CARGO_INCREMENTAL": "1"}
    command = ["cargo", "test", "-q", "-p", "oxmox-tools", *tests, "--no-run", "--message-format", "json"]
    done = subprocess.run(command, cwd=scratch / "tree", env=env, stdout=subprocess.PIPE, text=True)
    binaries, wrong, other = {}, {}, []
    for line in done.stdout.splitlines():
        told = json.loads(line)
        if told.get("executable") and told["profile"]["test"]:
            binaries[told["executable"]] = str(Path(told["manifest_path"]).parent)
        if told["reason"] == "compiler-message" and told["message"]["level"] == "error" and told["message"]["spans"]:
            blamed = [one for span in spans(told["message"]) for one in around(scratch / "tree", span) if one in mutants]
            wrong |= {one: mutants[one] for one in blamed}
            if not blamed:
                other.append(told["message"]["rendered"])
    if done.returncode and not wrong:
        raise SystemExit("the copy does not compile, and no change is to blame:\n" + "\n".join(other))
    return binaries, list(wrong.values())


def spans(message: dict) -> list[dict]:
    """The places of an error; others only where none of these is a change's."""
    return sorted(message["spans"], key=lambda span: not span["is_primary"])


def around(tree: Path, span: dict) -> list[int]:
    """The changes that this place is in."""
    file = tree / span["file_name"]
    if not file.exists():  # the standard library's
        return []
    text = file.read_bytes()
    before = text[: span["byte_start"]].decode()
    opened = [int(number) for number in re.findall(r"/\*(\d+)<\*/", before)]
    closed = {int(number) for number in re.findall(r"/\*>(\d+)\*/", before)}
    return [number for number in opened if number not in closed]
