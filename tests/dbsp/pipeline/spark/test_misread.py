"""Of a text that Spark can't read, the values are named that are none of their columns' types."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path
from typing import Any

import pytest

from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program

pytestmark = pytest.mark.spark

COLUMNS = {
    "id": "INT",
    "amount": "DECIMAL(6,2)",
    "at": "TIMESTAMP",
    "day": "DATE",
    "is_new": "BOOLEAN",
    "name": "STRING",
}
GOOD = {
    "id": "7",
    "amount": "1.25",
    "at": "2024-01-01T00:00:00",
    "day": "2024-01-01",
    "is_new": "true",
    "name": "a,b",
}
BAD = {
    "id": ["x", "1.5", "99999999999"],
    "amount": ["12345.678", "x"],
    "at": ["noon"],
    "day": ["x"],
    "is_new": ["maybe"],
}


def rows(spark: Any, root: Path, form: str, columns: str, options: str = "") -> list[dict[str, Any]]:
    source = f"USING {form} OPTIONS (path '{root}/in'{options}) WITH (mode = 'keep')"
    text = f"CREATE TABLE t ({columns}) {source}; CREATE VIEW v AS SELECT * FROM t;"
    program = compile_program(text, session=spark)
    with Pipeline(program, state=root / "state", spark=spark, runner="inline") as p:
        p.run(once=True)
        return p["bad_rows"].rows()


def reason_of(row: dict[str, str], quote: str) -> str:
    wrong = [name for name in BAD if row[name] in BAD[name]]
    return "; ".join(f"column '{name}': {quote}{row[name]}{quote} is no {COLUMNS[name]}" for name in wrong)


@pytest.mark.parametrize("form", ["csv", "json"])
def test_each_value_is_named(spark: Any, tmp_path: Path, form: str) -> None:
    """Whatever others are beside it, NULL among them."""
    draw, expected, lines = random.Random(form), [], []
    for number in range(200):
        row = {name: draw.choice([good, "", *BAD.get(name, [])]) for name, good in GOOD.items()}
        row["name"] = f"{row['name']}{number}"
        if form == "json":
            values = {
                n: json.loads(v) if v == GOOD[n] and n in ("id", "is_new") else v for n, v in row.items()
            }
            text = json.dumps({n: v or None for n, v in values.items() if v or draw.random() < 0.5})
        else:
            written = io.StringIO()
            csv.writer(written, lineterminator="").writerow(row.values())
            text = written.getvalue()
        lines.append(text)
        if reason := reason_of(row, '"' if form == "json" else "'"):
            expected.append((number, reason))
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_text("\n".join(lines) + "\n")
    columns = ", ".join(f"{name} {type_}" for name, type_ in COLUMNS.items())
    found = rows(spark, tmp_path, form, columns)
    assert len(expected) > 100
    assert sorted((lines.index(row["text"]), row["reason"]) for row in found) == expected


@pytest.mark.parametrize(
    ("form", "columns", "options", "text", "reason"),
    [
        ("json", "id INT", "", '{"id": 3,', "the record is broken, or no JSON object"),
        ("json", "id INT", "", "7", "the record is broken, or no JSON object"),
        ("json", "id INT", "", "{'id': 'x', n: 1}", "the record is broken, or no JSON object"),
        (
            "json",
            "id INT, s STRUCT<x: INT>",
            "",
            '{"id": 1, "s": {"x": "y"}}',
            "a value is none of its column's type, or",
        ),
        (
            "json",
            "id INT, s STRUCT<x: INT>",
            "",
            '{"s": [1, "é"]}',
            "column 's': [1, \"é\"] is no STRUCT<x: INT>",
        ),
        (
            "json",
            "id INT, n STRING",
            "",
            "{'id': 'x', 'n': 'a'}",
            "a value is none of its column's type, or the record",
        ),
        ("json", "id INT", "", f'{{"id": "{"x" * 90}"}}', f"column 'id': \"{'x' * 79}... is no INT"),
        ("csv", "id INT, n STRING", "", "1", "the record has 1 values for 2 columns"),
        ("csv", "id INT, n STRING", "", "1,a,b", "the record has 3 values for 2 columns"),
        ("csv", "id INT, n STRING", ", sep '|'", "x|a", "column 'id': 'x' is no INT"),
        (
            "csv",
            "id INT, n STRING",
            ", delimiter '||'",
            "x||a",
            "a value is none of its column's type, or the record",
        ),
        ("csv", "id INT, n INT", ", nullValue 'NA'", "x,NA", "column 'id': 'x' is no INT"),
        (
            "csv",
            "id INT, n INT",
            ", quote ''",
            'x,"',
            "column 'id': 'x' is no INT; column 'n': '\"' is no INT",
        ),
        ("csv", "id INT, n STRING", ", escape '\"'", 'x,"a, ""b"""', "column 'id': 'x' is no INT"),
        ("csv", "id INT, n INT", ", escape ''", "x,1", "column 'id': 'x' is no INT"),
        ("csv", "id INT, n STRING", "", '"x\\"",a', "column 'id': 'x\"' is no INT"),
    ],
)
def test_what_is_said(
    spark: Any, tmp_path: Path, form: str, columns: str, options: str, text: str, reason: str
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_text(text + "\n")
    (row,) = rows(spark, tmp_path, form, columns, options)
    assert row["text"] == text
    assert row["reason"].startswith(reason)


@pytest.mark.parametrize(
    ("form", "text", "options", "reason"),
    [
        ("json", b'{"id": "\xff\xfe"}', "", "column 'id': \"\ufffd\ufffd\" is no INT"),
        ("json", b'{"id": "\\ud800"}', "", "column 'id': \"\\ud800\" is no INT"),
        (
            "json",
            b'{"id": ' + b"[" * 200_000 + b"]" * 200_000 + b"}",
            "",
            "the record is broken, or no JSON object",
        ),
        ("json", b'{"id": ' + b"9" * 5000 + b"}", "", "the record is broken, or no JSON object"),
        ("csv", b"\xff,1", "", "column 'id': '\ufffd' is no INT"),
        ("csv", b"x" * 200_000 + b",1", "", "a value is none of its column's type, or the record is broken"),
        ("csv", b"x,1,2", ", escape '\"'", "the record has 3 values for 2 columns"),
        ("csv", b'x"y,1', ", escape ','", None),
    ],
)
def test_no_text_stops_a_run(
    spark: Any, tmp_path: Path, form: str, text: bytes, options: str, reason: str | None
) -> None:
    """Whatever Python's readers think of it; beside a row that is good."""
    (tmp_path / "in").mkdir()
    good = b'{"id": 1}' if form == "json" else b"1,1"
    (tmp_path / "in" / "a").write_bytes(good + b"\n" + text + b"\n")
    (row,) = rows(spark, tmp_path, form, "id INT, n INT", options)
    assert row["text"] == text.decode(errors="replace")
    assert reason is None or row["reason"] == reason
