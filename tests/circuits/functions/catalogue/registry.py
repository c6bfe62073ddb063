"""What of Spark's registry a view may call: every function, by the examples of Spark's own documentation.

    python -m tests.circuits.functions.catalogue.registry            every function, why it is refused
    python -m tests.circuits.functions.catalogue.registry --docs     writes the guide's part and the page

The examples are compiled as views; those over VALUES, which don't arrive, over a table too. In one that
reads no rows no constant is folded, so that a function must be maintained even where its arguments are
constants. A function is maintained if one of its examples compiles, or if the catalogue has it, whose
expressions run against Spark: some examples aggregate what the function is called for. Else what the compiler
says is why it isn't.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import dbsp.sql.catalyst.jvm.session as session_module
from dbsp.circuits.errors import ProgramError
from dbsp.sql.compiler.load import compile_program
from tests.circuits.functions.catalogue.coverage import catalogue

DOCS = Path(__file__).parents[4] / "dbsp" / "docs"
LIMITS, PAGE = DOCS / "guides" / "limits.md", DOCS / "functions.md"
BEGIN, END = "<!-- generated: registry -->\n", "<!-- end: registry -->\n"
_FOLDING = ("ConstantFolding", "ConvertToLocalRelation")
_SCALAR = "scalar functions"
_CONSTANT = "only of constants, which Spark computes"
_KINDS = {"agg_funcs": "aggregates", "window_funcs": "window functions"}
_KINDS |= dict.fromkeys(("generator_funcs", "table_funcs"), "generators and table functions")
_FAMILY = 4  # names of one first word, from which on they are shown as one

Coverage = dict[str, dict[str, str]]  # by kind and name: '' where it is maintained, else why not


def coverage(spark: Any) -> Coverage:
    """Of all functions that have an example."""
    found: Coverage = defaultdict(dict)
    tested = catalogue().keys()
    for info in spark._jvm.org.apache.spark.sql.api.python.PythonSQLUtils.listBuiltinFunctionInfos():
        examples = re.findall(r">\s*(SELECT\b.*?);", info.getExamples() or "", re.DOTALL)
        if examples:
            why = "" if info.getName() in tested else _first(_refusals(examples, spark, unfolded=True))
            if why and not _first(_refusals(examples, spark, unfolded=False)):
                why = _CONSTANT
            found[_KINDS.get(info.getGroup(), _SCALAR)][info.getName()] = why
    return found


@contextmanager
def _nothing_folded(applies: bool) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if applies:
            more = tuple(session_module._OPTIMIZER + rule for rule in _FOLDING)
            patch.setattr(session_module, "_EXCLUDED", session_module._EXCLUDED + more)
        yield


def _refusals(examples: Iterable[str], spark: Any, unfolded: bool) -> Iterator[str]:
    """Of each example why it is refused, '' if it isn't."""
    for example in examples:
        try:
            with _nothing_folded(unfolded and " FROM " not in example.upper()):
                # no column of a view that is seen may be a variant
                inside = f"CREATE LOCAL VIEW l AS SELECT * FROM ({example})"
                compile_program(f"{inside}; CREATE VIEW v AS SELECT count(*) AS n FROM l", session=spark)
            yield ""
        except ProgramError as error:
            yield str(error).split(" ", 1)[1]
        over = re.sub(r"FROM VALUES .*AS tab\(col\)", "FROM tab", example)
        if over != example:
            with suppress(ProgramError):
                compile_program(f"CREATE TABLE tab (col INT); CREATE VIEW v AS {over}", session=spark)
                yield ""


def _first(refusals: Iterator[str]) -> str:
    """'' if any is; else the first reason."""
    reasons = []
    for reason in refusals:
        if not reason:
            return ""
        reasons.append(reason)
    return reasons[0]


def said(found: Coverage) -> str:
    """What the guide of limits says of it."""
    lines = []
    for kind, functions in found.items():
        constant = sorted(name for name, why in functions.items() if why == _CONSTANT)
        refused = sorted(name for name, why in functions.items() if why not in ("", _CONSTANT))
        maintained = functions.keys() - {*refused, *constant}
        item = f"- {len(maintained)} of {len(functions)} {kind} of Spark's documentation are maintained"
        for what, names in ((_CONSTANT, constant), ("refused", refused)):
            item += f"; {what}: {', '.join(_families(names, maintained))}" if names else ""
        lines += textwrap.wrap(item, 119, subsequent_indent="  ", break_long_words=False)
    return "\n".join(lines) + "\n"


def _families(refused: list[str], maintained: Iterable[str]) -> list[str]:
    """The names, those that begin alike as one, unless one that begins so is maintained."""
    shown: dict[str, None] = {}
    kept = {name.split("_")[0] for name in maintained}
    for name in refused:
        first = name.split("_")[0]
        alike = sum(other.startswith(f"{first}_") for other in refused)
        family = alike >= _FAMILY and first not in kept and name != first
        shown[f"`{first}_*`" if family else f"`{name}`"] = None
    return list(shown)


def page(found: Coverage) -> str:
    """The site's page of functions: every name, and of what is refused why."""
    lines = [
        "# Functions",
        "",
        "Every function of Spark's documentation, and whether a view may call it, made of what the compiler",
        "says of the examples there; what a function means is said there, too.",
    ]
    for kind, functions in found.items():
        maintained = sorted(name for name, why in functions.items() if not why)
        lines += [
            "",
            f"## {kind.capitalize()}",
            "",
            f"{len(maintained)} of {len(functions)} are maintained:",
            "",
        ]
        lines += textwrap.wrap(", ".join(f"`{name}`" for name in maintained), 119, break_long_words=False)
        refused = sorted((name, why) for name, why in functions.items() if why)
        if refused:
            lines += ["", "| not maintained | why |", "| --- | --- |"]
            lines += [f"| `{name}` | {_cell(why)} |" for name, why in refused]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """Text in a table, of one line."""
    plain = " ".join(text.split())
    return re.sub(r"([|<*_`])", r"\\\1", plain if len(plain) <= 160 else plain[:157] + "...")


def written(text: str, block: str) -> str:
    """The guide with the block between its marks."""
    before, rest = text.split(BEGIN)
    return before + BEGIN + block + END + rest.split(END)[1]


def main() -> None:
    from dbsp.sql.catalyst import compile_session  # noqa: PLC0415  only where there is a session

    with compile_session() as spark:
        found = coverage(spark)
    if "--docs" in sys.argv:
        LIMITS.write_text(written(LIMITS.read_text(encoding="utf-8"), said(found)), encoding="utf-8")
        PAGE.write_text(page(found), encoding="utf-8")
    for functions in found.values():
        for name, why in sorted(functions.items()):
            print(f"{name}: {why or 'maintained'}")
    print(said(found), end="")


if __name__ == "__main__":
    main()
