"""HANDLER 'module.function': found beside the program first, loaded anew, and taken along by its code."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import pytest

from dbsp.sql.compiler.functions.handlers import (
    NoHandler,
    handler_identities,
    load_handler,
    may_define_functions,
)
from dbsp.sql.text.source import Source, as_it_is

MODULE = "dbsp_test_mine"


@pytest.fixture
def program(tmp_path: Path) -> Source:
    (tmp_path / f"{MODULE}.py").write_text(
        f"from {MODULE}_inner import one\nNUMBER = 3\ndef plus(x):\n    return x + one()\n"
    )
    (tmp_path / f"{MODULE}_inner.py").write_text("def one():\n    return 1\n")
    (tmp_path / f"{MODULE}_broken.py").write_text("raise OSError('no')\n")
    return as_it_is(f"CREATE FUNCTION f(x INT) RETURNS INT HANDLER '{MODULE}.plus'", str(tmp_path / "p.sql"))


def test_it_goes_to_the_tasks_by_its_code(program: Source) -> None:
    handler = load_handler(f"{MODULE}.plus", program)
    # no module of that name can be imported where it runs
    assert not {name for name in sys.modules if name.startswith(MODULE)}
    assert pickle.loads(handler.code)(2) == 3


def test_it_is_loaded_anew_and_what_it_imports_is_part_of_it(program: Source, tmp_path: Path) -> None:
    before = load_handler(f"{MODULE}.plus", program)
    assert load_handler(f"{MODULE}.plus", program).identity == before.identity
    (tmp_path / f"{MODULE}_inner.py").write_text("def one():\n    return 10 + 1\n")
    after = load_handler(f"{MODULE}.plus", program)
    assert after.identity != before.identity
    assert pickle.loads(after.code)(2) == 13


def test_a_programs_handlers_are_found_in_its_text(program: Source) -> None:
    assert [*handler_identities(program)] == [load_handler(f"{MODULE}.plus", program).identity]
    nobody = as_it_is("CREATE FUNCTION f HANDLER 'dbsp_test_nobody.f'", program.name)
    (problem,) = handler_identities(nobody)
    assert problem.startswith("there is no module 'dbsp_test_nobody'")
    assert [*handler_identities(as_it_is("SELECT 'HANDLER'", program.name))] == []
    assert may_define_functions("create function f")
    assert not may_define_functions("CREATE VIEW v")


@pytest.mark.parametrize(
    ("dotted", "problem"),
    [
        ("plus", "HANDLER 'plus' names no module's function: write 'module.function', or the text"),
        ("a-b.plus", "HANDLER 'a-b.plus' names no module's function"),
        ("dbsp_test_nobody.plus", "there is no module 'dbsp_test_nobody', neither beside the program in "),
        (f"{MODULE}.inner.plus", "there is no module 'dbsp_test_mine.inner', neither beside"),
        (f"{MODULE}_broken.plus", "importing 'dbsp_test_mine_broken' fails: OSError('no')"),
        (f"{MODULE}.NUMBER", "'dbsp_test_mine.NUMBER' is a int and can't be called"),
        (f"{MODULE}.plsu", "module 'dbsp_test_mine' has no 'plsu'; it has: plus; did you mean 'plus'?"),
    ],
)
def test_what_is_wrong_follows_the_functions_name(program: Source, dotted: str, problem: str) -> None:
    with pytest.raises(NoHandler) as raised:
        load_handler(dotted, program)
    assert str(raised.value).startswith(problem)
