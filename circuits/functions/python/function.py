"""A function written in Python, called over columns.

    style    a scalar function is given, and returns      an aggregate is given, of one group
    values   a value an argument, row by row: a value     a list of values an argument
    arrow    an array an argument: one of equal length    an array an argument
    pandas   a Series an argument: one of equal length    a Series an argument

and an aggregate returns one value. A generator function of the vectorised styles is given an iterator over
such batches (of tuples, if it has several arguments), and yields a result for each, as Spark's are.

What it returns for a row may depend on that row only, and must be the same every time: how rows are divided
into batches is the engine's choice, and what it returned once is retracted by calling it again.

Errors: EvaluationError with the exception, its place and an example row; another one for a result of the
wrong length or type.
"""

from __future__ import annotations

import ast
import inspect
import pickle
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePath
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.forms.outside import from_outside, outside_type, to_outside
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.functions.python.fitting import check_fit

STYLES = ("values", "arrow", "pandas")


@dataclass(frozen=True, slots=True)
class Text:
    """Python text. parameters: of the function whose body it is; handler: or the name it defines.

    file, line: where it stands.
    """

    text: str
    parameters: tuple[str, ...]
    handler: str | None
    file: str
    line: int

    def load(self) -> Callable[..., Any]:
        """Raises SyntaxError, KeyError where it doesn't define the handler, and what its top level raises."""
        tree = ast.parse("\n" * (self.line - 1) + self.text, self.file)
        if self.handler is None:
            (function,) = ast.parse(f"def handler({', '.join(self.parameters)}): pass").body
            assert isinstance(function, ast.FunctionDef)
            function.body = tree.body or function.body
            tree.body = [function]
        namespace: dict[str, Any] = {"__name__": self.file}
        exec(compile(tree, self.file, "exec"), namespace)
        loaded: Callable[..., Any] = namespace[self.handler or "handler"]
        return loaded


@dataclass(frozen=True, slots=True)
class PythonFunction:
    """identity: equal for functions that compute the same. code: the text, or a pickled callable."""

    name: str
    style: str
    aggregate: bool
    identity: str
    code: Text | bytes = field(repr=False, compare=False)


@lru_cache(maxsize=256)
def _loaded(function: PythonFunction) -> Callable[..., Any]:
    code = function.code
    loaded: Callable[..., Any] = code.load() if isinstance(code, Text) else pickle.loads(code)
    return loaded


def results(function: PythonFunction, arguments: list[pa.Array], data_type: pa.DataType) -> pa.Array:
    """The result for each row. arguments: at least one."""
    arguments = [to_outside(column) for column in arguments]
    try:
        made = _called(function, arguments)
    except Exception as error:  # a user's function raises what it likes
        row = _failing_row(function, arguments)
        raise _failed(function, error, row) from None
    return from_outside(_array(function, made, len(arguments[0]), outside_type(data_type)), data_type)


def _called(function: PythonFunction, arguments: list[pa.Array]) -> Any:
    run, style = _loaded(function), function.style
    if style == "values":
        return [run(*row) for row in zip(*(column.to_pylist() for column in arguments), strict=True)]
    given = [_given(column, style) for column in arguments]
    if not inspect.isgeneratorfunction(run):
        return run(*given)
    batch = given[0] if len(given) == 1 else tuple(given)
    (made,) = run(iter([batch]))
    return made


def _given(column: pa.Array, style: str) -> Any:
    if style == "values":
        return column.to_pylist()
    return column.to_pandas() if style == "pandas" else column


def _failing_row(function: PythonFunction, arguments: list[pa.Array]) -> int | None:
    """A row on which it fails alone, by halving; None where it takes several."""

    def fails(start: int, stop: int) -> bool:
        try:
            _called(function, [column.slice(start, stop - start) for column in arguments])
        except Exception:  # whatever it raised on all rows, or anything else
            return True
        return False

    low, high = 0, len(arguments[0])
    while high - low > 1:
        middle = (low + high) // 2
        if fails(low, middle):
            high = middle
        elif fails(middle, high):
            low = middle
        else:
            return None
    return low


def _failed(function: PythonFunction, error: Exception, row: int | None) -> EvaluationError:
    """Shows the innermost line of the function's own file."""
    own = function.code.file if isinstance(function.code, Text) else _file(function)
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == own]
    place = f" ({PurePath(own).name}:{lines[-1]})" if lines else ""
    what = f"function '{function.name}': {type(error).__name__}: {error}{place}"
    return EvaluationError("PYTHON_FUNCTION_FAILED", what, row)


def _file(function: PythonFunction) -> str:
    code = getattr(_loaded(function), "__code__", None)
    return code.co_filename if code is not None else ""


def _array(function: PythonFunction, made: Any, rows: int, data_type: pa.DataType) -> pa.Array:
    if isinstance(made, pa.ChunkedArray):
        made = made.combine_chunks()
    if function.style == "arrow" and not isinstance(made, pa.Array):
        raise _unfit(function, f"returned {type(made).__name__} instead of a pyarrow array")
    if not hasattr(made, "__len__"):
        raise _unfit(function, f"returned {type(made).__name__} instead of a Series")
    if len(made) != rows:
        raise _unfit(function, f"returned {len(made)} values for {rows} rows")
    try:
        if not isinstance(made, pa.Array):
            if function.style == "values":
                check_fit(made, data_type)
            return pa.array(made, type=data_type, from_pandas=function.style == "pandas")
        if not _alike(made.type, data_type):
            raise _unfit(function, f"returned {made.type}, but is declared to return {data_type}")
        return made if made.type == data_type else made.cast(data_type)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise _unfit(function, f"returned what is no {data_type}: {error}") from None


def _alike(made: pa.DataType, data_type: pa.DataType) -> bool:
    """Whether a cast changes how the values are stored, and not what they are."""
    kinds = (pt.is_integer, pt.is_floating, pt.is_decimal, pt.is_temporal, _is_text, _is_binary, pt.is_nested)
    return made == data_type or pt.is_null(made) or any(of(made) and of(data_type) for of in kinds)


def _is_text(data_type: pa.DataType) -> bool:
    return bool(pt.is_string(data_type) or pt.is_large_string(data_type) or pt.is_string_view(data_type))


def _is_binary(data_type: pa.DataType) -> bool:
    return bool(pt.is_binary(data_type) or pt.is_large_binary(data_type) or pt.is_binary_view(data_type))


def _unfit(function: PythonFunction, problem: str) -> EvaluationError:
    return EvaluationError("PYTHON_FUNCTION_RESULT", f"function '{function.name}' {problem}")


# ---- aggregates


def results_by_group(
    function: PythonFunction, groups: Iterator[tuple[int, list[pa.Array]]], data_type: pa.DataType
) -> pa.Array:
    """The result for each group of (its number, the arguments' values)."""
    made: list[Any] = []
    for number, columns in groups:
        try:
            value = _loaded(function)(*(_given(to_outside(column), function.style) for column in columns))
        except Exception as error:  # a user's function raises what it likes
            raise _failed(function, error, number) from None
        made.append(value.as_py() if isinstance(value, pa.Scalar) else value)
    try:
        outside = outside_type(data_type)
        check_fit(made, outside)
        array = pa.array(made, type=outside, from_pandas=function.style == "pandas")
        return from_outside(array, data_type)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise _unfit(function, f"returned what is no {data_type}: {error}") from None
