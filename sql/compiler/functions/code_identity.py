"""What a Python function computes with: equal for functions that compute the same.

    identity(f) = digest of f's text, its defaults, what it closes over, and all of its package that it names

Of other packages only the name counts, and not the version: state outlives an upgrade of pyarrow.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType


def identity_of(described: object, run: object, own: frozenset[str] = frozenset()) -> str:
    """described: what else tells it apart. own: packages that count beside the function's."""
    return hashlib.sha256("\n".join([repr(described), *_parts(run, {}, own)]).encode()).hexdigest()


def _parts(value: object, seen: dict[int, object], own: frozenset[str]) -> Iterator[str]:
    if id(value) in seen:
        return
    seen[id(value)] = value  # kept, so that no other value gets its id
    if isinstance(value, functools.partial):
        for part in (value.func, value.args, sorted(value.keywords.items())):
            yield from _parts(part, seen, own)
    elif isinstance(value, FunctionType):
        yield _text(value)
        yield from _parts((value.__defaults__, value.__kwdefaults__), seen, own)
        for cell in value.__closure__ or ():
            yield from _parts(cell.cell_contents, seen, own)
        for name in sorted(_names(value.__code__) & value.__globals__.keys()):
            named = value.__globals__[name]
            yield name
            if _package(named) in {None, _package(value), *own}:
                yield from _parts(named, seen, own)
    elif isinstance(run := getattr(value, "run", None), FunctionType):  # declared by `dbsp.udf`
        yield from _parts(run, seen, own)
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
