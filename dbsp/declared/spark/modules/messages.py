"""Messages of Spark Connect: what is in them, and a digest of what they say."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Any

# of what is read as a name in SQL, by a number that is another each time
_TEMPORARY = re.compile(rb"_pyspark_connect_temp_view_([0-9a-f]{32})")


def digest_of(message: Any) -> str:
    """Of what it says, whatever numbers its parts have in this process, and whichever lines made them."""
    copied = type(message)()
    copied.CopyFrom(message)
    _renumber(copied, {})
    numbers: dict[bytes, bytes] = {}

    def numbered(found: re.Match[bytes]) -> bytes:
        return numbers.setdefault(found[1], b"%032d" % len(numbers))

    said = _TEMPORARY.sub(numbered, copied.SerializeToString(deterministic=True))
    return hashlib.sha256(said).hexdigest()


def _renumber(message: Any, numbers: dict[int, int]) -> None:
    for descriptor, value in message.ListFields():
        if descriptor.name == "plan_id":
            message.plan_id = numbers.setdefault(value, len(numbers))
        elif descriptor.name == "origin":
            message.ClearField("origin")
        for one in messages_in(value):
            _renumber(one, numbers)


def messages_in(value: Any) -> list[Any]:
    """The messages that a field holds."""
    if hasattr(value, "ListFields"):
        return [value]
    if isinstance(value, (str, bytes, int, float)):
        return []
    # a container of several has no __iter__, though it can be iterated
    return [
        one for one in (value.values() if hasattr(value, "values") else value) if hasattr(one, "ListFields")
    ]


def messages_of(message: Any, kind: str) -> Iterator[Any]:
    """Those of a kind that are in a message, at any depth."""
    for _, value in message.ListFields():
        for one in messages_in(value):
            if one.DESCRIPTOR.name == kind:
                yield one
            yield from messages_of(one, kind)
