"""JSON in text: awkward documents, whole ones and ones cut or mixed from their pieces."""

# ruff: noqa: E501  a function a line
from __future__ import annotations

import random

import pyarrow as pa

JSON = [
    '{"a": 1}', '{"a": {"b": [1, 2, {"c": "x"}]}, "d": null}', '[1, 2, 3]', '[{"a": 1}, {"a": 2, "b": "é"}]',
    "", " ", "null", "true", "12", '"text"', '{"a": 1.50}', '{"a": 1e400}', '{"a": 12345678901234567890}',
    '{"a": "q\\"uo\\u00e9te\\n"}', '{"a" : [ ] , "b": {}}', "{", '{"a":', '{"a": 1} x', "[1, 2", "{'a': 'single'}",
    '{"a": 1, "a": 2}', '{"A": 5}', '{"a.b": 7}', '{"a": [[1, 2], [3]]}', '{"a": true, "b": [true, null]}',
    '{"a": "2024-01-02", "b": "2024-01-02T03:04:05Z", "c": -0.0}', '{"é": "😀"}', '{"a": "1"}', '{"a": [1, "x"]}',
    '[]', '[null]', '{}', '{"a": "", "b": " "}', '{"a": NaN}', '{"a": 007}', '{"a": +1}', "{a: 1}", '{"a": -5}',
    '\ufeff{"a": 1}', '{"a": 3.0}', '{"a": 1E2, "b": 0.1}', '{"a": 2147483648}', '{"b": [1, 2.5]}',
    '{"a": 1.23456789012345678901234}', '{"a":-0}', '{"a": 0.00000001}', '{"a": -INF}', '{"a": Infinity}', '{"a":.5}', '{"a":5.}', '{"a":1,}', "[1,]",
    '{"a": [1.0, 1e5, 1E-7, 100000000000000000000, 0.1e1]}', "{'a': 'it\"s \\' '}", '{"a":"x\ty"}', '{"a":"\\u00e9\\ud83d\\ude00\\ud83d"}',
    '{"a":{"b":"\\u0001\\/\\u007f\\u2028"}}', '{"a":{"x":1,"x":2}}', '{"a":null,"a":2}', '{"b":1, "a":[1}', '{"a":[1.7976931348623157e309]}', '{"a":tru, "b":1}',
    '{"b":2,"a":{"x":tru}}', '{"a":[tru, 1],"b":2}', '{"a":true1}', '{"a":"b"x}', '12 13', '12x', '{"a":"\\x"}', '{"a":"\\u12"}', '{"a" 1}', '{"a":/*c*/1}',
    '[[1,2],[3,[4]]]', '{"a":[{"b":1},{"b":[2,3]}]}', '{"a":[{"b":1},{"c":[2,3]}]}', '{"a":[[],[]], "a":[[1,"x"],["y"]]}', '{"a":[{"b":[{"c":"x"}]}]}', '[{"a":["x"]}]',
    '{"a":0123}', '{"a":123456789012345678901234567890}', '{"a":-}', '{"a":{"c":7}}', '{"a":{"c":"7"}, "b": {"c": 300}}', '{"a":1,"b":"x","c":{"é":[1,null]}}', '["é😀"]',
]  # fmt: skip


PIECES = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"a"',
    '"b"',
    "'a'",
    "1",
    "-2.50",
    "1e3",
    '"x"',
    "null",
    "true",
    " ",
    "tru",
    '"\\u00e9',
    '"\t"',
    "NaN",
]


def documents(count: int) -> list[str | None]:
    """The written ones, then written ones with a character lost or changed, then pieces at random."""
    choose = random.Random(3)
    made: list[str | None] = [None, *JSON]
    while len(made) < count:
        whole = choose.choice(JSON)
        at = choose.randrange(len(whole) + 1)
        inserted = choose.choice(["", choose.choice(PIECES)])
        made.append(whole[:at] + inserted + whole[at + choose.randrange(3) :])
        inside = "".join(choose.choices(PIECES, k=choose.randrange(1, 6)))
        made.append(
            choose.choice(['{"a":%s, "b": 2}', '{"b":1, "a":[%s]}', "[1, {%s}, 2]", "[%s]", "%s"]) % inside
        )
    return made[:count]


TIMED = [
    '"2024-02-29"', '"2023-02-29"', '"2024-1-2"', '"2024"', '"2024-02"', '"1582-10-10"', '"0001-01-01"', '"+12345-06-07"', '"9999-12-31T23:59:59.999999Z"',
    '"2024-02-29 10:11:12"', '"2024-02-29T10:11:12.123456789+02:00"', '"2024-02-29T10:11:12 Europe/Berlin"', '"2024-02-29T10:11GMT"', '"2024-02-29GMT"', '"GMT"',
    '"12"', '"-5"', '"123"', '"-12345678"', '"-99999999"', '"2147483647"', '"99999999999"', '12', '-1', '1700000000', '9223372036854775807', '9223372036854775808', '1.5', "true", "null",
    '""', '" "', '" 2024-02-29 "', '"YQ=="', '"YWI="', '"YWJj"', '"YWJj YWI="', '"YQ"', '"YQ=="', '"Y"', '"YQ==YQ=="', '"Y Q=="', '"Y===" ', '"a-_b"', '"YWJ\\u0061"', '"YW\\/j"', '"\\nYWJj\\n"', '"YWJj*"',
    '[]', '{}', '["2024-02-29"]', '"2024-02-30T10:00:00"', "'2024-03-01'", "'YWJj'", '"=YQ="', '"YQ=a"',
]  # fmt: skip


