"""A run of pytest with the plugin, whether or not the package that is installed has it.

The fixture `pytester` forgets, at its end, the modules that were imported meanwhile: so what the suite
shares, a compiler and what it imports, is imported before.
"""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest

import dbsp.sql.compiler.compile  # noqa: F401


def run_with_plugin(pytester: pytest.Pytester, *options: str) -> pytest.RunResult:
    """In a process of its own: one within this process would leave none of the modules that it imports."""
    installed = "dbsp" in {one.name for one in entry_points(group="pytest11")}
    return pytester.runpytest_subprocess(*(() if installed else ("-p", "dbsp.testing.plugin")), *options)
