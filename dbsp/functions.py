"""Functions for a program's SQL, declared in Python.

    @dbsp.udf(returns="BIGINT", arguments=["BIGINT", "BIGINT"])
    def add(x, y):
        return pc.add(x, y)

    Pipeline("program.sql", functions=[add])

`circuits.python_function` says what a function is given and must return. It is part of the program: state
made with a function is not gone on with under another one.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType
from typing import Any

from circuits.errors import Error
from circuits.python_function import STYLES, PythonFunction
from sql.functions import Declared


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
        identity = hashlib.sha256("\n".join([repr(described), *_parts(self.run, set())]).encode())
        code = cloudpickle.dumps(self.run)
        python = PythonFunction(self.name, self.style, self.aggregate, identity.hexdigest(), code)
        return Declared(self.arguments, self.returns, python)


def udf(
    *, returns: str, arguments: Sequence[str], style: str = "arrow", name: str | None = None
) -> Callable[[Callable[..., Any]], Function]:
    """Declare a function of rows. returns, arguments: types as in SQL. name: default the function's own.

    style: 'arrow' (pyarrow arrays of a batch), 'pandas' (Series) or 'values' (Python values, row by row).
    """
    return functools.partial(_function, tuple(arguments), returns, name, style, False)


def udaf(
    *, returns: str, arguments: Sequence[str], style: str = "arrow", name: str | None = None
) -> Callable[[Callable[..., Any]], Function]:
    """Declare an aggregate: a function of all values of a group, copies counted, in their order.

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


# ---- identity


def _parts(value: object, seen: set[int]) -> Iterator[str]:
    """What a function computes with: its text, and all of that package that the text names."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, Function):
        yield from _parts(value.run, seen)
    elif isinstance(value, functools.partial):
        for part in (value.func, value.args, sorted(value.keywords.items())):
            yield from _parts(part, seen)
    elif isinstance(value, FunctionType):
        yield _text(value)
        yield from _parts((value.__defaults__, value.__kwdefaults__), seen)
        for cell in value.__closure__ or ():
            yield from _parts(cell.cell_contents, seen)
        for name in sorted(_names(value.__code__) & value.__globals__.keys()):
            named = value.__globals__[name]
            yield name
            if _package(named) in (None, _package(value)):
                yield from _parts(named, seen)
    elif isinstance(value, type | ModuleType):
        yield f"{getattr(value, '__module__', '')}.{value.__name__}"
    else:
        from pyspark import cloudpickle  # noqa: PLC0415

        yield hashlib.sha256(cloudpickle.dumps(value)).hexdigest()


def _text(function: FunctionType) -> str:
    try:
        return inspect.getsource(function)
    except OSError:  # typed at a prompt
        return _compiled(function.__code__)


def _compiled(code: CodeType) -> str:
    constants = [_compiled(each) if isinstance(each, CodeType) else repr(each) for each in code.co_consts]
    return f"{code.co_code.hex()} {code.co_names} {constants}"


def _names(code: CodeType) -> set[str]:
    inner = [_names(each) for each in code.co_consts if isinstance(each, CodeType)]
    return set(code.co_names).union(*inner)


def _package(value: object) -> str | None:
    """The package that a function or class is part of; None of a value."""
    if isinstance(value, ModuleType):
        return value.__name__.split(".")[0]
    if isinstance(value, FunctionType | type) or callable(value):
        return str(getattr(value, "__module__", None)).split(".")[0]
    return None
