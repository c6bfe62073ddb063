"""What a changed program would do to a state directory: a value, found without touching anything."""

from __future__ import annotations

from dataclasses import dataclass

KEPT, FILLED, DROPPED, NEW = "kept", "back-filled", "dropped", "new"


@dataclass(frozen=True)
class Item:
    """kind: 'table', 'view' or 'sink'. what: becomes of it. why: in words."""

    kind: str
    name: str
    what: str
    why: str = ""

    def __str__(self) -> str:
        return f"{self.what:<12} {self.kind} {self.name}" + (f": {self.why}" if self.why else "")


@dataclass(frozen=True)
class Plan:
    """step: the last one; the change is the next. rows: how many are read and fed for what is back-filled.

    kept, filled, dropped: numbers of traces. refused: why it can't be done, by name, with what to do instead;
    () where it can. is_same: it is this program's state already.
    """

    step: int
    items: tuple[Item, ...] = ()
    rows: int = 0
    kept: int = 0
    filled: int = 0
    dropped: int = 0
    refused: tuple[str, ...] = ()
    is_same: bool = False

    def of(self, what: str, kind: str = "view") -> list[str]:
        """The names of what is kept, back-filled, dropped or new."""
        return [item.name for item in self.items if (item.what, item.kind) == (what, kind)]

    def lines(self) -> list[str]:
        """For people."""
        if self.is_same:
            return [f"step {self.step}: this program's state; nothing changes"]
        lines = [*map(str, self.items)]
        if not self.refused:
            return [*lines, self.summary()]
        return lines + [f"refused: {why}" for why in self.refused]

    def summary(self) -> str:
        """In a few words."""
        if self.refused:
            return self.refused[0]
        read = f" from {self.rows} rows" if self.rows else ""
        return f"{self.kept} traces kept, {self.filled} back-filled{read}, {self.dropped} dropped"

    def __str__(self) -> str:
        return "\n".join(self.lines())
