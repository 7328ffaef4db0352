"""What became of each change, kept from run to run: a partial one adds to what is known."""

from __future__ import annotations

import json
from pathlib import Path

from switches import Mutant


class Fates:
    """By the names of changes. These are places in files: of another listing, the same name is another change."""

    def __init__(self, file: Path, listing: str) -> None:
        kept = json.loads(file.read_text()) if file.exists() else {}
        self.file, self.listing = file, listing
        self.known: dict[str, dict] = kept["fates"] if kept.get("listing") == listing else {}

    def of(self, one: Mutant) -> str | None:
        return self.known.get(one.name, {}).get("fate")

    def is_noticed(self, one: Mutant) -> bool:
        return self.of(one) in ("noticed", "hung")

    def add(self, one: Mutant, fate: dict) -> None:
        self.known[one.name] = fate
        self.file.write_text(json.dumps({"listing": self.listing, "fates": self.known}, indent=1))
