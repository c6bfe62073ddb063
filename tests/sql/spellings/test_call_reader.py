"""Calls by their tokens: their arguments, and calls inside them rewritten first."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.spellings.call_reader import Argument, CallReader
from dbsp.sql.spellings.rewriting import Edit
from dbsp.sql.text.tokens import tokens
from tests.sql.text.reading import source_of


class Brackets(CallReader):
    """f(a, b) becomes f[b; a]."""

    def edit(self, at: int) -> tuple[Edit | None, int]:
        if self.tokens[at].text != "f" or not self.opens(at):
            return None, at + 1
        arguments, after = self.arguments(at)
        first, second = (self.slice(argument.first, argument.stop) for argument in arguments)
        return self.replace(at, after, ["f[", second, "; ", first, "]"]), after


def reader(text: str) -> Brackets:
    source = source_of(text)
    return Brackets(source, tokens(source))


def shown(text: str) -> list[str]:
    found = reader(text)
    arguments, after = found.arguments(0)
    assert found.tokens[after - 1].text == ")"
    return [f"{a.name}:{found.plain(a).text}" if a.name else found.plain(a).text for a in arguments]


def test_arguments_are_told_apart_outside_of_parentheses() -> None:
    assert shown("f(a, g(b, (c, d)), 'x, y)' || `e,f`)") == ["a", "g(b, (c, d))", "'x, y)' || `e,f`"]
    assert shown("f()") == []
    assert shown("f(g()) , h(1)") == ["g()"]


def test_named_arguments() -> None:
    assert shown("f(Size => 1 + 2, g(b => 3), a >= 4)") == ["size:1 + 2", "g(b => 3)", "a >= 4"]


def test_calls_inside_are_rewritten_first() -> None:
    text = "1 + f(f(a, b), g(f(c, d))) + f"
    found = reader(text)
    whole = found.slice(0, len(found.tokens) - 1)
    assert whole.text == "1 + f[g(f[d; c]); f[b; a]] + f"
    for name in "abcd":
        assert text[whole.place(whole.text.index(name))] == name


def test_a_call_that_is_never_closed_is_an_error_where_it_opens() -> None:
    with pytest.raises(ProgramError, match=r"^p.sql:1:5: 'f\(' is never closed"):
        reader("1 + f(a, (b)").edits(0, 4)
    assert str(reader("a f").error(1, "no")) == "p.sql:1:3: no"
    assert Argument(3, 4) == Argument(3, 4, "")
