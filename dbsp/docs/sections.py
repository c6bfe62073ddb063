"""Sections of a Markdown document, by their headings, as pages of their own."""

from __future__ import annotations

import re
from collections.abc import Iterable

_FENCE = re.compile(r"^\s*```")
_LINK = re.compile(r"\[([^\]]*)\]\((?!https?://|#)[^)]*\)")


def sections(text: str) -> dict[str, str]:
    """By heading of the second level what follows it; what stands before the first one is ''."""
    found: dict[str, list[str]] = {"": []}
    heading, fenced = "", False
    for line in text.splitlines():
        fenced ^= _FENCE.match(line) is not None
        if line.startswith("## ") and not fenced:
            heading = line.removeprefix("## ").strip()
            found[heading] = []
        else:
            found[heading].append(line)
    return {name: "\n".join(lines).strip() + "\n" for name, lines in found.items()}


def page(title: str, text: str, headings: Iterable[str]) -> str:
    """Some sections of a document, under a title. Raises KeyError for one that isn't there."""
    there = sections(text)
    return f"# {title}\n\n" + "\n".join(f"## {heading}\n\n{there[heading]}" for heading in headings)


def without_links(text: str) -> str:
    """Without links into the tree, most of which is no part of the site."""
    return _LINK.sub(r"\1", text)