def timed(count: int) -> list[str | None]:
    """Documents with dates, times and bytes, and what is nearly so."""
    choose = random.Random(8)
    made: list[str | None] = [None]
    for value in TIMED:
        made += [f'{{"a": {value}, "b": "2024-01-01"}}', f'{{"b": {value}, "a": [{value}], "c": {value}}}']
    while len(made) < count:
        a, b, c = choose.choices(TIMED, k=3)
        made.append(choose.choice([f'{{"a": {a}, "b": {b}, "c": {c}}}', f"[{a}, {b}, {c}]"]))
        made.append(f'{{"c": {a}, "b": [{b}, {c}]}}')
    return made[:count]


def _rows(count: int = 400) -> pa.RecordBatch:
    choose = random.Random(4)
    paths = choose.choices([None, "$.a", "$.b", "$", "$.a.b[0]", "a", "$[0]", *PATHS], k=count)
    return pa.RecordBatch.from_pydict(
        {
            "j": pa.array(documents(count), pa.string()),
            "j2": pa.array(timed(count), pa.string()),
            "p": pa.array(paths, pa.string()),
        }
    )


PATHS = [
    "$. a", "$ .a", "$['a']", " $.a", "$.a ", "$[ 0]", "$[0 ]", "$['a' ]", "$.", "$..a", "$.a.", "$[-1]", "$[99999999999999999999]",
    "$.*", "$['*']", "$['a']['b']", "$[a]", "$.a[*].b[*]", "$[*][*]", "$.a[*][*]", "$[0][*]", "$[*][*].a", "$[*][0]", "$.a[0][*].c",
    "$[0] ", "$ [0]", "$.a[*][*][*]", "$.b[2].c", "$['a b']", "$.*.a", "$[*].*", "$[*]['a'][*]",
]  # fmt: skip
ROWS = _rows()

FUNCTIONS: dict[str, list[str]] = {
    "get_json_object": [f"get_json_object(j, '{path}')" for path in (
        "$", "$.a", "$.a.b", "$.a.b[2].c", "$.a[*]", "$[0]", "$[*].a", "$.a[1]", "$.*", "a", "$[''a.b'']".replace("''", "\\'"),
        "$.a.b[*]", "$.é", "$..a", "$.a[*][0]", "$.b[1]", "$.a[*].b", "$[*][*]", "$.a[*].b[*]", "$[*].a[*]")]
                       + ["get_json_object(j, p)", "get_json_object('{\"a\":[1,{\"b\":\"é😀\"}]}', p)"],
    "json_array_length": ["json_array_length(j)"],
    "json_object_keys": ["json_object_keys(j)"],
    "from_json": [f"from_json(j, '{kind}')" for kind in (
        "a INT, b STRING", "a STRING, b ARRAY<INT>", "a STRING, b STRING", "ARRAY<STRUCT<a: BIGINT>>", "MAP<STRING, STRING>", "a BYTE, b SMALLINT",
        "a DOUBLE, b STRUCT<c: INT>", "a DECIMAL(10, 2), c DOUBLE", "a BOOLEAN, A INT", "a ARRAY<ARRAY<INT>>", "a STRUCT<b: ARRAY<STRUCT<c: STRING>>, c: INT>, b BIGINT",
        "a FLOAT, b DECIMAL(3, 0)", "MAP<STRING, INT>", "ARRAY<INT>", "ARRAY<STRING>", "a MAP<STRING, STRUCT<x: INT>>, b STRING", "a ARRAY<STRUCT<b: INT>>, d INT")]
        + ["unix_date(from_json(j2, 'a DATE, b TIMESTAMP').a)", "unix_micros(from_json(j2, 'a DATE, b TIMESTAMP').b)",
           "unix_date(from_json(j2, 'a STRING, b DATE').b)", "unix_micros(from_json(j2, 'c TIMESTAMP, b STRING').c)",
           "from_json(j2, 'a BINARY, b STRING, c BINARY')", "to_json(from_json(j2, 'a BINARY, b STRING, c ARRAY<BINARY>'))",
           "from_json(j2, 'a ARRAY<BINARY>, b STRING')", "transform(from_json(j2, 'ARRAY<DATE>'), x -> unix_date(x))",
           "transform(from_json(j2, 'a STRING, b ARRAY<TIMESTAMP>').b, x -> unix_micros(x))"]
        + ["from_json(j, 'a STRING', map('mode', 'PERMISSIVE')).a", "from_json('{\"a\": 1}', 'a INT', map('mode', 'FAILFAST'))"],
    "schema_of_csv": ["schema_of_csv('1,abc,2.5,2024-01-02')"],
    "schema_of_json": ["schema_of_json('{\"a\": 1, \"b\": [\"x\"]}')"],
}  # fmt: skip
