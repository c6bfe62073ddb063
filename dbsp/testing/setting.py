"""What the plugin of pytest tells the functions that tests call; it imports nothing of weight."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Setting:
    """folder: what relative paths are relative to; of a test its own. accept: expected files are rewritten.

    accepted: those that were.
    """

    folder: Path = field(default_factory=Path)
    accept: bool = False
    accepted: list[Path] = field(default_factory=list)


# Without the plugin paths are relative to the working directory.
SETTING = Setting()
