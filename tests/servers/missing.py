"""What a test needs of the machine and isn't there."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

# .ci/run sets it: then a server that is missing is a failure
REQUIRED = "DBSP_SERVERS"


def missing(what: str, by: str = "make servers") -> NoReturn:
    """Skips the test, and says so, unless servers must be there. by: the command that brings it."""
    message = f"no {what} on this machine: `{by}` installs it"
    if os.environ.get(REQUIRED):
        pytest.fail(message)
    pytest.skip(message)
