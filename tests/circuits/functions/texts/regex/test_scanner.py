"""A pattern is read once, from left to right."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbsp.circuits.functions.texts.regex.scanner import Refused, Scanner


def test_what_is_read_is_behind() -> None:
    scanner = Scanner(source="ab12c")
    assert (scanner.peek(), scanner.take(), scanner.peek(2)) == ("a", "a", "b1")
    assert scanner.taken("[0-9]+") is None
    assert scanner.take() == "b"
    found = scanner.taken("[0-9]+")
    assert found is not None
    assert (found[0], scanner.take(), scanner.peek()) == ("12", "c", "")
    with pytest.raises(Refused, match="unexpected end in the regular expression 'ab12c', before character 6"):
        scanner.take()


def test_white_space_is_read_over_only_where_the_flag_holds() -> None:
    scanner = Scanner(source=" # note\n x")
    scanner.skip()
    assert scanner.peek() == " "
    scanner.flags = replace(scanner.flags, x=True)
    scanner.skip()
    assert scanner.peek() == "x"
