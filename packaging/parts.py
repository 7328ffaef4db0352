"""Writes what the binary is made of: oxmox.cdx.json (a CycloneDX parts list) and NOTICES (the licences, in full).

    packaging/parts.py OUT

Both come from `cargo metadata` and Cargo.lock: the crates that are linked for a static Linux binary, without those that
only build or test it. The same commit gives the same bytes.
"""

import hashlib
import json
import re
import subprocess
import sys
import tomllib
import uuid
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
TARGETS = ["x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl"]


def metadata():
    command = ["cargo", "metadata", "--locked", "--format-version=1"]
    for target in TARGETS:
        command += ["--filter-platform", target]
    return json.loads(subprocess.run(command, cwd=REPO, check=True, stdout=subprocess.PIPE).stdout)


def linked(meta):
    """The ids of the packages in the binary, each with those that it uses itself."""
    nodes = {node["id"]: node for node in meta["resolve"]["nodes"]}
    macros = {
        package["id"]
        for package in meta["packages"]
        if any("proc-macro" in target["kind"] for target in package["targets"])
    }
    root = next(package["id"] for package in meta["packages"] if package["name"] == "oxmox")
    found, waiting = {}, [root]
    while waiting:
        package = waiting.pop()
        if package in found:
            continue
        found[package] = sorted(
            dep["pkg"]
            for dep in nodes[package]["deps"]
            if dep["pkg"] not in macros and any(kind["kind"] is None for kind in dep["dep_kinds"])
        )
        waiting += found[package]
    return root, found


def purl(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def checksums():
    lock = tomllib.loads((REPO / "Cargo.lock").read_text())
    return {(package["name"], package["version"]): package.get("checksum") for package in lock["package"]}


def component(package, sums):
    made = {
        "type": "library",
        "bom-ref": purl(package),
        "name": package["name"],
        "version": package["version"],
        "purl": purl(package),
        "licenses": [{"expression": (package["license"] or "NOASSERTION").replace("/", " OR ")}],
    }
    if checksum := sums.get((package["name"], package["version"])):
        made["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    if package.get("repository"):
        made["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return made


def sqlite(package):
    """SQLite's C code is inside a crate; those who look for its faults look for its own name."""
    header = Path(package["manifest_path"]).parent / "sqlite3/sqlite3.h"
    version = re.search(r'#define SQLITE_VERSION\s+"([^"]+)"', header.read_text()).group(1)
    name = f"pkg:generic/sqlite@{version}"
    return {
        "type": "library",
        "bom-ref": name,
        "name": "sqlite",
        "version": version,
        "purl": name,
        "cpe": f"cpe:2.3:a:sqlite:sqlite:{version}:*:*:*:*:*:*:*",
        "licenses": [{"license": {"id": "blessing"}}],
    }


def parts_list(packages, root, found):
    sums = checksums()
    ordered = sorted((packages[name] for name in found), key=purl)
    components = [component(package, sums) for package in ordered if package["id"] != root]
    uses = {purl(packages[name]): [purl(packages[dep]) for dep in deps] for name, deps in found.items()}
    for package in ordered:
        if package["name"] == "libsqlite3-sys":
            components.append(sqlite(package))
            uses[purl(package)].append(components[-1]["bom-ref"])
            uses[components[-1]["bom-ref"]] = []
    top = component(packages[root], sums) | {"type": "application"}
    made = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": top},
        "components": components,
        "dependencies": [{"ref": ref, "dependsOn": sorted(set(deps))} for ref, deps in sorted(uses.items())],
    }
    # A number of its own for each list, and the same for the same list.
    digest = hashlib.sha256(json.dumps(made, sort_keys=True).encode()).hexdigest()
    made["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest)}"
    return made


def licence_files(package):
    directory = Path(package["manifest_path"]).parent
    names = re.compile(r"(licen[cs]e|copying|notice|unlicense|copyright)", re.IGNORECASE)
    return sorted(path for path in directory.iterdir() if path.is_file() and names.match(path.name))


def notices(packages, root, found):
    """Every licence once, under the names of those who gave it."""
    givers, silent = {}, []
    for package in sorted((packages[name] for name in found if name != root), key=purl):
        if package["source"] is None:
            continue  # ours
        name = f"{package['name']} {package['version']} ({package['license']})"
        texts = [path.read_text(errors="replace").strip() for path in licence_files(package)]
        for text in texts:
            givers.setdefault(text, []).append(name)
        if not texts:
            silent.append(f"{name}, {', '.join(package['authors']) or package['repository']}")
    lines = [
        "oxmox is linked with the libraries below, under the licences that their authors gave them; also with the standard",
        "library of Rust (MIT OR Apache-2.0), and where it is static with musl (MIT, Copyright 2005-2020 Rich Felker, et al.)",
        "and LLVM's libunwind (Apache-2.0 WITH LLVM-exception).",
    ]
    if silent:
        lines += ["", "Without a licence file in the crate:", *(f"  {name}" for name in silent)]
    for text, names in givers.items():
        lines += ["", "=" * 78, *names, "-" * 78, "", text]
    return "\n".join(lines) + "\n"


def main():
    out = Path(sys.argv[1])
    meta = metadata()
    packages = {package["id"]: package for package in meta["packages"]}
    root, found = linked(meta)
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(parts_list(packages, root, found), indent=2, sort_keys=True)
    (out / "oxmox.cdx.json").write_text(text + "\n")
    (out / "NOTICES").write_text(notices(packages, root, found))


main()
