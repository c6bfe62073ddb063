"""A run in a thread of its own: what its pipeline's user does meanwhile is ask, or write."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Background:
    """run: makes steps until the event is set, and returns how many. It begins at once."""

    def __init__(self, run: Callable[[], int], ending: threading.Event) -> None:
        self._run, self._ending = run, ending
        self._steps = 0
        self._failure: BaseException | None = None
        # whoever forgets to stop it can leave the interpreter all the same
        self._thread = threading.Thread(target=self._work, name="dbsp", daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether steps are made: until it is stopped, or has failed."""
        return self._thread.is_alive()

    @property
    def failure(self) -> BaseException | None:
        """What ended it, once it has ended."""
        return self._failure

    def stop(self) -> int:
        """End after the step that is being made; the number of steps. Raises what ended the run before."""
        self._ending.set()
        self._thread.join()
        if self._failure is not None:
            raise self._failure
        return self._steps

    def _work(self) -> None:
        try:
            self._steps = self._run()
        except BaseException as error:  # it is raised where somebody asks
            self._failure = error
