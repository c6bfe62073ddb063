"""Tags of a state directory for whoever only reads it: a step that must not go while it is used."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path

from dbsp.circuits.errors import StateError
from dbsp.history.asked import AsOf, step_of
from dbsp.state.store import Store


def tag(state: str | Path, name: str, as_of: AsOf | None = None, lasting: timedelta | None = None) -> int:
    """Pin a step, the last one unless `as_of` says another, under a name; its number. Raises StateError.

    lasting: for how long; None: until it is untagged.
    """
    store, identity = Store.read(state)
    if store.last is None:
        raise StateError(f"{store.root}: there is no step yet, so nothing to tag")
    step = store.last.step if as_of is None else step_of(store, as_of, identity.timezone)
    store.tags.add(name, step, lasting)
    return step


def untag(state: str | Path, name: str) -> None:
    """Let a step go when it is its turn. Raises StateError."""
    Store.read(state)[0].tags.remove(name)


@contextmanager
def pin(
    state: str | Path, as_of: AsOf | None = None, lasting: timedelta = timedelta(hours=1)
) -> Iterator[int]:
    """A step that stays while the body runs, beside a writer; its number.

    Examples:
        >>> with dbsp.Pipeline(examples / "votes/program.sql", state=state, runner="inline") as votes:
        ...     made = votes.step()
        ...     with dbsp.pin(state) as step:
        ...         step  # what it shows stays, whatever is made meanwhile
        1

    lasting: after that it may go though nobody has left the body: a reader that died can't.
    """
    name = f"reader-{secrets.token_hex(8)}"
    step = tag(state, name, as_of, lasting)
    try:
        yield step
    finally:
        # it may be over, or goes by itself; and what the body has raised is what is to be told
        with suppress(StateError):
            untag(state, name)
