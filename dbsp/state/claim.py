"""Whose a state directory is: what a program does to make it its own, or to be refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from shutil import rmtree

from dbsp.state.records.commits import load_commit, move, recorded_steps, sync, traces_of, write_whole
from dbsp.state.records.identity import (
    FORMAT,
    NAME,
    NEXT,
    Identity,
    another_state,
    of_another,
    read_identity,
)
from dbsp.state.records.places import Place


def owner(root: Place) -> Identity | None:
    """The program of the last record; None: there is no program.json. Raises StateError, OSError.

    Where a change of program was interrupted, which one that is.
    """
    return _settled(root)[0]


def settled_owner(root: Place, durable: bool) -> Identity | None:
    """The same for the one who writes there: an interrupted change is carried out, or taken back."""
    found, is_coming, is_true = _settled(root)
    if is_coming:
        if is_true:
            move(root / NEXT, root / NAME)
        else:
            (root / NEXT).unlink()
        if durable:
            sync(root)
    return found


def _settled(root: Place) -> tuple[Identity | None, bool, bool]:
    """The owner; whether a change of program was begun, and whether it is true."""
    found, coming = read_identity(root), read_identity(root, NEXT)
    if coming is None:
        return found, False, False
    steps = recorded_steps(root)
    last = load_commit(root, steps[-1]) if steps else None
    is_true = last is not None and coming.describes(last.fingerprint, traces_of(last))
    if is_true and last is not None and last.batch is not None and last.reading is not None:
        # USING alone may be what changes, of which a fingerprint says nothing
        is_true = [*last.reading.streams.items()] == [*coming.manifest.streams.items()]
    return coming if is_true else found, True, is_true


def claim(root: Place, identity: Identity, durable: bool) -> Identity | None:
    """Make the directory this program's. Raises OtherProgram.

    Gives what program.json is to say before the next record is there, where it says it in an older format, or
    less.
    """
    found = settled_owner(root, durable)
    identity = replace(identity, state=(found.state if found else "") or another_state())
    if found is not None and found.fingerprint == identity.fingerprint:
        grew = found.manifest.begun != identity.manifest.begun
        if found.format < FORMAT or grew or not found.state:
            return identity
        if found.text == identity.text:
            return None
        # the same program in other words, as with another path; how tables were read the records say
        return replace(identity, manifest=found.manifest)
    steps = recorded_steps(root)
    if steps:
        if found is None:
            return None  # program.json was lost: the commits say whether they are this program's
        last = load_commit(root, steps[-1])
        if last is None or last.fingerprint != identity.fingerprint:
            raise of_another(root, found.name, found.fingerprint, identity)
        # gone back to a step from before a change of program
        write_whole(root / NAME, identity.to_bytes(), durable)
        return None
    # a program that failed before its first step leaves nothing to keep but a query's first offsets
    if isinstance(root, Path):
        rmtree(root / "checkpoint", ignore_errors=True)
        (root / "segments").mkdir(exist_ok=True)
        (root / "commits").mkdir(exist_ok=True)
    write_whole(root / NAME, identity.to_bytes(), durable)
    return None
