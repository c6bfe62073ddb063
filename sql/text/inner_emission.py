"""TRIGGER and EMIT of a common table expression: of the view, if that is nothing but its rows.

    CREATE VIEW v AS WITH c AS (SELECT k, count(*) AS n FROM t GROUP BY k TRIGGER COUNTING 2) SELECT * FROM c

They say when a view's changes leave. What groups or joins c reads c itself, and not what has left of it:
there a trigger has nothing to say, and is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from dbsp.sql.text.emission_clauses import Clause, begins_emission, emission_clause, emission_stop
from dbsp.sql.text.tokens import Cursor, Slice, Token

# after which a query is more than the rows that it reads
_MORE = frozenset(
    {
        "GROUP",
        "DISTINCT",
        "JOIN",
        "UNION",
        "EXCEPT",
        "INTERSECT",
        "MINUS",
        "HAVING",
        "OVER",
        "LIMIT",
        "OFFSET",
    }
    | {"LATERAL", "PIVOT", "UNPIVOT", "QUALIFY", "WINDOW"}
)


def inner_emission(cursor: Cursor, query: Slice) -> Clause | None:
    """The clause within the query. Raises ProgramError where it can't be the view's."""
    inside = [token for token in cursor.tokens if query.start <= token.start < query.stop]
    inside.append(Token("end", "", query.stop, query.stop))
    places = [at for at in range(len(inside)) if begins_emission(inside, at)]
    if not places:
        return None
    at, stop = places[0], emission_stop(inside, places[0])
    word = inside[at].upper
    name = _expression_around(inside, at)
    if len(places) > 1 or name is None or not _is_all(inside, name):
        what = "a query" if name is None else f"'{name}'"
        cursor.fail(
            f"{word} says when a view's changes leave, and what reads {what} here reads all of it: write "
            f"{word} at the statement's end, or CREATE VIEW {name or 'v'} AS ... {word} ...",
            inside[at],
        )
    return emission_clause(Cursor(cursor.source, [*inside[at:stop], inside[-1]]))


def _expression_around(inside: Sequence[Token], at: int) -> str | None:
    """The name of the common table expression whose query the token ends."""
    depth = 0
    for i in range(at, 0, -1):
        depth += (inside[i].text == "(") - (inside[i].text == ")")
        if depth > 0:
            is_named = inside[i - 1].upper == "AS" and i > 1 and inside[0].upper == "WITH"
            return inside[i - 2].text.strip("`") if is_named else None
    return None


def _is_all(inside: Sequence[Token], name: str) -> bool:
    """Whether the query, behind its common table expressions, is rows of that one."""
    depth, main = 0, list[Token]()
    for token in inside[:-1]:
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0 and (main or token.upper in ("SELECT", "FROM")):
            main.append(token)
    words = [token.upper for token in main]
    reads = [main[i + 1].text for i in range(len(main) - 1) if words[i] == "FROM"]
    read = words[words.index("FROM") :] if "FROM" in words else []
    return (
        [one.strip("`").lower() for one in reads] == [name.lower()]
        and "," not in read
        and not (set(words) & _MORE)
    )
