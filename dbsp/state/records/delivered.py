"""DIR/delivered.json: per target of an INSERT, the step that was written last, and the directory of its
files."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dbsp.circuits.disk import disk
from dbsp.circuits.errors import StateError
from dbsp.state.records.commits import write_whole
from dbsp.state.records.places import Place
from dbsp.state.records.sealed import read_sealed, seal

NAME = "delivered.json"


@dataclass(frozen=True)
class Delivery:
    """step: the last that was written. directory: of its `__step=n`, or None where it has no files.

    writer: by which name a database knows this state directory, or None where none asks. began: the step
    after which it became a sink, of a program that was changed. bound: the last step that it can have, of a
    state that went back, or that hasn't looked since; 0: whatever it has is this state's.
    """

    step: int
    directory: str | None = None
    writer: str | None = None
    began: int = 0
    bound: int = 0

    def back_at(self, step: int) -> Delivery:
        """Of a state that goes back to a step: what a sink has of later ones it knows nothing of."""
        return replace(self, step=min(self.step, step), bound=min(self.bound or step, step))


def read_delivered(root: Place) -> dict[str, Delivery]:
    """Per target what it has; nothing where there is no record. Raises StateError."""
    advice = (
        "restore it from a backup; or delete it, and every step that is kept is written again: files are "
        "replaced, and any other sink gets these rows twice"
    )
    record: Any = read_sealed("delivered", root / NAME, advice)
    return {target: Delivery(*each) for target, each in (record or {}).items()}


def first_lacking(root: Place, targets: Collection[str]) -> int | None:
    """The first step that any of them hasn't got; None: there are none. 1 of a record that can't be read."""
    if not targets:
        return None
    try:
        delivered = read_delivered(root)
    except StateError:  # says who delivers
        return 1
    return 1 + min(delivered[target].step if target in delivered else 0 for target in targets)


def write_delivered(root: Place, delivered: Mapping[str, Delivery], durable: bool) -> None:
    """Replace the record."""
    with disk(root / NAME):
        write_whole(root / NAME, sealed(delivered), durable)


def sealed(delivered: Mapping[str, Delivery]) -> bytes:
    """The content of the record."""
    record = {target: _listed(each) for target, each in delivered.items()}
    return seal("delivered", record)


def _listed(each: Delivery) -> list[object]:
    """What is as it is at first is left out at the end."""
    values: list[object] = [each.step, each.directory, each.writer, each.began, each.bound]
    while values[-1] in (None, 0) and len(values) > 2:
        values.pop()
    return values


def check_delivered(root: Place, delivered: Mapping[str, Delivery], last: int) -> None:
    """Raises StateError where a target has steps that the state hasn't."""
    for target, each in delivered.items():
        if each.step > last:
            raise StateError(
                f"{root / NAME}: step {each.step} was delivered to '{target}', and the last record is "
                f"that of step {last}; restore the directory from a backup, or go back to that step: "
                f"`dbsp fsck {root} --restore-to {last}`"
            )
