"""Streams: CREATE STREAM, SELECT STREAM, and what can't be one.

A stream is an append-only table; a query over it without STREAM asks for its history, which it has if it is
declared WITH (materialized = true). A view without STREAM serves both: it is a relation where its history may
be read, and a stream where SELECT STREAM reads it (see `definitions.py`); others may then read it, too.
The rows of SELECT STREAM are never retracted: each is put out once, when no further input can change it.
Where the query only adds rows that is at once; else a row waits, as with TRIGGER ON WATERMARK, until a
waterline has passed its stream key. With ORDER BY, which begins with a monotonic column, it waits until a
waterline has passed that. STREAM in a sub-query means nothing.

A column is *monotonic* if waterlines bound it, from below or above: each node of the plan says which of its
columns are (`Plan.monotonic`), by the algebra of `circuits/progress/bounds.py`.
Source: Apache Calcite, "Streaming".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from dbsp.circuits.errors import ProgramError
from dbsp.circuits.expressions.mirror import mirrored, taken
from dbsp.circuits.expressions.monotone import Bounds, bound_of
from dbsp.circuits.expressions.nodes import Expression, columns_of
from dbsp.circuits.expressions.predicates import comparisons
from dbsp.sql.catalyst.order import Order
from dbsp.sql.catalyst.reading.query import Query
from dbsp.sql.plans.calls import SortOrder
from dbsp.sql.plans.nodes import Aggregate, Expand, Join
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import Ordered, Triggers
from dbsp.sql.spellings.stream_word import is_stream_word
from dbsp.sql.text.source import Source
from dbsp.sql.text.tokens import Slice, Token, tokens_in

Shown = Sequence[SortOrder]
_LIMITS = ("LIMIT", "OFFSET")


@dataclass(frozen=True)
class Relations:
    """streams: each, and whether its history may be read. monotonic: columns of each relation so far.
    forgetful: relations whose rows leave by the clock.
    """

    streams: Mapping[str, bool]
    monotonic: Mapping[str, Bounds]
    forgetful: Set[str] = frozenset()


def emission_of_stream(source: Source, text: Slice, final: bool, order: Shown) -> Triggers | None:
    """When the rows of SELECT STREAM leave; None: at once, or the query has no STREAM.

    final: no row is changed by later ones.
    """
    word = _streaming(words_of(source, text))
    if word is None or (final and not order):
        return None
    location = source.location(word.start)
    if order:
        return Ordered(None, None, True, location, once=True, by=_ascending(order[0]))
    return Triggers(None, None, True, location, once=True)


def check_stream(
    query: Query, text: Slice, plan: Plan, relations: Relations, kind: str, order: Order, shown: Shown
) -> bool | None:
    """Whether the history of a view of the query may be read; None: it is no stream. text: as written.
    kind: of the view. order: of its rows. shown: as much of it as they are shown in.

    Raises ProgramError, which says the cure, for a query that can't be what it says.
    """
    source = query.source
    inside = words_of(source, text)
    read = plan.scanned()
    word = _streaming(inside)
    if word is None:
        known = [relations.streams[name] for name in read & relations.streams.keys()]
        return all(known) if known else None
    if not read & relations.streams.keys():
        _refuse_table(source, word, inside, sorted(read))
    if order.limit is not None:
        raise _has_no_first_rows(source, inside, query.place(order.limit))
    if shown and not _is_monotonic(shown[0], plan.monotonic(relations.monotonic)):
        raise query.error(order.dumped[0], f"ORDER BY of a stream begins with {_A_MONOTONIC}")
    if plan.forgets(relations.forgetful):
        message = "rows never leave a stream, but the clock ends a condition on now() here; leave STREAM out"
        raise source.error(word.start, message)
    for node in _nodes(plan):
        _check_node(source, word, inside, node, relations)
    return kind != "local"


def without_history(source: Source, text: Slice, name: str) -> ProgramError:
    """What is said of a view without STREAM that no SELECT STREAM reads. name: what it reads in vain."""
    cure = "declare it WITH (materialized = true), or SELECT STREAM"
    message = f"cannot convert stream '{name}' to a table; {cure}"
    return source.error(_place(words_of(source, text), name), message)


def words_of(source: Source, text: Slice) -> list[Token]:
    """The tokens of a query as written."""
    return tokens_in(source, text)


def is_streaming(inside: Sequence[Token]) -> bool:
    """Whether the query's outermost SELECT says STREAM."""
    return _streaming(inside) is not None


