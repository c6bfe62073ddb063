"""Sources whose records are changes: envelopes, the order in which records count, and bad ones."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dbsp.circuits.errors import DataError, Error
from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.spark.records import decoded_fields
from dbsp.sql.compiler.load import compile_program

pytestmark = pytest.mark.spark

ENVELOPES = """
CREATE TABLE keyed (id BIGINT PRIMARY KEY, name STRING, note STRING)
USING json OPTIONS (path '{0}') WITH (changelog = 'debezium');
CREATE TABLE bag (id BIGINT, name STRING) USING json OPTIONS (path '{0}') WITH (changelog = 'debezium');
CREATE VIEW of_keys AS SELECT id, name FROM keyed;
CREATE VIEW of_bag AS SELECT name, count(*) AS n FROM bag GROUP BY name;
"""
OTHERS = """
CREATE TABLE maxwell (id BIGINT PRIMARY KEY, name STRING)
USING json OPTIONS (path '{0}/maxwell') WITH (changelog = 'maxwell');
CREATE TABLE fed (id BIGINT PRIMARY KEY, name STRING)
USING parquet OPTIONS (path '{0}/feed') WITH (changelog = 'change-data-feed');
CREATE TABLE bag (id BIGINT, name STRING)
USING parquet OPTIONS (path '{0}/feed') WITH (changelog = 'change-data-feed');
CREATE VIEW of_maxwell AS SELECT * FROM maxwell;
CREATE VIEW of_feed AS SELECT * FROM fed;
CREATE VIEW of_bag AS SELECT * FROM bag;
"""
UPSERTS = """
CREATE TABLE t (id BIGINT PRIMARY KEY, name STRING, __op STRING)
USING json OPTIONS (path '{0}', maxFilesPerTrigger '{1}') WITH (mode = 'fail');
CREATE VIEW v AS SELECT * FROM t;
"""


@contextmanager
def opened(spark: Any, tmp_path: Path, text: str) -> Iterator[Pipeline]:
    (tmp_path / "in").mkdir(exist_ok=True)
    program = compile_program(text, session=spark)
    with Pipeline(program, state=tmp_path / "state", spark=spark, runner="inline") as p:
        yield p


def write(file: Path, *records: dict[str, Any], time: int = 0) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    os.utime(file, (1_700_000_000 + time,) * 2)


def envelope(op: str, before: dict[str, Any] | None, after: dict[str, Any] | None) -> dict[str, Any]:
    return {"before": before, "after": after, "op": op, "ts_ms": 1, "source": {"table": "t"}}


def test_maxwell_and_a_change_data_feed_are_a_table(spark: Any, tmp_path: Path) -> None:
    """A feed's files come in any order, as Delta's do; in both a row gets another key."""
    one, two, moved = {"id": 1, "name": "a"}, {"id": 2, "name": "b"}, {"id": 3, "name": "a"}
    write(
        tmp_path / "in" / "maxwell" / "1.json",
        {"database": "d", "type": "bootstrap-start", "data": {}},
        *({"database": "d", "type": "insert", "ts": 1, "data": row} for row in (one, two)),
        {"database": "d", "type": "update", "data": moved, "old": {"id": 1}},
        {"database": "d", "type": "delete", "data": two},
    )
    feed = [(1, "a", "insert", 1), (2, "b", "insert", 1)]
    later = [(3, "a", "update_postimage", 2), (1, "a", "update_preimage", 2), (2, "b", "delete", 3)]
    columns = "id BIGINT, name STRING, _change_type STRING, _commit_version BIGINT"
    for rows in (later, feed):
        frame = spark.createDataFrame(rows, columns).coalesce(1)
        frame.write.mode("append").parquet(str(tmp_path / "in" / "feed"))
    with opened(spark, tmp_path, OTHERS.format(tmp_path / "in")) as p:
        p.run(once=True)
        assert [p[view].rows() for view in ("of_maxwell", "of_feed", "of_bag")] == [[moved]] * 3


def test_envelopes_are_a_table(spark: Any, tmp_path: Path) -> None:
    one, two, three = ({"id": i, "name": name} for i, name in ((1, "a"), (2, "b"), (1, "c")))
    with opened(spark, tmp_path, ENVELOPES.format(tmp_path / "in")) as p:
        assert p.run(once=True) == 0  # of nothing
        write(tmp_path / "in" / "1.json", envelope("r", None, one), envelope("c", None, two))
        p.run(once=True)
        assert p["of_keys"].rows() == [one, two]
        with_schema = {"schema": {"type": "struct"}, "payload": envelope("u", one, three)}
        write(tmp_path / "in" / "2.json", with_schema, envelope("d", two, None), time=1)
        p.run(once=True)
        assert p["of_keys"].rows() == [three]
        assert p["of_bag"].rows() == [{"name": "c", "n": 1}]


def test_a_key_s_last_record_counts_whatever_file_it_is_in(spark: Any, tmp_path: Path) -> None:
    """Spark gives the largest files of a batch to its tasks first."""
    many = [{"id": i, "name": "old", "__op": "I"} for i in range(5000)]
    write(tmp_path / "in" / "z.json", {"id": 1, "name": "new", "__op": "U"}, {"id": 2, "__op": "D"}, time=2)
    write(tmp_path / "in" / "b.json", {"id": 3, "name": "x", "__op": "U"}, {"id": 3, "__op": "D"}, time=1)
    write(tmp_path / "in" / "a.json", {"id": 1, "__op": "D"}, {"id": 3, "__op": "D"}, time=1)
    write(tmp_path / "in" / "x.json", *many, time=0)
    with opened(spark, tmp_path, UPSERTS.format(tmp_path / "in", 100)) as p:
        assert p.run(once=True) == 1
        held = {row["id"]: row["name"] for row in p["v"].rows()}
    assert held == {i: "new" if i == 1 else "old" for i in range(5000) if i not in (2, 3)}


def test_a_step_s_directory_that_comes_late_is_refused(spark: Any, tmp_path: Path) -> None:
    steps = [tmp_path / "in" / f"__step={n}" / "x.json" for n in (1, 2, 3)]
    write(steps[0], {"id": 1, "name": "a", "__op": "I"}, time=0)
    write(steps[2], {"id": 1, "__op": "D"}, time=1)
    text = UPSERTS.format(tmp_path / "in", 1)
    with opened(spark, tmp_path, text) as p:
        assert p.run(once=True) == 2
        assert p["v"].rows() == []
    write(steps[1], {"id": 1, "name": "b", "__op": "U"}, time=2)
    with opened(spark, tmp_path, text) as p:
        with pytest.raises(Error, match=r"table 't': '.*/__step=2/x.json' came after __step=3 was read"):
            p.run(once=True)
        assert (p.last_step, p["v"].rows()) == (2, [])


@pytest.mark.parametrize(
    ("record", "error"),
    [
        ({"id": 7, "name": "x", "__op": "?"}, "__op is 'I', 'U' or 'D', not '[?]'; the record in 'file:"),
        (
            {"name": "x", "__op": "I"},
            r"column 'id' \(BIGINT NOT NULL\); the record in 'file:.*bad.json': id=None, name",
        ),
    ],
)
def test_a_bad_record_names_its_file(spark: Any, tmp_path: Path, record: dict[str, Any], error: str) -> None:
    write(tmp_path / "in" / "bad.json", {"id": 1, "name": "a", "__op": "I"}, record)
    text = UPSERTS.format(tmp_path / "in", 1)
    with opened(spark, tmp_path, text) as p:
        with pytest.raises(DataError, match=error):
            p.run(once=True)
        assert p.last_step == 0
    write(tmp_path / "in" / "bad.json", {"id": 1, "name": "a", "__op": "I"})
    with opened(spark, tmp_path, text) as p:
        p.run(once=True)
        assert p["v"].rows() == [{"id": 1, "name": "a"}]


def test_a_bad_record_of_a_bag_names_its_file(spark: Any, tmp_path: Path) -> None:
    text = """
    CREATE TABLE t (id BIGINT, __weight BIGINT) USING json OPTIONS (path '{0}') WITH (mode = 'fail');
    CREATE VIEW v AS SELECT * FROM t;
    """
    write(tmp_path / "in" / "good.json", {"id": 1, "__weight": 1})
    write(tmp_path / "in" / "b d%3F.json", {"id": 1, "__weight": 1}, {"id": 2, "__weight": 0}, time=1)
    with opened(spark, tmp_path, text.format(tmp_path / "in")) as p:
        wanted = (
            r"__weight is a number other than 0, not 0; the record: id=2, __weight=0; "
            r"it is in '.*b d%3F.json'"
        )
        with pytest.raises(DataError, match=wanted):
            p.run(once=True)
        assert p.last_step == 0


@pytest.mark.parametrize(
    ("form", "read", "names"),
    [
        ("json", None, ["id", "n", "t", "doubled"]),
        ("json", {1}, ["id", "n"]),  # a NOT NULL column is looked at in any case
        ("json", {2}, ["id", "n", "t"]),  # and so is what a CHECK is of
        ("csv", {1}, ["id", "n", "t", "doubled"]),  # which has places, not names
    ],
)
def test_what_nothing_reads_isn_t_looked_for(
    spark: Any, form: str, read: set[int] | None, names: list[str]
) -> None:
    text = f"""CREATE TABLE t (id INT NOT NULL, n INT, t STRING, doubled INT, _offset BIGINT, CHECK (n > 0))
    USING kafka OPTIONS (`kafka.bootstrap.servers` 'x', subscribe 'y') WITH (format = '{form}');
    CREATE VIEW v AS SELECT * FROM t;"""
    table = compile_program(text, "p.sql", session=spark).tables["t"]
    found = decoded_fields(table, None if read is None else frozenset(read))
    assert [field.name for field in found] == names


def test_of_an_envelope_all_is(spark: Any) -> None:
    text = """CREATE TABLE t (id INT PRIMARY KEY, n INT) USING kafka
    OPTIONS (`kafka.bootstrap.servers` 'x', subscribe 'y') WITH (format = 'json', changelog = 'debezium');
    CREATE VIEW v AS SELECT * FROM t;"""
    table = compile_program(text, "p.sql", session=spark).tables["t"]
    assert [field.name for field in decoded_fields(table, frozenset())] == [
        "before",
        "after",
        "op",
        "payload",
    ]
