"""Hashes in Redis, one for each key: the changes of a step and its number, in one transaction.

    WATCH the steps; unless they have the step: MULTI; DEL and HSET of each key that changed, the step; EXEC

So a step is written once, whatever dies in between: Redis carries out an EXEC as a whole, and where its
answer was lost, the next try finds the step, or fails at the WATCH and is made again. Two state directories
can't write one prefix: beside the step is who writes it.

A hash is PREFIX and the values of the key, with a colon between them (in several a colon is %3A, a percent
sign %25). Its fields are the columns that aren't NULL, as text: instants as '2024-01-31T12:00:00.000000Z',
bytes as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.forms.time_of_day import rows_in_microseconds
from dbsp.circuits.errors import Error
from dbsp.sql.plans.program import DELETED
from dbsp.targets.outlet import Outlet
from dbsp.targets.target import Change

if TYPE_CHECKING:
    import redis

_SECONDS = 30
_CURE = "give another prefix, or delete that"
# after so many seconds a connection is looked at before it is used
_IDLE = 30


@dataclass
class Redis:
    """A `Target`."""

    outlet: Outlet
    _client: redis.Redis | None = None

    def __post_init__(self) -> None:
        self.outlet.check_package("redis", "redis")

    @property
    def directory(self) -> str | None:
        """Of files."""
        return None

    def write(self, step: int, changes: Sequence[Change]) -> None:
        """In one transaction, unless the hashes have the step."""
        import redis  # noqa: PLC0415  only who writes to Redis has it

        try:
            is_fresh = self._client is None
            if self._client is None:
                url = self.outlet.table.option("url")
                self._client = redis.Redis.from_url(
                    url, socket_timeout=_SECONDS, retry_on_timeout=False, health_check_interval=_IDLE
                )
            # what is watched is forgotten with the pipeline's connection
            with self._client.pipeline(transaction=True) as commands:
                commands.watch(self._steps)  # type: ignore[no-untyped-call]
                if self._claimed(self._client, step, is_fresh) < step:
                    commands.multi()
                    for rows in map(rows_in_microseconds, self.outlet.records(step, changes)):
                        self._add(commands, rows)
                    commands.hset(self._steps, mapping={"writer": self.outlet.writer(), "step": step})
                    commands.execute()
        except BaseException:
            self.close()
            raise

    def why(self, error: Exception) -> str:
        """In one line; a url may have a password."""
        url = self.outlet.table.option("url")
        return str(error).replace(url, "the url").strip().split("\n", 1)[0]

    def close(self) -> None:
        """End the connection."""
        client, self._client = self._client, None
        if client is not None:
            with suppress(Exception):
                client.close()

    @property
    def _prefix(self) -> str:
        return self.outlet.table.option("prefix", f"{self.outlet.table.name}:")

    @property
    def _steps(self) -> str:
        return f"dbsp_steps:{self._prefix}"

    def _claimed(self, client: redis.Redis, step: int, is_fresh: bool) -> int:
        """The last step that is there. Raises StateError where it is another's, or lacks earlier steps."""
        found: dict[bytes, bytes] = client.hgetall(self._steps)  # type: ignore[assignment]
        if not found and next(client.scan_iter(_pattern(self._prefix), count=1000), None) is not None:
            what = f"there are keys that begin with '{self._prefix}' and that no step has written"
            raise Error(f"{what}; give another prefix, or delete them")
        owner = found[b"writer"].decode() if found else self.outlet.writer()
        written = int(found[b"step"]) if found else 0
        self.outlet.check_writer(owner, written, self._steps, _CURE)
        if is_fresh:
            self.outlet.check_steps(step, written, self._steps, _CURE)
        return written

    def _add(self, commands: Any, rows: pa.RecordBatch) -> None:
        """Redis takes a command a key."""
        texts = [_text(column) for column in rows.columns]
        fields, ops = rows.schema.names[:-1], texts.pop().to_pylist()
        keys = [texts[fields.index(name)] for name in self.outlet.key]
        values = zip(*(column.to_pylist() for column in texts), strict=True)
        for name, op, row in zip(_names(self._prefix, keys).to_pylist(), ops, values, strict=True):
            commands.delete(name)
            if op != DELETED.encode():
                there = {f: value for f, value in zip(fields, row, strict=True) if value is not None}
                commands.hset(name, mapping=there)


def _names(prefix: str, keys: Sequence[pa.Array]) -> pa.Array:
    """Of the hashes. binary[n]"""
    if len(keys) > 1:
        keys = [_replaced(_replaced(key, b"%", b"%25"), b":", b"%3A") for key in keys]
    joined = pc.binary_join_element_wise(*keys, pa.scalar(b":"))
    return pc.binary_join_element_wise(pa.scalar(prefix.encode()), joined, pa.scalar(b""))


def _replaced(values: pa.Array, old: bytes, new: bytes) -> pa.Array:
    return pc.replace_substring(values, old, new)


def _text(values: pa.Array) -> pa.Array:
    """binary[n]"""
    if pt.is_timestamp(values.type):
        zone = "Z" if values.type.tz is not None else ""
        plain = values.cast(pa.timestamp("us")).cast(pa.string())
        spelled = pc.replace_substring(plain, " ", "T")
        return pc.binary_join_element_wise(spelled, pa.scalar(zone), pa.scalar("")).cast(pa.binary())
    if pt.is_binary(values.type):
        return values
    return values.cast(pa.string()).cast(pa.binary())


def _pattern(prefix: str) -> str:
    """Of SCAN, what begins so."""
    return "".join(f"[{c}]" if c in "*?[" else "\\" + c if c in "\\]^-" else c for c in prefix) + "*"
