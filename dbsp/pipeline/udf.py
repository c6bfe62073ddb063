"""Functions for a program's SQL, declared in Python.

    @dbsp.udf(returns="BIGINT", arguments=["BIGINT", "BIGINT"])
    def add(x, y):
        return pc.add(x, y)

    Pipeline("program.sql", functions=[add])

`dbsp.circuits.functions.python.function` says what a function is given and must return. It is part of the
program: state made with a function is not gone on with under another one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from dbsp.circuits.errors import Error
from dbsp.circuits.functions.python.function import STYLES, PythonFunction
from dbsp.sql.compiler.functions.code_identity import identity_of
from dbsp.sql.plans.declared import Declared


@dataclass(frozen=True)
class Function:
    """Still callable as what was declared."""

    run: Callable[..., Any]
    arguments: tuple[str, ...]
    returns: str
    name: str
    style: str
    aggregate: bool

    def __call__(self, *arguments: Any) -> Any:
        return self.run(*arguments)

    @property
    def declared(self) -> Declared:
        from pyspark import cloudpickle  # noqa: PLC0415  who declares no function doesn't pay for it

        described = (self.name.lower(), self.style, self.aggregate, self.arguments, self.returns)
        identity = identity_of(described, self.run)
        code = cloudpickle.dumps(self.run)
        python = PythonFunction(self.name, self.style, self.aggregate, identity, code)
        return Declared(self.arguments, self.returns, python)


def udf(
    *, returns: str, arguments: Sequence[str], style: str = "arrow", name: str | None = None
) -> Callable[[Callable[..., Any]], Function]:
    """Declare a function of rows. returns, arguments: types as in SQL. name: default the function's own.

    Examples:
        >>> @dbsp.udf(returns="BIGINT", arguments=["BIGINT"], style="values")
        ... def doubled(x):
        ...     return 2 * x
        >>> doubled.declared.name
        'doubled'

    style: 'arrow' (pyarrow arrays of a batch), 'pandas' (Series) or 'values' (Python values, row by row).
    """
    return functools.partial(_function, tuple(arguments), returns, name, style, False)


def udaf(
    *, returns: str, arguments: Sequence[str], style: str = "arrow", name: str | None = None
) -> Callable[[Callable[..., Any]], Function]:
    """Declare an aggregate: a function of all values of a group, copies counted, in their order.

    Examples:
        >>> @dbsp.udaf(returns="BIGINT", arguments=["BIGINT"], style="values")
        ... def spread(values):
        ...     return max(values) - min(values)
        >>> spread.declared.name
        'spread'

    style: as of `udf`; 'values' are lists. A group without rows is NULL.
    """
    return functools.partial(_function, tuple(arguments), returns, name, style, True)


def _function(
    arguments: tuple[str, ...],
    returns: str,
    name: str | None,
    style: str,
    aggregate: bool,
    run: Callable[..., Any],
) -> Function:
    name = str(name or getattr(run, "__name__", ""))
    if not name.isidentifier():
        raise Error(f"'{name}' can't be a function's name in SQL: give it one, as name='f'")
    if style not in STYLES:
        raise Error(f"function '{name}': unknown style '{style}'; styles: {', '.join(STYLES)}")
    if not arguments:
        raise Error(f"function '{name}' has no arguments, so it is a constant; write the constant")
    return Function(run, arguments, returns, name, style, aggregate)


def declared_of(functions: Collection[Function]) -> list[Declared]:
    """As a program is compiled with them. Raises Error for what is none."""
    for one in functions:
        if not isinstance(one, Function):
            raise Error(f"functions are what @dbsp.udf and @dbsp.udaf make; not {one!r}")
    return [function.declared for function in functions]
