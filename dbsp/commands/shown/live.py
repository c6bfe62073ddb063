"""The picture of a run on a terminal, redrawn in place after every step."""

from __future__ import annotations

from types import TracebackType

from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from dbsp.commands.shown.progress import Progress
from dbsp.views.changes import Changes

FRAMES_A_SECOND = 8


class LiveTable:
    """A headline, a bar where the number of steps is known, and a line per view."""

    def __init__(self, title: str, progress: Progress) -> None:
        self.title, self.progress = title, progress
        self._note = "waiting for the first rows; Ctrl-C stops"
        self._live = Live(self.draw(), refresh_per_second=FRAMES_A_SECOND)

    def step(self, changes: Changes) -> None:
        self.progress.add(changes)
        self._note = ""
        self._live.update(self.draw())

    def note(self, text: str) -> None:
        self._note = text
        self._live.update(self.draw())

    def draw(self) -> RenderableType:
        progress = self.progress
        parts: list[RenderableType] = [Text(self.title, style="bold"), Text(progress.line())]
        if progress.expected:
            bar = ProgressBar(total=progress.expected, completed=progress.steps, width=60)
            parts += [bar, Text("")]  # a bar does not end its line
        table = Table(box=None, pad_edge=False, header_style="dim")
        table.add_column("view")
        for heading in ("rows", "came", "went"):
            table.add_column(heading, justify="right")
        for view, size in progress.sizes.items():
            came, went = progress.last.get(view, (0, 0))
            gone = f"−{went:,}" if went else ""
            table.add_row(view, f"{size:,}", f"+{came:,}" if came else "", gone)
        parts.append(table)
        if self._note:
            parts.append(Text(self._note, style="dim"))
        return Group(*parts)

    def __enter__(self) -> LiveTable:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.progress.steps == 0 and error is None:
            self._note = "nothing new"
            self._live.update(self.draw())
        self._live.stop()
