"""A function of a program whose code isn't in the program's text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dbsp.circuits.functions.python.function import PythonFunction


@dataclass(frozen=True)
class Declared:
    """A function whose code isn't in the program's text. types, result: as DDL.

    Without code it is a record of a function: it compiles a program whose views are only to be read.
    """

    types: tuple[str, ...]
    result: str
    python: PythonFunction

    @property
    def name(self) -> str:
        return self.python.name

    @property
    def is_record(self) -> bool:
        return self.python.code == b""

    def to_json(self) -> dict[str, object]:
        """Its record."""
        python = self.python
        return {
            "name": python.name,
            "style": python.style,
            "aggregate": python.aggregate,
            "identity": python.identity,
            "types": list(self.types),
            "result": self.result,
        }

    @staticmethod
    def from_json(record: Mapping[str, Any]) -> Declared:
        python = PythonFunction(record["name"], record["style"], record["aggregate"], record["identity"], b"")
        return Declared(tuple(record["types"]), record["result"], python)
