"""A state directory of its own as of a step of another one: where "what if" begins."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dbsp.circuits.errors import StateError
from dbsp.history.asked import AsOf, step_of
from dbsp.history.copied import copied
from dbsp.history.placing import place
from dbsp.history.tagging import pin
from dbsp.state.records import delivered
from dbsp.state.records.identity import NAME, Identity, another_state
from dbsp.state.records.places import place_of
from dbsp.state.store import Store


def branch(state: str | Path, as_of: AsOf, other: str | Path) -> Identity:
    """Make `other` the state as of a step; whose it is. Raises StateError, and then it isn't there.

    Its sinks have been given nothing, so that whoever runs it by mistake is told. It is another state, which
    is no part of this one's backups.
    """
    store, identity = Store.read(state)
    step = step_of(store, as_of, identity.timezone)
    with pin(state, step):
        if store.commit_of(step).fingerprint != identity.fingerprint:
            raise StateError(
                f"{store.root}: step {step} is of the program before it was changed, which isn't there any "
                f"more; {store.said_kept()}"
            )
        found = copied(store, identity, step, ())
        del found.files[delivered.NAME]
        if identity.state:  # else the first step gives it one
            found.files[NAME] = replace(identity, state=another_state()).to_bytes()
        place(found, store.root, place_of(other))
    return identity