def _streaming(inside: Sequence[Token]) -> Token | None:
    """The STREAM of the outermost SELECT, if it has one."""
    depth = 0
    for i, token in enumerate(inside):
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0 and token.upper == "SELECT":
            return inside[i + 1] if is_stream_word(inside, i + 1) else None
    return None


def _refuse_table(source: Source, word: Token, inside: Sequence[Token], read: Sequence[str]) -> None:
    if not read:
        raise source.error(
            word.start, "cannot stream VALUES; SELECT STREAM from a stream, or leave STREAM out"
        )
    message = (
        f"cannot convert table '{read[0]}' to a stream; leave STREAM out, or declare it with CREATE STREAM"
    )
    raise source.error(_place(inside, read[0]), message)


def _has_no_first_rows(source: Source, inside: Sequence[Token], constant: int) -> ProgramError:
    """constant: where it stands how many rows are taken, or left out."""
    word = next(t for t in reversed(inside) if t.upper in _LIMITS and t.start < constant)
    return source.error(word.start, f"a stream has no {word.upper}: it never ends; leave it or STREAM out")


def _is_monotonic(by: SortOrder, known: Bounds) -> bool:
    return bound_of(_ascending(by), known) is not None


def _ascending(by: SortOrder) -> Expression:
    """What rises where the rows are in the order."""
    return mirrored(by.expression) if by.descending else by.expression


_A_MONOTONIC = (
    "a monotonic column: one with LATENESS, or an expression that keeps its order, as FLOOR(rowtime TO HOUR)"
)


def _check_node(
    source: Source, word: Token, inside: Sequence[Token], node: Plan, relations: Relations
) -> None:
    of_stream = bool(node.scanned() & relations.streams.keys())
    if isinstance(node, Aggregate) and of_stream and not node.monotonic(relations.monotonic):
        group = next((t for t in inside if t.upper == "GROUP"), word)
        sets = " in each of its sets" if isinstance(node.input, Expand) else ""
        raise source.error(group.start, f"GROUP BY of a stream needs{sets} {_A_MONOTONIC}")
    if isinstance(node, Join):
        sides = (node.left, node.right)
        if all(side.scanned() & relations.streams.keys() for side in sides) and not _is_bounded(
            node, relations
        ):
            join = next((t for t in inside if t.upper == "JOIN"), word)
            cure = "as s.rowtime BETWEEN o.rowtime AND o.rowtime + INTERVAL '1' HOUR, both with LATENESS"
            raise source.error(join.start, f"a join of two streams needs a time bound between them, {cure}")


def _is_bounded(join: Join, relations: Relations) -> bool:
    """Whether each side's progress bounds the rows of the other that it can still meet."""
    left, right = (side.monotonic(relations.monotonic) for side in join.inputs)
    for a, b in zip(join.left_keys, join.right_keys, strict=True):
        for one, other in ((a, b), (mirrored(a), mirrored(b))):
            if bound_of(one, left) is not None and bound_of(other, right) is not None:
                return True
    width = len(join.left.schema)
    of_left, of_right = dict(left), taken(right, ((width + i, i) for i in range(len(join.right.schema))))
    ahead = set()
    for greater, lesser in comparisons(join.residual):
        columns = set(columns_of(greater))
        if columns and max(columns) < width and bound_of(lesser, of_right) is not None:
            ahead.add("left")
        if columns and min(columns) >= width and bound_of(lesser, of_left) is not None:
            ahead.add("right")
    return len(ahead) == 2


def _nodes(plan: Plan) -> Iterator[Plan]:
    yield plan
    for input_ in plan.inputs:
        yield from _nodes(input_)


def _place(inside: Sequence[Token], name: str) -> int:
    """Where the query names a relation; its beginning where that is behind a view."""
    named = (t for t in inside if t.kind in ("word", "quoted") and t.text.strip("`").lower() == name.lower())
    return next(named, inside[0]).start
