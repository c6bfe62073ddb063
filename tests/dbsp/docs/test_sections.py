"""Documents lose what the site doesn't have: links into the tree, and of a part the title."""

from __future__ import annotations

from dbsp.docs.sections import untitled, within, without_links


def test_links_into_the_tree_are_their_text():
    text = "[a board](examples/board.json), [there](https://example.org), [above](#here), `[x](y)`"
    assert without_links(text).startswith("a board, [there](https://example.org), [above](#here)")


def test_what_stands_below_the_title():
    assert untitled("# T\n\nbefore\n\n## A\n\nafter\n") == "before\n\n## A\n\nafter"


def test_headings_of_a_part_are_a_level_lower():
    text = "## A\n\n```\n# a comment\n```\n\n### B\n\na # b\n"
    assert within(text) == "### A\n\n```\n# a comment\n```\n\n#### B\n\na # b\n"
