"""How much is measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Settings:
    """Of a whole run; `short` is for CI, where only the presence of every figure counts."""

    binary: str
    short: bool = False
    soak_seconds: float = 20

    @property
    def runs(self) -> int:
        """Starts of a process."""
        return 3 if self.short else 20

    @property
    def rival_runs(self) -> int:
        """Starts of a process that takes its time."""
        return 1 if self.short else 7

    @property
    def calls(self) -> int:
        """Calls of a tool, of which the median counts."""
        return 5 if self.short else 200

    @property
    def estate_calls(self) -> int:
        return 2 if self.short else 20

    @property
    def looks(self) -> int:
        return 1 if self.short else 10

    @property
    def load_seconds(self) -> int:
        return 2 if self.short else 10

    @property
    def clients(self) -> tuple[int, int, int]:
        """Of a service, at once. A debug build on a busy machine may answer few of a large crowd in time."""
        return (1, 2, 8) if self.short else (1, 16, 256)

    @property
    def estates(self) -> tuple[int, int, int]:
        """Guests of the large clusters. Each is ten times the one before: no cost may grow faster."""
        return (2, 20, 200) if self.short else (100, 1_000, 10_000)
