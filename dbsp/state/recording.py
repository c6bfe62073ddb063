"""Making a step true: its record is created where there is none, and what an error in that means.

The step is true from the instant at which its record has its name (`create_whole`). Over a network a name can
be made, and the answer get lost: so what failed is looked at before it is said to have failed, and where even
that can't be seen, that is said (`Unsettled`).
"""

from __future__ import annotations

import errno

from dbsp.circuits.errors import Overtaken, StateError
from dbsp.state.objects.path import ObjectPath
from dbsp.state.objects.refusals import Unanswered
from dbsp.state.records.commits import Commit, create_whole, record_path, sync
from dbsp.state.records.places import Place

# what `link` fails with where there are no hard links, as on FAT
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.ENOSYS}


class Unsettled(StateError):
    """Whether a step is true isn't known: the disk doesn't say."""


class Recording:
    """Of the records of one writer."""

    def __init__(self, root: Place, durable: bool) -> None:
        self._root = root
        self._durable = durable
        self._asked: Commit | None = None  # whose record may be there, or come to be there
        self._created: Commit | None = None  # whose record is there

    def create(self, commit: Commit) -> None:
        """Raises FileExistsError, OSError: on a store there is no such record then, but of Unanswered, and
        where an earlier request for it was.
        """
        is_repeated, self._asked = self._asked is commit, commit
        try:
            create_whole(record_path(self._root, commit.step), commit.to_bytes(), self._durable)
        except Unanswered:
            raise
        except OSError:
            if not is_repeated:
                self._asked = None
            raise
        self._created = commit

    def is_there(self, commit: Commit) -> bool:
        """Whether the record is this one. Raises Unsettled."""
        if self._created is commit:
            return True
        path = record_path(self._root, commit.step)
        if isinstance(path, ObjectPath):
            return self._asked is commit and self._is_created(commit)
        try:
            return path.read_bytes() == commit.to_bytes()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise self._unsettled(commit.step, error) from error

    def sync(self, step: int) -> None:
        """Whoever is told of the step must not lose it any more. Raises Unsettled."""
        if self._durable:
            try:
                sync(self._root / "commits")
            except OSError as error:
                raise self._unsettled(step, error) from error

    def failed(self, step: int, error: OSError) -> StateError:
        """What is said of a step whose record isn't there."""
        if isinstance(error, FileExistsError):
            return Overtaken(
                f"{self._root}: step {step} was committed by another writer; this one has stopped, and its "
                f"step {step} is not there: open the state directory again"
            )
        if error.errno in _NO_LINKS:
            return StateError(
                f"{self._root}: step {step} was not committed: {error.strerror}; a commit is a hard link, "
                "which this file system may not have: use another one for state"
            )
        return StateError(f"{self._root}: step {step} was not committed: {error.strerror}")

    def _is_created(self, commit: Commit) -> bool:
        """A store may yet carry out a request that it hasn't answered: it is asked until it answers."""
        try:
            self.create(commit)
        except FileExistsError:
            return False
        except OSError as error:
            raise self._unsettled(commit.step, error) from error
        return True

    def _unsettled(self, step: int, error: OSError) -> Unsettled:
        return Unsettled(
            f"{self._root}: whether step {step} was committed isn't known ({error.strerror}); open the state "
            "directory again, and see which step is its last"
        )
