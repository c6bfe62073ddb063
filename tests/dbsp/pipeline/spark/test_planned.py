"""Files between plan and read: one that is gone, one that was cut, one with a row that doesn't fit."""

from __future__ import annotations

import gzip
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from dbsp.circuits.errors import DataError, Error
from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.spark.planned import planned_files
from dbsp.sql.compiler.load import compile_program

pytestmark = pytest.mark.spark

TEXT = """
CREATE TABLE fixed (timestamp TIMESTAMP, value BIGINT) USING `rate-micro-batch` OPTIONS (rowsPerBatch 1);
CREATE TABLE sale (id BIGINT NOT NULL, units BIGINT, note STRING) USING {format}
OPTIONS (path '{0}/in put', maxFilesPerTrigger '1'{more}) WITH (mode = 'fail');
CREATE VIEW v AS SELECT id, units FROM sale;
"""


def put(place: Path, name: str, text: str | bytes, age: int = 0) -> Path:
    (place / "in put").mkdir(exist_ok=True)
    file = place / "in put" / name
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    os.utime(file, (1_700_000_000 - age,) * 2)
    return file


def opened(spark: Any, place: Path, form: str = "csv", more: str = "") -> Pipeline:
    program = compile_program(TEXT.format(place, format=form, more=more), session=spark)
    return Pipeline(program, state=place / "state", spark=spark, runner="inline")


def rows(p: Pipeline) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in p["v"].rows()]


def test_a_file_that_is_gone_before_it_is_read_is_an_error_and_is_read_when_it_is_back(
    spark: Any, tmp_path: Path
) -> None:
    put(tmp_path, "1.csv", "1,10,x\n", 10)
    gone = put(tmp_path, "2 [é].csv", "2,20,x\n")
    with opened(spark, tmp_path) as p:
        with pytest.raises(
            Error, match=r"^program.sql:3:14: table 'sale': '.*in put/2 \[é\].csv' is gone since"
        ):
            p.run(once=True, on_step=lambda changes: gone.unlink(missing_ok=True))
        assert rows(p) == [(1, 10)]
    put(tmp_path, "2 [é].csv", "2,20,x\n")
    with opened(spark, tmp_path) as p:
        p.run(once=True)
        assert rows(p) == [(1, 10), (2, 20)]


@pytest.mark.parametrize("name", ["2 [1].csv", "2{a}.csv", "2*.csv", "2?.csv"])
def test_a_name_that_is_a_pattern_is_never_read_twice(spark: Any, tmp_path: Path, name: str) -> None:
    put(tmp_path, "1.csv", "1,10,x\n", 10)
    named = put(tmp_path, name, "2,20,x\n")
    text = TEXT.format(tmp_path, format="csv", more="").replace("maxFilesPerTrigger '1'", "header 'false'")
    with Pipeline(sql=text, state=tmp_path / "state", spark=spark, runner="inline") as p:
        with pytest.raises(
            Error, match=r"table 'sale': '.*/2.*\.csv' has a character of patterns in its name"
        ):
            p.run(once=True)
        assert rows(p) == []
    named.rename(named.with_name("2.csv"))
    with Pipeline(sql=text, state=tmp_path / "state", spark=spark, runner="inline") as p:
        p.run(once=True)
        assert rows(p) == [(1, 10), (2, 20)]
    put(tmp_path, name, "3,30,x\n")
    with Pipeline(sql=text, state=tmp_path / "state", spark=spark, runner="inline") as p:
        p.run(once=True)  # alone it is read once
        assert rows(p) == [(1, 10), (2, 20), (3, 30)]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_run_goes_on_without_a_file_where_that_is_wanted(
    spark: Any, tmp_path: Path, form: str, caplog: Any
) -> None:
    for i in range(2):
        frame = spark.sql(f"SELECT {i}L AS id, 1L AS units, 'x' AS note")
        frame.coalesce(1).write.format(form).save(str(tmp_path / f"made{i}"))
        (made,) = (tmp_path / f"made{i}").glob("part*")
        put(tmp_path, f"{i}.{form}", made.read_bytes(), 10 - i)
    gone = tmp_path / "in put" / f"1.{form}"
    with opened(spark, tmp_path, form, ", ignoreMissingFiles 'true'") as p:
        p.run(once=True, on_step=lambda changes: gone.unlink(missing_ok=True))
        assert rows(p) == [(0, 1)]
        assert "is gone since the step was planned that reads it; going on without it" in caplog.text


