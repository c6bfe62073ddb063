"""Names of functions follow from Catalyst's classes, and each is said once."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import _FUNCTIONS, form, kernel, registered, snake_case


@pytest.fixture
def undone() -> Iterator[None]:
    """The functions as they were."""
    before = dict(_FUNCTIONS)
    yield
    _FUNCTIONS.clear()
    _FUNCTIONS.update(before)


# classes of org.apache.spark.sql.catalyst.expressions
@pytest.mark.parametrize(
    ("catalyst", "name"),
    [
        ("EqualTo", "equal_to"),
        ("Add", "add"),
        ("StringSplitSQL", "string_split_sql"),
        ("IsNaN", "is_na_n"),
        ("Sha2", "sha2"),
        ("XxHash64", "xx_hash64"),
        ("ToUTCTimestamp", "to_utc_timestamp"),
        ("Log1p", "log1p"),
        ("UnBase64", "un_base64"),
        ("Md5", "md5"),
        ("TruncDate", "trunc_date"),
        ("JsonToStructs", "json_to_structs"),
        ("ArraysZip", "arrays_zip"),
    ],
)
def test_names(catalyst: str, name: str) -> None:
    assert snake_case(catalyst) == name


@pytest.mark.usefixtures("undone")
@pytest.mark.parametrize("register", [kernel, form])
def test_a_name_is_registered_once(register: object) -> None:
    @kernel("test_only")
    def run(call: Call) -> pa.Scalar:
        return pa.scalar(1)

    function = registered()["test_only"]
    assert (function.name, function.run, function.is_form) == ("test_only", run, False)
    assert function.refuse(Call("test_only", (), pa.int64())) is None
    with pytest.raises(AssertionError, match="test_only"):
        register("test_only")(run)  # type: ignore[operator]


@pytest.mark.usefixtures("undone")
def test_what_is_not_covered_is_said() -> None:
    @form("test_form", refuse=lambda call: None if call.arguments else "no arguments")
    def run(call: Call, rows: pa.RecordBatch, evaluate: object) -> pa.Scalar:
        return pa.scalar(1)

    function = registered()["test_form"]
    assert function.is_form and function.run is run
    assert function.refuse(Call("test_form", (), pa.int64())) == "no arguments"


@pytest.mark.usefixtures("undone")
def test_an_import_that_was_interrupted_can_be_repeated() -> None:
    """As by Ctrl-C in a notebook, which forgets the module and not what it has registered."""
    name = "dbsp.circuits.functions.numbers.rounding"
    before = importlib.import_module(name)
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, name)
        again = importlib.import_module(name)
        assert registered()["round"].run is again.half_up is not before.half_up
