"""Documents of the tree as pages of the site."""

from __future__ import annotations

import re

_FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^(#+ )", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]*)\]\((?!https?://|#)[^)]*\)")


def without_links(text: str) -> str:
    """Without links into the tree, most of which is no part of the site."""
    return _LINK.sub(r"\1", text)


def untitled(text: str) -> str:
    """What stands below the title."""
    return text.split("\n", 1)[1].strip()


def within(text: str) -> str:
    """As a part of another section: its headings a level lower."""
    parts = _FENCED.split(text)  # every other one is code, whose comments begin as headings do
    return "".join(part if at % 2 else _HEADING.sub(r"#\1", part) for at, part in enumerate(parts))
