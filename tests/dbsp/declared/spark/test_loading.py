"""Names of what is loaded by a path. That its rows are Spark's: `test_python.py`."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.declared.project.datasets import Loaded
from dbsp.declared.spark.loading import name_loaded
from dbsp.declared.spark.modules.messages import messages_of
from dbsp.declared.spark.modules.planning import planning


def named(load):
    """load: of a session. What is read, by its name."""
    loaded: dict[str, Loaded] = {}
    with planning({}) as session:
        relation = load(session)._plan.to_proto(session.client).root
    (read,) = [relation.read] if relation.HasField("read") else messages_of(relation, "Read")
    name_loaded(read, loaded)
    return read.named_table.unparsed_identifier, loaded


def test_one_path_is_a_name_as_in_sql():
    assert named(lambda spark: spark.read.parquet("/a/b")) == ("`parquet`.`/a/b`", {})
    assert named(lambda spark: spark.read.load("/a/b")) == ("`parquet`.`/a/b`", {})
    assert named(lambda spark: spark.read.format("JSON").load("/a/b")) == ("`json`.`/a/b`", {})
    assert named(lambda spark: spark.read.format("delta").option("path", "/a/b").load()) == (
        "`delta`.`/a/b`",
        {},
    )


def test_more_than_a_path_has_a_name_that_stands_for_it():
    name, loaded = named(lambda spark: spark.read.schema("a INT").option("sep", ";").csv(["/a.b", "/c"]))
    assert name.startswith("`spark_catalog`.`loaded`.`csv /a_b, /c (")
    assert loaded == {name: Loaded("csv", ("/a.b", "/c"), "a INT", (("sep", ";"),))}
    other, _ = named(lambda spark: spark.read.schema("a LONG").option("sep", ";").csv(["/a.b", "/c"]))
    assert other != name
    paced = named(lambda spark: spark.readStream.schema("a INT").json("/a"))
    assert (
        named(lambda spark: spark.readStream.schema("a INT").option("latestFirst", "true").json("/a"))
        == paced
    )
    assert (
        named(lambda spark: spark.read.format("jdbc").option("url", "u").load())[1].popitem()[1].paths == ()
    )


@pytest.mark.parametrize(
    ("load", "said"),
    [
        (lambda spark: spark.readStream.format("rate").load(), "of the format 'rate'; .*parquet, json"),
        (
            lambda spark: spark.readStream.schema("a INT").option("cleanSource", "delete").csv("/a"),
            "cleanSource",
        ),
        (
            lambda spark: spark.read.format("delta").option("versionAsOf", 1).load("/a"),
            "read with versionAsOf",
        ),
        (lambda spark: spark.read.format("delta").load(["/a", "/b"]), "several paths, or none"),
        (lambda spark: spark.read.jdbc("u", "t", predicates=["a"]), "with predicates"),
    ],
)
def test_what_isnt_read(load, said):
    with pytest.raises(ProgramError, match=said):
        named(load)
