"""Rows as HTML: each value is text, whatever it says."""

from __future__ import annotations

from html.parser import HTMLParser

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.forms.json_text import encode, plain
from dbsp.views.html import html_table


class Read(HTMLParser):
    """The texts of cells, and every tag."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.tags: set[str] = set()
        self.inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)
        self.inside = tag
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        if self.inside in ("td", "th"):
            self.cells[-1] += data


TEXTS = st.text(st.characters(exclude_characters="\r", exclude_categories=["Cs", "Cc"]), max_size=6)


@given(TEXTS, st.lists(st.none() | TEXTS | st.just("<script>&amp;</td>"), max_size=3))
def test_nothing_of_a_value_is_markup(name: str, values: list[str | None]) -> None:
    column = pa.array(values, pa.string())
    read = Read(html_table("<v>", pa.RecordBatch.from_arrays([column], names=[name]), 3))
    assert read.cells == [name, *map(plain, encode(column))]
    assert read.tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td"}


def test_numbers_stand_to_the_right_and_long_texts_are_cut() -> None:
    rows = pa.record_batch({"n": pa.array([1]), "s": pa.array(["x" * 300])})
    html = html_table("v", rows, 1234)
    assert ">v, 1 of 1,234 rows</caption>" in html
    assert '<td style="text-align: right">1</td>' in html
    assert "x" * 200 + "…" in html
    assert "x" * 201 not in html
