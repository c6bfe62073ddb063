"""A run of pytest with the plugin, whether or not the package that is installed has it."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest


def run_with_plugin(pytester: pytest.Pytester, *options: str) -> pytest.RunResult:
    """In a process of its own: one within this process would leave none of the modules that it imports."""
    installed = "dbsp" in {one.name for one in entry_points(group="pytest11")}
    return pytester.runpytest_subprocess(*(() if installed else ("-p", "dbsp.testing.plugin")), *options)
