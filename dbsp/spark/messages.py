"""What Spark says of a failure, in one line."""

from __future__ import annotations

import re


def first_line(error: Exception) -> str:
    """The message without its error class, SQLSTATE, plan and stack trace."""
    lines = str(error).strip().splitlines()
    line = lines[0] if lines else type(error).__name__
    return re.sub(r"\s*SQLSTATE: \w+\s*$", "", line)
