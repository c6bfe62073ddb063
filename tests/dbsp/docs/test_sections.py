"""Sections are cut at headings, but not at those within code."""

from __future__ import annotations

import pytest

from dbsp.docs.sections import page, sections, without_links

TEXT = "# T\n\nbefore\n\n## A b\n\na\n\n### deeper\n\n```\n## no heading\n```\n\n## C\n\nc\n"


def test_sections_are_by_heading():
    assert sections(TEXT) == {
        "": "# T\n\nbefore\n",
        "A b": "a\n\n### deeper\n\n```\n## no heading\n```\n",
        "C": "c\n",
    }


def test_a_page_is_of_some_sections():
    assert page("Title", TEXT, ["C"]) == "# Title\n\n## C\n\nc\n"
    with pytest.raises(KeyError, match="D"):
        page("Title", TEXT, ["C", "D"])


def test_links_into_the_tree_are_their_text():
    text = "[a board](examples/board.json), [there](https://example.org), [above](#here), `[x](y)`"
    assert without_links(text).startswith("a board, [there](https://example.org), [above](#here)")
