"""Documents of the tree as pages of the site."""

from __future__ import annotations

import re

_LINK = re.compile(r"\[([^\]]*)\]\((?!https?://|#)[^)]*\)")


def without_links(text: str) -> str:
    """Without links into the tree, most of which is no part of the site."""
    return _LINK.sub(r"\1", text)


def untitled(text: str) -> str:
    """What stands below the title."""
    return text.split("\n", 1)[1].strip()
