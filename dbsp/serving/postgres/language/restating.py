"""What PostgreSQL's SQL says otherwise than Spark's, in Spark's words.

dbsp.public.v -> public.v        FETCH FIRST 3 ROWS ONLY -> LIMIT 3        current_user -> 'dbsp'
extract(epoch from t) -> seconds since 1970 as a DECIMAL

Each word stays where it was said, so that what is wrong is shown there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dbsp.serving.postgres.language.spelling import Word, statements

# the one database, its schemas, and whom a client is taken for
_DATABASE, _SCHEMAS = "dbsp", frozenset({"public", "pg_catalog", "information_schema"})
USER, USERS = "dbsp", frozenset({"current_user", "session_user", "user", "current_role"})
# `user` may be a column's name to Spark
_FOR_SPARK = USERS - {"user"}
# a day and a moment without a zone count as if they were UTC's, as in PostgreSQL
_SECONDS = """
CASE typeof({x}) WHEN 'timestamp' THEN CAST(CAST({x} AS TIMESTAMP) AS DECIMAL(20, 6))
ELSE CAST(CAST(CAST({x} AS TIMESTAMP_NTZ) - TIMESTAMP_NTZ '1970-01-01 00:00:00' AS INTERVAL SECOND)
AS DECIMAL(20, 6)) END
"""
# words of FETCH FIRST n ROWS ONLY, at most
_LIMIT = 24
_X = statements(_SECONDS.format(x="x"))[0]


def standard(words: Sequence[Word]) -> tuple[Word, ...]:
    """For whoever reads it: names without the database, and LIMIT for FETCH FIRST."""
    found = [
        replace(word, before=words[i - 2].before) if i > 1 and _is_database(words, i - 2) else word
        for i, word in enumerate(words)
        if not (_is_database(words, i) or _is_database(words, i - 1))
    ]
    if any(word.upper in ("FETCH", "OFFSET") for word in found[1:]):
        found = _limited(found)
    return tuple(found)


def for_spark(words: Sequence[Word]) -> Sequence[Word]:
    """For Spark: what the engine has by other names."""
    names = {word.name for word in words if word.kind == "word"}
    if not names & (_FOR_SPARK | {"epoch"}) and not any(word.text == "'epoch'" for word in words):
        return words
    return _counted(_users(words))


def columns_of(words: Sequence[Word]) -> dict[int, int]:
    """Where columns that a SELECT gives begin, without a name of their own; and where they end."""
    if not words or words[0].upper != "SELECT":
        return {}
    found, depth, start = dict[int, int](), 0, 1
    for i, word in enumerate((*words, Word("end", ","))):
        depth += (word.text in "([") - (word.text in ")]") if word.kind == "symbol" else 0
        if depth == 0 and word.upper in (",", "FROM"):
            found[start], start = i, i + 1
            if word.upper == "FROM":
                break
    return found


def _is_database(words: Sequence[Word], at: int) -> bool:
    """Whether it is the database of `dbsp.schema.name`."""
    if at < 0 or words[at].name != _DATABASE or (at and words[at - 1].text == "."):
        return False
    after = [word.name or word.text for word in words[at + 1 : at + 4]]
    return len(after) == 3 and after[0] == after[2] == "." and after[1] in _SCHEMAS


def _limited(words: Sequence[Word]) -> list[Word]:
    """FETCH FIRST | NEXT [n] ROW | ROWS ONLY, which may come after OFFSET m ROWS; LIMIT comes before it."""
    found = list(words)
    at = 0
    while at < len(found):
        end = next((j for j in range(at, min(at + _LIMIT, len(found))) if found[j].upper == "ONLY"), None)
        starts = [word.upper for word in found[at : at + 2]]
        if end is None or starts[:1] != ["FETCH"] or starts[1:] not in (["FIRST"], ["NEXT"]):
            at += 1
            continue
        count = found[at + 2 : end]
        if not count or count[-1].upper not in ("ROW", "ROWS"):
            at += 1
            continue
        limit = [replace(found[at], kind="word", text="LIMIT", before=" ")]
        limit += count[:-1] or [Word("number", "1", " ", found[at].start)]
        del found[at : end + 1]
        offset = _offset(found, at)
        found[offset:offset] = limit
        at = offset + len(limit)
    # ROW and ROWS after OFFSET m say nothing
    return [
        word
        for i, word in enumerate(found)
        if not (i > 1 and word.upper in ("ROW", "ROWS") and found[i - 2].upper == "OFFSET")
    ]


def _offset(words: Sequence[Word], at: int) -> int:
    """Where the OFFSET m ROWS begins that stands before; else where it is."""
    for size in (2, 3):
        if at >= size and words[at - size].upper == "OFFSET":
            return at - size
    return at


def _users(words: Sequence[Word]) -> list[Word]:
    found, listed = list[Word](), columns_of(words)
    for i, word in enumerate(words):
        around = words[i - 1].text if i else "", words[i + 1].text if i + 1 < len(words) else ""
        names_it = "." in around or around[1] == "(" or (i > 0 and words[i - 1].upper == "AS")
        if word.kind != "word" or word.name not in _FOR_SPARK or names_it:
            found.append(word)
            continue
        found.append(replace(word, kind="string", text=f"'{USER}'"))
        if listed.get(i) == i + 1:
            found += _named(word)
    return found


def _named(word: Word) -> list[Word]:
    return [Word("word", "AS", " ", word.start), replace(word, before=" ")]


def _counted(words: Sequence[Word]) -> list[Word]:
    """extract(epoch from x), date_part('epoch', x)"""
    found, at, listed = list[Word](), 0, columns_of(words)
    while at < len(words):
        texts = [word.text.lower().strip("'") for word in words[at : at + 4]]
        if texts[:1] not in (["extract"], ["date_part"]) or texts[1:] not in (
            ["(", "epoch", "from"],
            ["(", "epoch", ","],
        ):
            found.append(words[at])
            at += 1
            continue
        end = _closing(words, at + 1)
        argument = _counted(words[at + 4 : end])
        seconds = list[Word]()
        for word in _X:
            if word.name == "x":
                seconds += [Word("symbol", "(", word.before, words[at].start), *argument, Word("symbol", ")")]
            else:
                seconds.append(replace(word, start=words[at].start))
        opening = replace(words[at + 1], before=words[at].before, start=words[at].start)
        found += [opening, *seconds, Word("symbol", ")", start=words[at].start)]
        if listed.get(at) == end + 1:
            found += _named(words[at])
        at = end + 1
    return found


def _closing(words: Sequence[Word], opening: int) -> int:
    """Where the bracket closes; behind all words where it doesn't."""
    depth = 0
    for i in range(opening, len(words)):
        depth += (words[i].text == "(") - (words[i].text == ")") if words[i].kind == "symbol" else 0
        if depth == 0:
            return i
    return len(words)
