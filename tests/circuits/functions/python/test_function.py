"""A user's Python function over columns: its values, and its errors with their place and a row."""

from __future__ import annotations

import pickle
from datetime import timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.functions.python.function import PythonFunction, Text, results, results_by_group

INT, TEXT = pa.int64(), pa.string()


def of(
    text: str, style: str = "values", parameters: tuple[str, ...] = ("x",), aggregate: bool = False
) -> PythonFunction:
    """A function of that body, which stands in line 10 of program.sql."""
    return PythonFunction("f", style, aggregate, text, Text(text, parameters, None, "/dir/program.sql", 10))


def handled(text: str, style: str = "values", aggregate: bool = False) -> PythonFunction:
    return PythonFunction("f", style, aggregate, text, Text(text, (), "handler", "/dir/f.py", 1))


BODIES = {
    "values": of("return None if x is None else 2 * x + 1"),
    "arrow": handled(
        "import pyarrow.compute as pc\ndef handler(x): return pc.add(pc.multiply(x, 2), 1)", "arrow"
    ),
    "pandas": handled("def handler(x): return x * 2 + 1", "pandas"),
    "iterator": handled("def handler(batches):\n    for x in batches:\n        yield x * 2 + 1", "pandas"),
}
numbers = st.lists(st.one_of(st.none(), st.integers(-5, 5)), max_size=6)


@pytest.mark.parametrize("name", BODIES)
@given(values=numbers)
def test_every_style_is_the_same_function(name: str, values: list[int | None]) -> None:
    found = results(BODIES[name], [pa.array(values, INT)], INT)
    assert found.type == INT and found.to_pylist() == [None if v is None else 2 * v + 1 for v in values]


def test_several_arguments_and_a_pickled_callable() -> None:
    both = of("return f'{x}/{y}'", parameters=("x", "y"))
    assert results(both, [pa.array([1, 2]), pa.array(["a", None])], TEXT).to_pylist() == ["1/a", "2/None"]
    pickled = PythonFunction("f", "values", False, "abs", pickle.dumps(abs))
    assert results(pickled, [pa.array([-1, 2])], INT).to_pylist() == [1, 2]


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=20))
def test_an_error_has_a_row_that_fails_alone(values: list[int]) -> None:
    inverse = of("\n\nreturn 1 // x")
    if 0 not in values:
        assert results(inverse, [pa.array(values)], INT).to_pylist() == [1 // value for value in values]
        return
    with pytest.raises(
        EvaluationError, match=r"function 'f': ZeroDivisionError: .* \(program.sql:12\)"
    ) as raised:
        results(inverse, [pa.array(values)], INT)
    assert raised.value.row is not None and values[raised.value.row] == 0


def test_what_takes_several_rows_to_fail_has_none() -> None:
    few = handled("def handler(x):\n    assert len(x) < 3, 'too many'\n    return x", "arrow")
    with pytest.raises(EvaluationError, match="AssertionError: too many") as raised:
        results(few, [pa.array([1, 2, 3, 4])], INT)
    assert raised.value.row is None


UNFIT: list[tuple[PythonFunction, str]] = [
    (of("return 'one'"), "returned what is no int64"),
    (of("return 2 ** 63"), "returned what is no int64"),
    (of("return x / 2"), "returned what is no int64: 0.5 has a fraction"),
    (handled("def handler(x): return [1]", "arrow"), "returned list instead of a pyarrow array"),
    (handled("def handler(x): return 7", "pandas"), "returned int instead of a Series"),
    (handled("def handler(x): return x[:1]", "pandas"), "returned 1 values for 2 rows"),
    (
        handled("def handler(x): return x.cast('string')", "arrow"),
        "returned string, but is declared to return int64",
    ),
]


@pytest.mark.parametrize(("function", "said"), UNFIT)
def test_what_it_may_not_return(function: PythonFunction, said: str) -> None:
    with pytest.raises(EvaluationError, match=f"PYTHON_FUNCTION_RESULT.*{said}"):
        results(function, [pa.array([1, 2])], INT)


def test_another_width_of_the_same_kind_is_cast() -> None:
    narrow = handled("def handler(x): return x.cast('int8')", "arrow")
    assert results(narrow, [pa.array([1, None])], INT).to_pylist() == [1, None]


def test_months_are_the_calendar_s() -> None:
    same = of("return x")
    months = pa.array([14, None], INT).view(MONTHS)
    assert results(same, [months], MONTHS).equals(months)
    assert results(of("return x.months"), [months.slice(0, 1)], INT).to_pylist() == [14]
    assert results(of("return x"), [pa.array([timedelta(1)])], pa.duration("us")).to_pylist() == [
        timedelta(1)
    ]


def by_group(function: PythonFunction, *groups: list[Any]) -> list[Any]:
    listed = ((i, [pa.array(group, INT)]) for i, group in enumerate(groups))
    found: list[Any] = results_by_group(function, listed, INT).to_pylist()
    return found


def test_groups() -> None:
    total = of("return sum(v for v in x if v is not None)", aggregate=True)
    assert by_group(total, [1, 2], [], [None, 5]) == [3, 0, 5]
    greatest = handled(
        "import pyarrow.compute as pc\ndef handler(x): return pc.max(x)", "arrow", aggregate=True
    )
    assert by_group(greatest, [1, 3], [None]) == [3, None]
    with pytest.raises(EvaluationError, match="ZeroDivisionError") as raised:
        by_group(of("return 1 // x[0]", aggregate=True), [1], [0])
    assert raised.value.row == 1
    with pytest.raises(EvaluationError, match=r"PYTHON_FUNCTION_RESULT.*2\.5 has a fraction"):
        by_group(of("return sum(x) / len(x)", aggregate=True), [2, 2], [2, 3])


def test_the_text_says_nothing_but_its_identity() -> None:
    text = Text("return 1", (), None, "a.sql", 1)
    assert PythonFunction("f", "values", False, "i", text) == PythonFunction("f", "values", False, "i", b"")
    with pytest.raises(SyntaxError):
        Text("return (", (), None, "a.sql", 1).load()
    with pytest.raises(KeyError):
        Text("def other(): pass", (), "handler", "a.py", 1).load()
