"""What goes wrong after a step is true. It stays true: these errors carry what it changed.

Error
├── CallbackError    a subscriber's function has raised    (step, view)
└── DeliveryError    a sink was not written                (step, sink)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbsp.circuits.errors import Error

if TYPE_CHECKING:
    from dbsp.views.changes import Changes


class CallbackError(Error):
    """A callback has raised, and is called again for that step after the next one.

    step, view: what it was called for. changes: of the step that was just made; None where none was.
    """

    def __init__(self, message: str, step: int, view: str) -> None:
        super().__init__(message)
        self.step, self.view = step, view
        self.changes: Changes | None = None


class DeliveryError(Error):
    """A step's changes were not written to a sink. It gets them before anything else happens.

    step, sink: what was not written where. changes: of the step that was just made; None where none was,
    since an earlier one's were still to be delivered: then what was queued still is.
    """

    def __init__(self, message: str, step: int, sink: str) -> None:
        super().__init__(message)
        self.step, self.sink = step, sink
        self.changes: Changes | None = None
