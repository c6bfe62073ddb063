"""Tests of programs, with pytest or without: `pip install dbsp` brings a plugin (`dbsp.testing.plugin`).

def test_orders(dbsp_program):
    p = dbsp_program("orders.sql")
    p.insert("orders", [(1, "UK", 20)])
    p.step()
    assert p["turnover"].rows() == [{"country": "UK", "total": 20}]

def test_replay():
    assert_replay("orders.sql", "deltas.sql", "expected.jsonl")

def test_spark():
    assert_equals_spark("orders.sql")
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbsp.testing.against_spark import NotCompared, assert_equals_spark
    from dbsp.testing.deltas import Deltas, play, random_deltas
    from dbsp.testing.golden import assert_replay
    from dbsp.testing.programs import load
    from dbsp.testing.strategies import deltas_of
    from dbsp.testing.written import replay_text

__all__ = [
    "Deltas",
    "NotCompared",
    "assert_equals_spark",
    "assert_replay",
    "deltas_of",
    "load",
    "play",
    "random_deltas",
    "replay_text",
]

_HOME = {"NotCompared": "against_spark", "assert_equals_spark": "against_spark", "assert_replay": "golden"}
_HOME |= dict.fromkeys(["Deltas", "play", "random_deltas"], "deltas")
_HOME |= {"deltas_of": "strategies", "load": "programs", "replay_text": "written"}


def __getattr__(name: str) -> object:
    # the plugin is loaded wherever dbsp is installed, and costs nothing where no test uses it
    if name not in _HOME:
        raise AttributeError(f"module 'dbsp.testing' has no attribute '{name}'")
    return getattr(import_module(f"dbsp.testing.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
