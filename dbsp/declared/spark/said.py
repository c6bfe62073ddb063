"""What Spark says of a project that it refuses, as one line."""

from __future__ import annotations

import re

# of a name, as in Registering.java
HIDDEN = "dbsp hidden"
# the statement or the plan that follows what is said
_BEHIND = re.compile(r"\n+(?:== SQL ==|Offending query:|JVM stacktrace|'|[+:]- |!)[\s\S]*")


def said(message: str) -> str:
    """All of a message but the texts and plans that it is about; datasets have the names that are written."""
    told = _BEHIND.sub("", message.strip()).replace(f"`{HIDDEN}`.", "")
    return " ".join(told.split())
