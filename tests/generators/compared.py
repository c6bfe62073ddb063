"""Random programs of rows with a match, or without: EXISTS, IN, SEMI, ANTI JOIN by keys and a comparison, and
rows that are compared with an aggregate.
"""

from __future__ import annotations

from dbsp.testing.choices import Choices, chance
from tests.generators.programs import Column, Program, Table, View

TYPES = (
    *("TINYINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(10,2)", "STRING"),
    *("BOOLEAN", "BINARY", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ"),
)
_NUMBERS = ("TINYINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(10,2)")
_COMPARISONS = ("<>", "<>", "<>", "<", "<=", ">", ">=", "=")


def draw_compared(choices: Choices) -> Program:
    """Up to three views over two tables of a key and of values, of which each type has a column or two."""
    types = [choices.choice(TYPES) for _ in range(choices.integer(1, 2))]
    columns = (
        # of few values, so that keys have several rows
        Column("g", choices.choice(("BOOLEAN", "BOOLEAN", "INT")), not chance(choices, 3)),
        Column("h", choices.choice(("INT", "STRING", "DOUBLE"))),
        *(
            Column(f"{name}{i}", kind, bool(choices.integer(0, 2)))
            for i, kind in enumerate(types)
            for name in "ab"
        ),
    )
    appended = chance(choices, 4)
    tables = tuple(Table(name, columns, append_only=appended or chance(choices, 6)) for name in ("t", "u"))
    drawn = [_query(choices, types) for _ in range(choices.integer(1, 3))]
    views = [View(f"v{i}", *query) for i, query in enumerate(drawn)]
    return Program(tables, tuple(views))


def _query(choices: Choices, types: list[str]) -> tuple[str, str]:
    """In Spark's spelling, and in DuckDB's."""
    right = choices.choice(("t", "u", "u"))
    if chance(choices, 5):
        return _with_aggregate(choices, types, right)
    keys = choices.choice(("g", "g", "g", "gh", "h", ""))
    tests = [f"r.{key} = l.{key}" for key in keys]
    if keys == "g" and chance(choices, 6):
        tests = ["r.g IS NOT DISTINCT FROM l.g"]
    tests += [_comparison(choices, types) for _ in range(1 + chance(choices, 5))]
    if chance(choices, 3):
        tests.append(_own(choices, types, "r"))
    if chance(choices, 5):
        tests.append(_own(choices, types, "l"))
    condition, negated = " AND ".join(tests), choices.choice(("", "NOT "))
    form = choices.choice(("exists", "exists", "exists", "in", "join", "or"))
    select = f"SELECT l.* FROM t l WHERE {_own(choices, types, 'l')} AND " if chance(choices, 4) else ""
    select = select or "SELECT l.* FROM t l WHERE "
    if form == "join":
        kind = "ANTI" if negated else "SEMI"
        query = f"SELECT l.* FROM t l LEFT {kind} JOIN {right} r ON {condition}"
        return query, query.replace(f"LEFT {kind}", kind)
    if form == "in":
        query = f"{select}l.h {negated}IN (SELECT r.h FROM {right} r WHERE {condition})"
    else:
        query = f"{select}{negated}EXISTS (SELECT 1 FROM {right} r WHERE {condition})"
    if form == "or":
        query = query.replace("WHERE ", f"WHERE {_own(choices, types, 'l')} OR ", 1)
    return query, query


def _with_aggregate(choices: Choices, types: list[str], right: str) -> tuple[str, str]:
    """Of rows that are compared with one value of each key."""
    at = choices.integer(0, len(types) - 1)
    averaged = types[at] in ("TINYINT", "INT") and chance(choices, 2)
    function = "avg" if averaged else choices.choice(("min", "max"))
    tests = [f"r.{key} = l.{key}" for key in choices.choice(("g", "g", "gh", "h", ""))]
    where = f" WHERE {' AND '.join(tests)}" if tests else ""
    if chance(choices, 3):
        where += f"{' AND ' if where else ' WHERE '}{_own(choices, types, 'r')}"
    value = f"(SELECT {function}(r.{choices.choice('ab')}{at}) FROM {right} r{where})"
    mine, operator = f"l.{choices.choice('ab')}{at}", choices.choice(_COMPARISONS)
    compared = f"{mine} {operator} {value}" if choices.integer(0, 1) else f"{value} {operator} {mine}"
    query = f"SELECT l.* FROM t l WHERE {compared}"
    return query, query


def _comparison(choices: Choices, types: list[str]) -> str:
    """Of a value of each side, which may be computed, or of another type."""
    at = choices.integer(0, len(types) - 1)
    others = [i for i, kind in enumerate(types) if {kind, types[at]} <= {*_NUMBERS}]
    other = choices.choice(others) if others and chance(choices, 3) else at
    mine, theirs = f"l.{choices.choice('aab')}{at}", f"r.{choices.choice('aab')}{other}"
    if types[at] in ("INT", "BIGINT", "STRING") and other == at and chance(choices, 4):
        mine, theirs = (f"coalesce({side}, {side[:2]}a{at})" for side in (mine, theirs))
    operator = choices.choice(_COMPARISONS)
    return f"{mine} {operator} {theirs}" if choices.integer(0, 1) else f"{theirs} {operator} {mine}"


def _own(choices: Choices, types: list[str], side: str) -> str:
    """A condition on one side alone."""
    at = choices.integer(0, len(types) - 1)
    return choices.choice(
        (
            f"{side}.a{at} IS NOT NULL",
            f"{side}.a{at} < {side}.b{at}",
            f"{side}.h IS NOT NULL",
            f"{side}.b{at} <> {side}.a{at}",
        )
    )
