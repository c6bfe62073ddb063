"""One writer per state on a store, in the normal case: an object that names the holder, and until when.

    free ─create─► held ─replace, every third of TERM─► held ─replace─► free
                    └─ expired, or its process is gone: replace, by the next writer

Every write has the condition that the object is as it was last seen, so that of two who take it over one
fails. That keeps a second writer out with a clear word. It isn't what makes commits safe: clocks differ, and
a process that slept through its lease doesn't know. The record of a step is created only where there is none,
so that of two writers who both believe in their lease one stops at its next commit.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import socket
import threading
import time
from dataclasses import dataclass
from typing import Any

from dbsp.circuits.disk import disk
from dbsp.circuits.errors import Overtaken, StateError
from dbsp.state.objects.bucket import Bucket, Tag
from dbsp.state.objects.refusals import Changed

NAME = "lease"
TERM = 60.0  # seconds

log = logging.getLogger("dbsp")


@dataclass(frozen=True)
class Holder:
    """What the object says. until: in seconds since 1970, by the holder's clock; 0 of one that is free."""

    process: int
    host: str
    token: str
    until: float

    @staticmethod
    def from_bytes(data: bytes, where: str) -> Holder:
        """Raises StateError."""
        try:
            known: Any = json.loads(data)
            return Holder(known["process"], known["host"], known["token"], known["until"])
        except (ValueError, KeyError, TypeError):
            raise StateError(
                f"{where}: damaged: it is no lease; see that no writer is at work, then delete it"
            ) from None

    def to_bytes(self) -> bytes:
        return json.dumps(vars(self)).encode()

    @property
    def is_gone(self) -> bool:
        """Whether it has given the lease back, let it expire, or was a process of this host that ended."""
        if self.until <= time.time():
            return True
        if self.host != socket.gethostname() or self.process == os.getpid():
            return False
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            pass
        return False


class Lease:
    """Held from creation to `close`. Raises StateError while somebody else holds it."""

    def __init__(self, bucket: Bucket, term: float = TERM) -> None:
        self._bucket, self._term = bucket, term
        self._token = secrets.token_hex(8)
        self._where = f"{bucket.uri}/{NAME}"
        self._lost = ""
        self._changing = threading.Lock()
        with disk(self._where):
            self._tag = self._take()
        self._closed = threading.Event()
        threading.Thread(target=self._keep, name="dbsp-lease", daemon=True).start()

    def _take(self) -> Tag:
        try:
            data, tag = self._bucket.get(NAME)
        except FileNotFoundError:
            return self._put(None)
        holder = Holder.from_bytes(data, self._where)
        if not holder.is_gone:
            raise self._in_use(holder)
        return self._put(tag)

    def _put(self, tag: Tag | None, until: float | None = None) -> Tag:
        """In place of what had that tag. Raises StateError where another one was faster, OSError."""
        self._until = time.time() + self._term if until is None else until
        ours = Holder(os.getpid(), socket.gethostname(), self._token, self._until)
        try:
            if tag is None:
                return self._bucket.create(NAME, ours.to_bytes())
            return self._bucket.replace(NAME, ours.to_bytes(), tag)
        except OSError as error:
            # the answer may be lost, and the request carried out
            try:
                data, found = self._bucket.get(NAME)
            except OSError:
                raise error from None
            holder = Holder.from_bytes(data, self._where)
            if holder == ours:
                return found
            if holder.token == self._token:  # an earlier one of ours, whose answer was lost
                return self._bucket.replace(NAME, ours.to_bytes(), found)
            if isinstance(error, Changed):
                raise self._in_use(holder) from None
            raise

    def _in_use(self, holder: Holder) -> StateError:
        left = max(0, round(holder.until - time.time()))
        return StateError(
            f"{self._bucket.uri}: in use by process {holder.process} on {holder.host}, whose lease is "
            f"renewed or ends in {left} s; close it first, or use another place for state"
        )

    # -- while it is held ---------------------------------------------------------------------------

    def check(self) -> None:
        """Raises Overtaken where another writer has taken it over. The store is asked when it has expired."""
        if time.time() >= self._until - self._term / 10:
            with disk(self._where):
                self.renew()
        if self._lost:
            raise Overtaken(self._lost)

    def renew(self) -> None:
        """Raises OSError."""
        with self._changing:
            if self._lost or self._closed.is_set():
                return
            before = self._until
            try:
                self._tag = self._put(self._tag)
            except OSError:
                self._until = before
                raise
            except StateError as error:
                self._lost = f"{error}; it has taken the state over, and this writer has stopped"

    def _keep(self) -> None:
        while not self._closed.wait(self._term / 3) and not self._lost:
            try:
                self.renew()
            except OSError as error:
                log.warning("%s: not renewed: %s", self._where, error)

    def close(self) -> None:
        """Give it back. Once is enough, and twice does no harm."""
        with self._changing:
            if self._closed.is_set():
                return
            self._closed.set()
            if self._lost:
                return
            try:
                self._put(self._tag, until=0.0)
            except (OSError, StateError) as error:  # it expires
                log.warning("%s: not given back: %s", self._where, error)
