"""Which of Spark's built-in scalar functions compile and are tested.

    python -m tests.circuits.functions.catalogue.coverage

A function is covered if the catalogue in scalar/ has it, whose expressions all run against Spark.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

FAMILIES = ("numbers", "texts", "times", "collections", "documents", "evaluated", "formats")

# Groups of Spark's whose functions aren't scalar: they have their own operators.
_NOT_SCALAR = {"agg_funcs", "window_funcs", "generator_funcs", "table_funcs"}
_OPERATORS = {"!=", "<>", "||", "case"}  # listed by SHOW FUNCTIONS only


def catalogue() -> dict[str, list[str]]:
    """The expressions that test each function, of all families."""
    found: dict[str, list[str]] = {}
    for family in FAMILIES:
        functions = import_module(f"tests.circuits.functions.catalogue.{family}")
        for part in (functions.FUNCTIONS, getattr(functions, "ELEMENTARY", {})):
            for name, texts in part.items():
                found.setdefault(name, []).extend(texts)
    return found


def scalar_functions(spark: Any) -> set[str]:
    """The names Spark lists, without aggregates, window functions and generators."""
    infos = spark._jvm.org.apache.spark.sql.api.python.PythonSQLUtils.listBuiltinFunctionInfos()
    groups = {info.getName(): info.getGroup() for info in infos}
    names = {row[0] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()}
    return {name for name in names if groups.get(name) not in _NOT_SCALAR}


def calls(name: str, text: str) -> bool:
    """Whether an expression uses the function."""
    if re.fullmatch(r"\w+", name):
        return re.search(rf"(?i)\b{name}\b", text) is not None
    return name in text


def main() -> None:
    from dbsp.sql.catalyst import compile_session  # noqa: PLC0415  only where there is a session

    with compile_session() as spark:
        names, covered = scalar_functions(spark), catalogue()
    for name in sorted(names):
        print(f"{'tested' if name in covered else '-':8}{name}")
    print(f"{len(names & covered.keys())} of {len(names)} scalar functions")


if __name__ == "__main__":
    main()
