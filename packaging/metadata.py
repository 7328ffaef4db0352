"""Fills in what only a release knows: versions, addresses, checksums.

    packaging/metadata.py manifest VERSION                      the bundle's manifest.json
    packaging/metadata.py server VERSION BASE_URL NAME FILE...  server.json for the MCP registry, with these bundles

Prints the JSON. What stays the same from release to release stands in mcpb/manifest.json and server.json beside this file.
"""

import hashlib
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def manifest(version):
    made = json.loads((HERE / "mcpb/manifest.json").read_text())
    made["version"] = version
    return made


def variables():
    """The bundle's settings as the registry writes them, so that both ask for the same."""
    made = json.loads((HERE / "mcpb/manifest.json").read_text())
    settings = made["user_config"]
    for name, value in made["server"]["mcp_config"]["env"].items():
        setting = settings[value.removeprefix("${user_config.").removesuffix("}")]
        variable = {"name": name, "description": setting["description"], "isRequired": setting["required"]}
        if setting.get("sensitive"):
            variable["isSecret"] = True
        yield variable


def server(version, base, name, *bundles):
    made = json.loads((HERE / "server.json").read_text())
    made["name"] = name
    made["version"] = version
    for bundle in map(Path, bundles):
        made["packages"].append(
            {
                "registryType": "mcpb",
                "identifier": f"{base.rstrip('/')}/{bundle.name}",
                "version": version,
                "fileSha256": hashlib.sha256(bundle.read_bytes()).hexdigest(),
                "transport": {"type": "stdio"},
                "environmentVariables": list(variables()),
            }
        )
    return made


what, *words = sys.argv[1:]
print(json.dumps({"manifest": manifest, "server": server}[what](*words), indent=2))
