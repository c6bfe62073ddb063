"""What an operator says of itself: a line, and the equation at the head of its file."""

from __future__ import annotations

import inspect
import sys
from textwrap import dedent

from dbsp.circuits.operators.operator import Operator


def said_of(operator: Operator) -> tuple[str, str]:
    """(a sentence, the equations); '' what isn't written down, as where Python runs without docstrings."""
    kind = type(operator)
    own = inspect.cleandoc(kind.__doc__ or "")
    if own.startswith(f"{kind.__name__}("):  # a dataclass without one is given its signature
        own = ""
    module = inspect.cleandoc(sys.modules[kind.__module__].__doc__ or "")
    return _sentence(own) or _sentence(module), _equations(own) or _equations(module)


def _sentence(text: str) -> str:
    return " ".join(text.partition("\n\n")[0].split())


def _equations(text: str) -> str:
    """The indented lines."""
    return dedent("\n".join(line for line in text.splitlines() if line.startswith("    "))).strip("\n")
