"""Avro's functions, whose classes come from a jar that the session was given."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from dbsp import Pipeline
from dbsp.circuits.errors import EvaluationError, ProgramError
from dbsp.circuits.functions.spark.expression import SparkExpression
from dbsp.circuits.functions.spark.process import _started, values
from dbsp.circuits.functions.spark.requests import given
from dbsp.circuits.private_directory import cache_directory, read_checked
from dbsp.sql.compiler.load import compile_program, load_program
from tests.circuits.functions.catalogue.formats import FAILS, RECORD, ROWS
from tests.oracles.against_spark import AgainstSpark
from tests.servers.jars import avro

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(not avro(), reason="no jar of Avro's functions: make servers"),
]
PROGRAM = f"""
CREATE TABLE t (k INT, b BINARY);
CREATE VIEW v AS SELECT r.i, count(*) AS n FROM (SELECT from_avro(b, '{RECORD}') AS r FROM t) q GROUP BY r.i;
CREATE VIEW w AS SELECT k, to_avro(named_struct('k', k)) AS b FROM t
"""


def test_a_view_of_them_is_maintained(spark: Any) -> None:
    row = "named_struct('i', int(id % 2), 's', '', 'a', array(id))"
    made = spark.sql(f"SELECT id, to_avro({row}, '{RECORD}') FROM range(4)").collect()
    with Pipeline(sql=PROGRAM, spark=spark, runner="inline") as p:
        p.insert("t", [tuple(row) for row in made])
        p.step()
        p.delete("t", [tuple(made[1])])
        p.insert("t", [(None, None)])
        p.step()
        assert p["v"].rows() == [{"i": None, "n": 1}, {"i": 0, "n": 2}, {"i": 1, "n": 1}]
        assert {row["k"]: row["b"] for row in p["w"].rows()} == {
            None: b"\x02",
            0: b"\0\0",
            2: b"\0\4",
            3: b"\0\6",
        }


@pytest.mark.parametrize("text", FAILS)
def test_what_fails_there_fails(spark: Any, text: str) -> None:
    against = AgainstSpark(spark, ROWS)
    (ours,) = against.evaluate([text])
    assert isinstance(ours, EvaluationError)
    with pytest.raises(Exception, match=str(ours).split("]")[-1].strip()[:40]):
        against.spark_values([text])


def test_a_schema_at_an_address_is_refused(spark: Any, tmp_path: Path) -> None:
    def compiled(place: Path) -> None:
        text = f"SELECT from_avro(b, '{RECORD}', map('avroSchemaUrl', '{place.as_uri()}')) AS r FROM t"
        compile_program(f"CREATE TABLE t (b BINARY); CREATE VIEW v AS {text}", session=spark)

    schema = tmp_path / "r.avsc"
    with pytest.raises(ProgramError, match=r"r\.avsc.* does not exist"):
        compiled(schema)
    schema.write_text(RECORD)
    with pytest.raises(ProgramError, match="is not supported yet with avroSchemaUrl"):
        compiled(schema)


def test_a_known_program_says_which_jar_it_needs(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    program = load_program(PROGRAM, "p.sql", session=spark)
    (entry,) = cache_directory().glob("*.pickle")
    jars, pickled = pickle.loads(read_checked(cache_directory(), entry.name) or b"")
    assert (jars, pickle.loads(pickled)) == (avro(), program)


def test_the_jar_is_found_where_it_was_or_beside(spark: Any, tmp_path: Path) -> None:
    """By a JVM that knows the jar's place of when the program was compiled; executors have it beside them."""
    (jar,) = avro()
    gone = tmp_path / "gone" / Path(jar).name
    call = AgainstSpark(spark, ROWS).call("to_avro(i)")
    expression = call.option("expression")
    assert isinstance(expression, SparkExpression)
    place, moved = (len(name).to_bytes(2, "big") + name for name in (jar.encode(), str(gone).encode()))
    assert place in expression.serialized
    lost = expression.serialized.replace(place, moved)
    # the header is one block of Java's stream, whose length is before it
    length = expression.serialized[5]
    lost = lost[:5] + bytes([length + len(moved) - len(place)]) + lost[6:]
    rows = given([ROWS.column("i")])
    with pytest.raises(EvaluationError, match=f"{gone} isn't on this machine: put it among Spark's jars"):
        values(lost, rows)
    before = os.getcwd()
    os.chdir(Path(jar).parent)
    try:
        found = _started()
    finally:
        os.chdir(before)
    try:
        assert found.ask(lost, rows) == values(expression.serialized, rows)
    finally:
        found.end()
