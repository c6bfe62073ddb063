"""A rewritten text: what is kept stands at its own place, what is new at the place of what it replaces."""

from __future__ import annotations

import random

from dbsp.sql.spellings.rewriting import Edit, rewritten
from dbsp.sql.text.tokens import Slice
from tests.sql.text.reading import source_of


def test_kept_and_new_text_know_their_places() -> None:
    source = source_of("-- first\nSELECT HOP(ts, 5) AS w")
    call = source.text.index("HOP")
    ts = Slice("ts", source.text.index("ts"))
    text = Slice(source.text[9:], 9)
    found = rewritten(source, text, [Edit(call, call + len("HOP(ts, 5)"), ("window(", ts, ", '5')"))])
    assert found.text == "SELECT window(ts, '5') AS w"
    assert (found.start, found.stop) == (text.start, text.stop)
    places = {
        word: source.location(found.place(found.text.index(word))) for word in ("window", "ts", "'5'", "AS")
    }
    assert places == {"window": "p.sql:2:8", "ts": "p.sql:2:12", "'5'": "p.sql:2:8", "AS": "p.sql:2:19"}
    made = found.text.index("window")
    assert found.original(made, made + 2, source) == "HOP(ts, 5)"
    assert found.original(found.text.index("ts"), found.text.index("AS") + 1, source) == "ts, 5) AS"


def test_an_edit_inside_what_another_one_keeps() -> None:
    source = source_of("f(g(x))")
    inner = rewritten(source, Slice("g(x)", 2), [Edit(2, 6, ("G[", Slice("x", 4), "]"))])
    outer = rewritten(source, Slice(source.text, 0), [Edit(0, 7, ("F[", inner, "]"))])
    assert outer.text == "F[G[x]]"
    assert [outer.place(i) for i in range(8)] == [0, 0, 2, 2, 4, 2, 0, 7]


def test_without_edits_it_is_the_users_text() -> None:
    text = Slice("a b", 0)
    assert rewritten(source_of("a b"), text, []) is text


def test_any_edits() -> None:
    """Against the same replacements made on the string, from its end to its beginning."""
    choose = random.Random(1)
    for _ in range(50):
        text = "".join(choose.choices("abc \n", k=20))
        cuts = sorted(choose.choices(range(21), k=6))
        edits = [
            Edit(a, b, ("<", Slice(text[a:b], a), ">")) for a, b in zip(cuts[::2], cuts[1::2], strict=True)
        ]
        expected = text
        for edit in reversed(edits):
            expected = f"{expected[: edit.start]}<{expected[edit.start : edit.stop]}>{expected[edit.stop :]}"
        found = rewritten(source_of(text), Slice(text, 0), edits)
        assert found.text == expected
        for i, letter in enumerate(found.text):
            if letter not in "<>":
                assert text[found.place(i)] == letter
