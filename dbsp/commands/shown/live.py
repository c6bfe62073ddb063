"""The picture of a run on a terminal, redrawn in place after every step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import TracebackType

from rich import get_console
from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from dbsp.commands.shown.ordered_rows import OrderedRows
from dbsp.commands.shown.progress import Progress
from dbsp.views.changes import Changes

FRAMES_A_SECOND = 8
HEAD = 3  # lines above a view's rows: an empty one, its name, its columns' names


class LiveTable:
    """A headline, a bar where the number of steps is known, a line per view, and each view's first rows."""

    def __init__(self, title: str, progress: Progress, views: Sequence[OrderedRows]) -> None:
        self.title, self.progress, self.views = title, progress, views
        self._note = "waiting for the first rows; Ctrl-C stops"
        self._console = get_console()
        self._live = Live(self._picture(), console=self._console, refresh_per_second=FRAMES_A_SECOND)

    def step(self, changes: Changes) -> None:
        self.progress.add(changes)
        for rows in self.views:
            rows.step(changes[rows.view].zset, self.progress.sizes[rows.view])
        self._note = ""
        self._live.update(self._picture())

    def note(self, text: str) -> None:
        self._note = text
        self._live.update(self._picture())

    def _picture(self) -> RenderableType:
        return self.draw(self._console.height)

    def draw(self, height: int) -> RenderableType:
        """What fits into so many lines."""
        progress = self.progress
        parts: list[RenderableType] = [Text(self.title, style="bold"), Text(progress.line())]
        if progress.expected:
            bar = ProgressBar(total=progress.expected, completed=progress.steps, width=60)
            parts += [bar, Text("")]  # a bar does not end its line
        table = Table(box=None, pad_edge=False, header_style="dim")
        table.add_column("view")
        for heading in ("rows", "came", "went"):
            table.add_column(heading, justify="right")
        for view, size in progress.shown.items():
            came, went = progress.last.get(view, (0, 0))
            gone = f"−{went:,}" if went else ""
            table.add_row(view, f"{size:,}", f"+{came:,}" if came else "", gone)
        parts.append(table)
        # the clock's is no column's
        for column, waterline in progress.waterlines.items():
            if "." in column and waterline is not None:
                line = f"waterline of {column}: {waterline}"
                parts.append(Text(line, style="dim", no_wrap=True, overflow="ellipsis"))
        parts += self._rows(height - len(parts) - len(progress.shown) - 1)
        if self._note:
            parts.append(Text(self._note, style="dim"))
        return Group(*parts)

    def _rows(self, room: int) -> Iterator[RenderableType]:
        """The first rows of the views that hold any: an equal share of the lines each, of none too little."""
        held = [rows for rows in self.views if self.progress.sizes[rows.view]]
        told = held[: max(room, 0) // (HEAD + 2)]
        for number, rows in enumerate(told):
            share = room // (len(told) - number)
            yield Text("")
            if rows.why_not:
                yield Text(f"{rows.view}: {rows.why_not}", style="dim", no_wrap=True, overflow="ellipsis")
                room -= 2
                continue
            first, size = rows.first(share - HEAD), self.progress.sizes[rows.view]
            yield Text(rows.view if len(first) == size else f"{rows.view}, {len(first)} of {size:,} rows")
            yield _table(rows, first)
            room -= HEAD + len(first)

    def __enter__(self) -> LiveTable:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.progress.steps == 0 and error is None:
            self._note = "nothing new"
            self._live.update(self._picture())
        self._live.stop()


def _table(rows: OrderedRows, first: list[list[str]]) -> Table:
    """A line a row, whatever it holds."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name, right in zip(rows.names, rows.to_the_right, strict=True):
        table.add_column(Text(name), no_wrap=True, overflow="ellipsis", justify="right" if right else "left")
    for row in first:
        table.add_row(*(Text(text.replace("\n", " ")) for text in row))
    return table
