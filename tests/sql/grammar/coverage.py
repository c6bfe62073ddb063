"""What of Spark's grammar is maintained, ignored or refused, by an example of each of its alternatives.

python -m tests.sql.grammar.coverage            each example, and what becomes of it
python -m tests.sql.grammar.coverage --docs     writes the guide's part and the page
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.sql.grammar.alternatives import Grammar
from tests.sql.grammar.outcomes import Outcome, examples, of_queries, of_statements

DOCS = Path(__file__).parents[3] / "dbsp" / "docs"
LIMITS, PAGE = DOCS / "guides" / "limits.md", DOCS / "syntax.md"
BEGIN, END = "<!-- generated: grammar -->\n", "<!-- end: grammar -->\n"
_BEST = ("maintained", "ignored", "refused")
_SHOWN = 160  # of an example on the page


def outcomes(spark: Any) -> dict[str, Outcome]:
    """By example."""
    return of_queries(spark, examples("queries.sql")) | of_statements(spark, examples("statements.sql"))


def outcomes_of_listed(spark: Any, listed: str) -> dict[str, Outcome]:
    """The same, where what isn't on the page `listed` is taken for maintained: a third of the time."""
    found = {file: examples(file) for file in ("queries.sql", "statements.sql")}
    asked = {file: [text for text in texts if f"`{_shown(text)}`" in listed] for file, texts in found.items()}
    told = of_queries(spark, asked["queries.sql"]) | of_statements(spark, asked["statements.sql"])
    return {text: told.get(text, Outcome("maintained")) for texts in found.values() for text in texts}


def by_alternative(grammar: Grammar, found: Mapping[str, Outcome]) -> dict[str, str]:
    """The best that becomes of an example which has it."""
    kinds: dict[str, str] = dict.fromkeys(grammar.alternatives(), "")
    for text, outcome in found.items():
        for each in grammar.read(text) & kinds.keys():
            kinds[each] = min(kinds[each] or outcome.kind, outcome.kind, key=_BEST.index)
    return kinds


def said(kinds: Mapping[str, str], found: Mapping[str, Outcome]) -> str:
    """What the guide of limits says of it."""
    counts = {kind: sum(each == kind for each in kinds.values()) for kind in _BEST}
    refused = sum(outcome.kind == "refused" for outcome in found.values())
    item = (
        f"- of {len(kinds)} alternatives of Spark's grammar, of queries and of statements, "
        f"{counts['maintained']} are maintained, {counts['ignored']} ignored with a note, and "
        f"{counts['refused']} refused with a message that says why, of which Spark refuses many itself; the "
        f"[syntax](../syntax.md) has the {refused} examples that are"
    )
    return "\n".join(textwrap.wrap(item, 119, subsequent_indent="  ", break_long_words=False)) + "\n"


def page(found: Mapping[str, Outcome]) -> str:
    """The site's page of syntax: what is refused, or ignored, and what is said."""
    lines = [
        "# Syntax",
        "",
        "What Spark's parser takes and a program doesn't, or ignores, made of examples that together have",
        "every alternative of Spark's grammar; what isn't here is maintained. What a refusal says is Spark's",
        "own where Spark refuses it, too.",
    ]
    for kind in ("refused", "ignored"):
        lines += ["", f"## {kind.capitalize()}", "", "| example | what is said |", "| --- | --- |"]
        rows = [(text, outcome.said) for text, outcome in found.items() if outcome.kind == kind]
        lines += [f"| `{_shown(text)}` | {_cell(why)} |" for text, why in rows]
    return "\n".join(lines) + "\n"


def _shown(text: str) -> str:
    plain = " ".join(text.split()).replace("`", "")
    return (plain if len(plain) <= _SHOWN else plain[: _SHOWN - 3] + "...").replace("|", "\\|")


def _cell(text: str) -> str:
    return re.sub(r"([|<*_`\[\]])", r"\\\1", " ".join(text.split()))


def written(text: str, block: str) -> str:
    """The guide with the block between its marks."""
    before, rest = text.split(BEGIN)
    return before + BEGIN + block + END + rest.split(END)[1]


def main() -> None:
    from dbsp.sql.catalyst import compile_session  # noqa: PLC0415  only where there is a session

    with compile_session() as spark:
        found = outcomes(spark)
        kinds = by_alternative(Grammar(spark), found)
    if "--docs" in sys.argv:
        guide = LIMITS.read_text(encoding="utf-8")
        LIMITS.write_text(written(guide, said(kinds, found)), encoding="utf-8")
        PAGE.write_text(page(found), encoding="utf-8")
    for text, outcome in found.items():
        print(f"{outcome.kind}: {' '.join(text.split())}\n    {outcome.said}")
    print(said(kinds, found), end="")


if __name__ == "__main__":
    main()