def test_the_files_of_a_batch_are_found_after_compactions_and_restarts(spark: Any, tmp_path: Path) -> None:
    for first in (0, 15):
        for i in range(first, first + 15):
            put(tmp_path, f"{i}.csv", f"{i},1,x\n", 100 - i)
        with opened(spark, tmp_path) as p:
            p.run(once=True)
    root = tmp_path / "state" / "checkpoint"
    last = max(int(path.name) for path in (root / "offsets").iterdir() if path.name.isdigit())
    found = {batch: planned_files(root, 1, batch) for batch in range(last + 1)}
    names = [Path(file).name for files in found.values() for file in files]
    assert names == [f"{i}.csv" for i in range(30)]


def test_a_file_older_than_those_before_it_is_read(spark: Any, tmp_path: Path) -> None:
    put(tmp_path, "1.csv", "1,10,x\n")
    with opened(spark, tmp_path) as p:
        p.run(once=True)
    put(tmp_path, "2.csv", "2,20,x\n", 30 * 24 * 3600)
    with opened(spark, tmp_path) as p:
        p.run(once=True)
        assert rows(p) == [(1, 10), (2, 20)]


@pytest.mark.parametrize(
    ("form", "more", "content", "said"),
    [
        ("csv", "", "1,1,x\n2,11", ":2: the last line has no end; .* '2,11'"),
        ("json", "", '{"id": 1}\n\n{"id": 2, "uni', ":3: the last line has no end"),
        ("csv", ", lineSep ';'", "1,1,x;2,1\n", ":2: the last line has no end.*2,1"),
        ("csv", "", "1,1,x\n2,1\n", ""),
        ("csv", "", "1,1,x\r", ""),
        ("csv", "", "", ""),
        ("json", ", multiLine 'true'", '[{"id": 1}]', ""),
    ],
)
def test_a_last_line_without_an_end_is_said(
    spark: Any, tmp_path: Path, caplog: Any, form: str, more: str, content: str, said: str
) -> None:
    put(tmp_path, "1." + form, content)
    with opened(spark, tmp_path, form, more) as p, suppress(DataError):
        p.run(once=True)
    found = [record.getMessage() for record in caplog.records if record.name == "dbsp"]
    assert len(found) == bool(said)
    assert all(re.search(f"table 'sale': .*/1.{form}{said}", message) for message in found)


def test_what_is_compressed_has_no_lines(spark: Any, tmp_path: Path, caplog: Any) -> None:
    put(tmp_path, "1.csv.gz", gzip.compress(b"1,1,x\n"))
    with opened(spark, tmp_path) as p:
        p.run(once=True)
        assert rows(p) == [(1, 1)]
    assert caplog.text == ""


@pytest.mark.parametrize(
    ("form", "content", "shown"),
    [
        ("csv", "7,1,x\n,2,here\n", "id=None, units=2, note=here"),
        ("csv", "7,1,x\noops,2,here\n", "oops,2,here"),
        ("json", '{"id": 7}\n{"id": null, "units": 3}\n', "id=None, units=3, note=None"),
        ("json", '{"id": 7}\n{"id": 8, "no\n', '{"id": 8, "no'),
    ],
)
def test_a_row_without_a_value_is_named_with_its_file(
    spark: Any, tmp_path: Path, form: str, content: str, shown: str
) -> None:
    put(tmp_path, "0", '{"id": 1}\n' if form == "json" else "1,1,x\n", 10)
    bad = put(tmp_path, f"b[a]d {form}", content)
    with opened(spark, tmp_path, form) as p:
        with pytest.raises(DataError) as raised:
            p.run(once=True)
        column = "table 'sale': no value; a row needs one in column 'id' (BIGINT NOT NULL)"
        assert str(raised.value) == f"{column}; '{bad}' has none in the row: {shown}"
        assert p.last_step == 1
