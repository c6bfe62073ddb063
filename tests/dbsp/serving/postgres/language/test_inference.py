"""A parameter's type is that of what it is compared with, cast to, or written into."""

from __future__ import annotations

import pyarrow as pa

from dbsp.serving.postgres.language.inference import inferred
from dbsp.serving.postgres.language.spelling import parameters_of, statements
from dbsp.serving.postgres.language.types import (
    DATE,
    FLOAT8,
    INT4,
    INT8,
    INTERVAL,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    UUID,
)
from dbsp.sql.plans.schemas import Field

VIEWS = {
    "v": (Field("id", pa.int64(), False), Field("day", pa.date32(), True), Field("same", pa.int32(), True)),
    "w": (Field("id", pa.int64(), False), Field("same", pa.string(), True)),
}


def _types(said: str, *named: int) -> list[int]:
    (words,) = statements(said)
    return inferred(words, [*named, *[0] * (parameters_of(words) - len(named))], VIEWS)


def test_of_a_column_or_a_cast() -> None:
    assert _types("SELECT * FROM v WHERE id = $1 AND $2 <= v.day") == [INT8, TEXT]
    assert _types("SELECT * FROM v WHERE id >= $1 AND $2 <= day") == [INT8, DATE]
    assert _types("SELECT * FROM v WHERE day <> $1 OR upper(x) = $2::text OR $3::int4 > 1") == [
        DATE,
        TEXT,
        INT4,
    ]


def test_of_names_of_several_words_and_of_limits() -> None:
    said = "$1::timestamp with time zone, CAST($2 AS double precision), $3::varchar(3), $4::uuid, $5::jsonb"
    assert _types(f"SELECT {said}") == [TIMESTAMPTZ, FLOAT8, TEXT, UUID, TEXT]
    assert _types("SELECT $1::string, CAST($2 AS INTERVAL), $3::timestamp_ntz") == [TEXT, INTERVAL, TIMESTAMP]
    assert _types("SELECT * FROM v LIMIT $1 OFFSET ($2)") == [INT8, INT8]
    assert _types("SELECT * FROM v LIMIT $1", INT4) == [INT4]


def test_of_the_column_that_it_is_written_into() -> None:
    assert _types("INSERT INTO v VALUES ($1, $2, 1), ($3, $4, $5 + 1)") == [INT8, DATE, INT8, DATE, TEXT]
    assert _types('INSERT INTO public.v ("day", id) VALUES ($1, f($2, $3)), ($4, $5)') == [
        *(DATE, TEXT, TEXT),
        *(DATE, INT8),
    ]
    assert _types("INSERT INTO none (id) VALUES ($1)") == _types("INSERT INTO v SELECT $1") == [TEXT]
    assert (
        _types("INSERT INTO v (none) VALUES ($1)") == _types("INSERT INTO v VALUES (1, 2, 3, $1)") == [TEXT]
    )


def test_what_is_named_or_could_be_two_stays() -> None:
    assert _types("SELECT * FROM v WHERE id = $1", INT4) == [INT4]
    assert _types("SELECT * FROM v JOIN w USING (id) WHERE same = $1 AND id = $2") == [TEXT, INT8]
    assert _types("SELECT * FROM w WHERE day = $1") == [TEXT]
