"""Random streaming queries: SELECT STREAM wherever a query can have it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dbsp.circuits.errors import ProgramError
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.program import Program as Compiled
from dbsp.testing.choices import Choices, chance
from tests.generators.lateness import Annotated
from tests.generators.programs import Program, View, table

TABLES = (
    table("a", "k BIGINT, v BIGINT, ts TIMESTAMP", append_only=True),
    table("b", "k BIGINT, w BIGINT, at TIMESTAMP", append_only=True),
    table("p", "k BIGINT NOT NULL, name BIGINT", key=("k",)),
)
_TIME = "INTERVAL '{}' MINUTE"
_SOURCES = (
    "a",
    "a",
    "(SELECT * FROM a WHERE v > 0) a",
    "(SELECT * FROM a UNION ALL SELECT * FROM b) a",
    "a JOIN b ON a.k = b.k AND b.at BETWEEN a.ts AND a.ts + INTERVAL '6' MINUTE",
    "a LEFT JOIN b ON a.k = b.k AND b.at BETWEEN a.ts - INTERVAL '3' MINUTE AND a.ts + INTERVAL '6' MINUTE",
    "a FULL JOIN b ON a.ts = b.at",
    "a JOIN p ON a.k = p.k",
    "(SELECT * FROM a WHERE ts IN (SELECT at FROM b WHERE b.k = a.k)) a",
    "(SELECT * FROM a WHERE EXISTS (SELECT 1 FROM b "
    "WHERE b.at BETWEEN a.ts AND a.ts + INTERVAL '6' MINUTE)) a",
    "(SELECT * FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.at = a.ts AND b.w > a.v)) a",
    "(SELECT * FROM a WHERE v > (SELECT max(w) FROM b WHERE b.at = a.ts)) a",
)
_TIMES = ("ts", "date_trunc('MINUTE', ts)", "FLOOR(ts TO HOUR)", "ts + INTERVAL '5' MINUTE", "dayofweek(ts)")
_WINDOWS = ("window(ts, '10 minutes')", "window(ts, '10 minutes', '5 minutes')", "window(ts, '7 minutes')")
_CALLS = (
    "count(*)",
    "sum(v)",
    "min(v)",
    "max(ts)",
    "avg(v)",
    "count(DISTINCT v)",
    "sum(v) FILTER (WHERE v > 0)",
)


def draw_query(choices: Choices, sources: Sequence[str] = _SOURCES) -> str:
    """Over `TABLES`; with STREAM, which not all of them can have."""
    source = choices.choice(sources)
    keys = ["a.k"] if chance(choices, 2) else []
    if chance(choices, 5):
        selected = [choices.choice(_TIMES), "a.v", *keys]
        distinct = "DISTINCT " if chance(choices, 2) else ""
        return f"SELECT STREAM {distinct}{_listed(selected)} FROM {source}"
    if chance(choices, 2):
        window = choices.choice(_WINDOWS)
        time, grouped = choices.choice(["window.start", "window.end", "window"]), window
    else:
        time = grouped = choices.choice(_TIMES)
    calls = [choices.choice(_CALLS) for _ in range(choices.integer(1, 3))]
    having = " HAVING count(*) > 1" if chance(choices, 4) else ""
    group = ", ".join([grouped, *keys])
    return f"SELECT STREAM {_listed([time, *keys, *calls])} FROM {source} GROUP BY {group}{having}"


def _listed(expressions: list[str]) -> str:
    return ", ".join(f"{expression} AS c{i}" for i, expression in enumerate(expressions))


def draw_streams(choices: Choices, views: int = 3) -> Annotated:
    """A program over `TABLES`, whose streams are late by minutes."""
    queries = tuple(View(f"v{i}", draw_query(choices), None) for i in range(views))
    amounts = {key: (_TIME.format(minutes), None) for key, minutes in ((("a", "ts"), 4), (("b", "at"), 2))}
    return Annotated(Program(TABLES, queries), amounts)


# what rows of streams meet as they arrive
_MEETING = (
    "SELECT a.k, a.v, a.ts, p.name FROM a JOIN p ON a.k = p.k",
    "SELECT a.k, coalesce(p.name, a.v) AS v, a.ts FROM a LEFT JOIN p ON a.v = p.k",
    "SELECT a.k, a.v, a.ts FROM a, p WHERE p.k = a.k AND p.name > 0",
    "SELECT max(a.k) AS k, sum(a.v) AS v, a.ts FROM a JOIN p ON a.k = p.k GROUP BY a.ts",
)


def draw_defined(choices: Choices) -> Annotated:
    """Of each query, v0 has a join as a sub-query and v1 as a view, v2 as a view of that."""
    inner = choices.choice(_MEETING)
    query = draw_query(choices, [f"({inner}) a"])
    views = [
        View("met", inner, None),
        View("met_again", "SELECT * FROM met WHERE v IS NOT NULL OR v IS NULL", None),
    ]
    named = [query, query.replace(f"({inner})", "met"), query.replace(f"({inner})", "met_again")]
    views += [View(f"v{i}", one, None) for i, one in enumerate(named)]
    return replace(draw_streams(choices), program=Program(TABLES, tuple(views)))


def streaming(annotated: Annotated, session: Any) -> tuple[Annotated, Compiled]:
    """The program, without STREAM in those of its queries that can't have it."""
    program = annotated.program
    for i, view in enumerate(program.views):
        alone = replace(annotated, program=replace(program, views=(view,)))
        try:
            _compiled(alone, session)
        except ProgramError:
            plain = replace(view, query=view.query.replace("SELECT STREAM", "SELECT", 1))
            program = replace(program, views=(*program.views[:i], plain, *program.views[i + 1 :]))
    found = replace(annotated, program=program)
    return found, _compiled(found, session)


def streaming_alike(annotated: Annotated, session: Any) -> tuple[Annotated, Compiled]:
    """The program, without STREAM in all of its queries where v0 can't have it. Raises ProgramError where
    another can't though v0 can.
    """
    program = annotated.program
    alone = tuple(view for view in program.views if view.name == "v0")
    try:
        _compiled(replace(annotated, program=replace(program, views=alone)), session)
    except ProgramError:
        plain = (replace(v, query=v.query.replace("SELECT STREAM", "SELECT", 1)) for v in program.views)
        annotated = replace(annotated, program=replace(program, views=tuple(plain)))
    return annotated, _compiled(annotated, session)


def _compiled(annotated: Annotated, session: Any) -> Compiled:
    """Its append-only tables as streams, whose history other views may read."""
    lines = [
        line.replace("CREATE TABLE", "CREATE STREAM").replace("append_only", "materialized")
        if line.endswith("WITH (append_only = true);")
        else line
        for line in annotated.text.splitlines()
    ]
    return compile_program("\n".join(lines) + "\n", session=session)
