"""What a function computes with tells it apart; how often it is written down doesn't."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from dbsp.sql.compiler.functions.code_identity import identity_of


def made(text: str, **names: Any) -> Callable[..., Any]:
    """f of a text, among some global names; typed at a prompt, as it were."""
    among: dict[str, Any] = {"__name__": "mine.module", **names}
    exec(text, among)
    run: Callable[..., Any] = among["f"]
    return run


def identity(text: str, **names: Any) -> str:
    return identity_of("described", made(text, **names))


def test_its_text_its_defaults_and_what_it_names() -> None:
    text = "def f(x, y=1):\n    return x + y + n"
    same = identity(text, n=1)
    assert same == identity(text, n=1)
    others = [
        identity(text, n=2),
        identity(text.replace("y=1", "y=2"), n=1),
        identity(text.replace("x + y", "x - y"), n=1),
        identity_of("otherwise described", made(text, n=1)),
    ]
    assert len({same, *others}) == 5


def test_what_it_closes_over() -> None:
    def plus(number: int) -> Callable[[int], int]:
        return lambda x: x + number

    assert identity_of("", plus(1)) == identity_of("", plus(1))
    assert identity_of("", plus(1)) != identity_of("", plus(2))


def test_what_it_calls_of_its_own_package_and_of_none_else() -> None:
    text = "def f(x):\n    return g(x)"
    inner = [made(f"def f(x):\n    return x + {number}") for number in (1, 2)]
    assert identity(text, g=inner[0]) != identity(text, g=inner[1])
    for number, run in enumerate(inner):
        run.__module__ = "another.package"
        assert identity(text, g=run) == identity(text, g=inner[0]), number


def test_packages_beside_it_count_too() -> None:
    text = "def f(x):\n    return g(x)"
    inner = [made(f"def f(x):\n    return x + {number}", __name__="beside") for number in (1, 2)]
    found = {identity_of("", made(text, g=run), frozenset({"beside"})) for run in inner}
    assert len(found) == 2


def test_arguments_that_are_given_already() -> None:
    add = made("def f(x, y):\n    return x + y")
    partial = [functools.partial(add, 1), functools.partial(add, 2), functools.partial(add, y=1)]
    assert len({identity_of("", one) for one in partial}) == 3


def test_functions_that_call_each_other() -> None:
    names: dict[str, Any] = {"__name__": "mine.module"}
    exec("def f(x):\n    return g(x)\ndef g(x):\n    return f(x - 1) if x else 0", names)
    assert identity_of("", names["f"]) == identity_of("", names["f"])
