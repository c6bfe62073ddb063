"""The functions in Python that a program may call."""

from __future__ import annotations

from dataclasses import dataclass, field

from dbsp.circuits.functions.python.function import PythonFunction
from dbsp.sql.plans.declared import Declared


@dataclass
class Functions:
    """by_name: in lower case. recorded: those of modules, as they were. declared: those whose code isn't in
    the text.
    """

    by_name: dict[str, PythonFunction] = field(default_factory=dict)
    recorded: dict[str, PythonFunction] = field(default_factory=dict)
    declared: list[Declared] = field(default_factory=list)

    def names(self) -> list[str]:
        return [function.name for function in self.by_name.values()]
