"""The reference of Python: what a module exports, for mkdocstrings to read the docstrings of."""

from __future__ import annotations

from types import ModuleType

import dbsp
import dbsp.testing


def python_reference() -> str:
    """Everything that the package and `dbsp.testing` export."""
    return f"# Python\n\n{_exported(dbsp)}\n{_exported(dbsp.testing)}"


def _exported(module: ModuleType) -> str:
    lines = [f"## `{module.__name__}`", ""]
    for name in sorted(module.__all__, key=str.lower):
        value = getattr(module, name)
        home = getattr(value, "__module__", module.__name__)
        # where it is defined: a name that is imported lazily is there for no reader of the source
        place = f"{home}.{name}" if home.startswith("dbsp") else f"{module.__name__}.{name}"
        lines += [f"::: {place}", "    options:", "      heading_level: 3", ""]
    return "\n".join(lines)
