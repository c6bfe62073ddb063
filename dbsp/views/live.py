"""An output of a notebook's cell that is drawn anew after steps, by a thread of its own.

The thread reads what there is when it has time: of steps that come faster than it draws, only the last is
seen, and no step waits for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from dbsp.circuits.errors import Error

PER_SECOND = 4
_ENDED = "<small>no longer updated</small>"


class Drawing(NamedTuple):
    """A view after a step; of what can't be drawn the reason is the text."""

    step: int
    html: str
    text: str


class Handle(Protocol):
    """What shows an output and replaces it, as IPython's DisplayHandle."""

    def update(self, obj: Any, **options: Any) -> None:
        """Show another bundle of MIME types in place of the one that is shown."""

    def display(self, obj: Any, **options: Any) -> None:
        """Show it in the cell that is being run, too."""


Show = Callable[[dict[str, str]], Handle]


class Live:
    """view: its name. draw: draws it as of the last step. last: the number of that. watchers: what is called
    after a step, and at the pipeline's end. closed: whether that has come. show: shows the first drawing.

    It is drawn now, and from then on at most `PER_SECOND` times a second.
    """

    def __init__(
        self,
        view: str,
        draw: Callable[[], Drawing],
        last: Callable[[], int],
        watchers: set[Callable[[], None]],
        closed: Callable[[], bool],
        show: Show,
    ) -> None:
        self.view = view
        self._draw, self._last, self._closed = draw, last, closed
        self._watchers, self._made, self._ending = watchers, threading.Event(), threading.Event()
        self._drawn = draw()
        self._handle, self._cell = show(_bundle(self._drawn)), _cell()
        watchers.add(self._made.set)
        self._made.set()  # a step may have been made since it was drawn
        self._thread = threading.Thread(target=self._work, name=f"dbsp live {view}", daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether it follows the steps: until it is stopped, its pipeline closed, or the view unreadable."""
        return self._thread.is_alive()

    @property
    def step(self) -> int:
        """The step that is shown."""
        return self._drawn.step

    def stop(self) -> None:
        """Show the last step, and no later one. What is shown stays, and says so."""
        self._ending.set()
        self._made.set()
        self._thread.join()

    def _work(self) -> None:
        try:
            while not self._ending.is_set() and not self._closed():
                self._made.wait()
                self._made.clear()
                self._follow()
                self._ending.wait(1 / PER_SECOND)
            self._follow()
        except Error as error:  # nobody waits for this thread, so the cell says it
            self._drawn = self._drawn._replace(html="", text=str(error))
        finally:
            self._watchers.discard(self._made.set)
            self._handle.update(_bundle(self._drawn, ended=True), raw=True)

    def _follow(self) -> None:
        if self._closed() or self._last() == self._drawn.step:
            return
        try:
            self._drawn = self._draw()
        except Error:
            if self._closed():  # meanwhile: what is shown is the last that could be read
                return
            raise
        self._handle.update(_bundle(self._drawn), raw=True)

    def _ipython_display_(self) -> None:
        """As a cell's value: that which has made it shows it already."""
        if self._cell != _cell():
            self._handle.display(_bundle(self._drawn, ended=not self.running), raw=True)

    def __repr__(self) -> str:
        return f"<{self.view}, {'live' if self.running else 'stopped'}, step {self.step}>"


def _cell() -> int:
    """The number of the cell that is being run; 0 outside a notebook."""
    import IPython  # noqa: PLC0415  only a notebook has it

    shell = IPython.get_ipython()
    return 0 if shell is None else int(shell.execution_count)


def _bundle(drawn: Drawing, ended: bool = False) -> dict[str, str]:
    """The types that a notebook picks one of; without HTML it takes the text."""
    if not drawn.html:
        return {"text/plain": drawn.text}
    return {"text/html": drawn.html + (_ENDED if ended else ""), "text/plain": drawn.text}


def in_notebook() -> Show:
    """Show in the cell that is being run. Raises Error where there is none."""
    try:
        from IPython import get_ipython  # noqa: PLC0415  only a notebook has it
        from IPython.display import display  # noqa: PLC0415
    except ImportError:
        raise Error("a live view is shown by IPython, in Jupyter or VS Code: pip install ipython") from None
    if get_ipython() is None:
        raise Error("a live view is shown in a notebook, and this is none; `subscribe` calls a function")

    def show(bundle: dict[str, str]) -> Handle:
        handle: Handle = display(bundle, raw=True, display_id=True)
        return handle

    return show
