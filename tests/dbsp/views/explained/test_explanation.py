"""A program explained: the text of `dbsp explain`, and a drawing that is well formed."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from dbsp.views.changes import UnknownView
from dbsp.views.explained.program import explain_program
from tests.dbsp.build import pipeline, votes_program


def test_it_is_a_text_and_in_a_notebook_a_drawing() -> None:
    with pipeline() as p:
        explained = p.explain()
        assert str(explained) == repr(explained) == explain_program(votes_program(), None, "text")
        drawn = ElementTree.fromstring(explained._repr_svg_())
        assert "= customers" in "".join(drawn.itertext())
        assert explained.form("dot").startswith("digraph program {")


def test_of_one_view_it_is_what_that_needs() -> None:
    with pipeline() as p:
        drawn = p.explain("COUNTS")._repr_svg_()
        assert "= counts" in drawn
        assert "= customers" not in drawn
        with pytest.raises(UnknownView, match="unknown view 'count'; views: all_votes, counts"):
            p.explain("count")
