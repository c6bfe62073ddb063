"""The functions of its own that a program may call."""

from __future__ import annotations

from dataclasses import dataclass, field

from dbsp.circuits.functions.python.function import PythonFunction
from dbsp.sql.plans.declared import Declared


@dataclass
class Functions:
    """by_name: those in Python, in lower case. recorded: those of modules, as they were. declared: those
    whose code isn't in the text. in_sql: the names of those in SQL.
    """

    by_name: dict[str, PythonFunction] = field(default_factory=dict)
    recorded: dict[str, PythonFunction] = field(default_factory=dict)
    declared: list[Declared] = field(default_factory=list)
    in_sql: list[str] = field(default_factory=list)

    def in_python(self) -> list[str]:
        return [function.name for function in self.by_name.values()]

    def names(self) -> list[str]:
        return [*self.in_python(), *self.in_sql]

    def has(self, name: str) -> bool:
        """Whether one has that name, whatever its case."""
        return name.lower() in map(str.lower, self.names())
