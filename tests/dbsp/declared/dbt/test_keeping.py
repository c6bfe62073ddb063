"""One refresh for as many models as can be, and what becomes of those that fail."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from dbsp.circuits.errors import Error, ProgramError
from dbsp.declared.dbt.keeping import Keeping
from dbsp.declared.dbt.turns import KEPT, Node, Turns
from dbsp.declared.refresh import FULL

pytestmark = pytest.mark.spark


@dataclass
class Texts:
    """Of models in one database, by their names. asked: how often each was."""

    database: str
    queries: dict[str, str]
    asked: list[str] = field(default_factory=list)

    def relation(self, name: str) -> str:
        return f"spark_catalog.{self.database}.{name}"

    def statement(self, name: str) -> str:
        self.asked.append(name)
        return f"CREATE MATERIALIZED VIEW {self.relation(name)} AS\n{self.queries[name]}\n;\n"


@pytest.fixture
def shop(project):
    project.sql(
        "CREATE TABLE raw (k STRING, v INT) USING parquet", "INSERT INTO raw VALUES ('a', 1), ('b', 2)"
    )
    return project


def keeping(project, nodes, texts, said=None, selected=None):
    names = frozenset(nodes if selected is None else selected)
    say = (lambda line: None) if said is None else said.append
    place = project.folder / "state"
    return Keeping(project.spark, Turns(nodes, names), texts, place, project.database, say)


def test_the_first_turn_brings_all(shop):
    nodes = {"a": Node(KEPT), "b": Node(KEPT, ("a",))}
    texts = Texts(shop.database, {"a": "SELECT k, v FROM raw", "b": "SELECT sum(v) AS v FROM a"})
    run = keeping(shop, nodes, texts)
    assert run.keep("a", False).written.inserted == 2
    assert shop.rows("b") == [(3,)]
    assert run.keep("b", False).how == FULL
    shop.sql("INSERT INTO raw VALUES ('c', 4)")
    run = keeping(shop, nodes, texts)
    assert (run.keep("a", False).how, run.keep("b", False).written.inserted) == ("incremental", 1)
    assert shop.rows("b") == [(7,)]
    assert keeping(shop, nodes, texts).keep("a", True).how == FULL


def test_a_table_between_has_a_second_step(shop):
    nodes = {"a": Node(KEPT), "t": Node("table", ("a",)), "b": Node(KEPT, ("t", "a"))}
    texts = Texts(
        shop.database,
        {"a": "SELECT k, v + 1 AS v FROM raw", "b": "SELECT * FROM t UNION ALL SELECT * FROM a"},
    )
    shop.sql("CREATE TABLE t (k STRING, v INT) USING parquet")
    for number in range(2):
        run = keeping(shop, nodes, texts)
        run.keep("a", False)
        shop.sql("INSERT OVERWRITE t SELECT * FROM a")
        run.keep("b", False)
        assert shop.rows("b") == sorted([("a", 2), ("b", 3), *([("c", 5)] * number)] * 2)
        shop.sql("INSERT INTO raw VALUES ('c', 4)")


def test_a_table_between_is_read_anew_too(shop):
    nodes = {"a": Node(KEPT), "t": Node("table", ("a",)), "b": Node(KEPT, ("t",))}
    texts = Texts(shop.database, {"a": "SELECT k, v FROM raw", "b": "SELECT count(*) AS n FROM t"})
    shop.sql("CREATE TABLE t (k STRING, v INT) USING parquet")
    for _ in range(2):
        run = keeping(shop, nodes, texts)
        assert run.keep("a", True).how == FULL
        shop.sql("INSERT OVERWRITE t SELECT * FROM a")
        assert run.keep("b", True).how == FULL
        assert shop.rows("b") == [(2,)]


def test_a_table_that_is_not_there_keeps_back_what_reads_it(shop):
    """One that failed in the run before, or is written now: dbt drops it first. Nothing else waits for it."""
    nodes, said = {"a": Node(KEPT), "t": Node("table", ("a",)), "b": Node(KEPT, ("t",))}, []
    texts = Texts(shop.database, {"a": "SELECT k, v FROM raw", "b": "SELECT count(*) AS n FROM t"})
    shop.sql("CREATE TABLE t (k STRING, v INT) USING parquet")
    run = keeping(shop, nodes, texts)
    run.keep("a", False)
    run.keep("b", False)
    shop.sql("DROP TABLE t", "INSERT INTO raw VALUES ('c', 4)")
    run = keeping(shop, nodes, texts, said)
    assert run.keep("a", False).how == "incremental"
    assert "b is computed anew at its next turn, as it can't stay as it was: " in said[0]
    assert (len(shop.rows("a")), shop.rows("b")) == (3, [(0,)])
    shop.sql("CREATE TABLE t USING parquet AS SELECT * FROM a")
    assert run.keep("b", False).how == FULL
    assert shop.rows("b") == [(3,)]


def test_one_that_fails_leaves_the_others(shop):
    nodes = {"a": Node(KEPT), "b": Node(KEPT, ("a",)), "c": Node(KEPT)}
    good = {
        "a": "SELECT k, v FROM raw",
        "b": "SELECT count(*) AS n FROM a",
        "c": "SELECT max(v) AS v FROM raw",
    }
    run = keeping(shop, nodes, Texts(shop.database, good))
    run.keep("a", False)
    shop.sql("INSERT INTO raw VALUES ('c', 4)")
    for bad, said in (
        ("SELECT k, vv FROM raw", "UNRESOLVED_COLUMN"),
        ("SELECT k, rand() AS v FROM raw", "rand"),
    ):
        run = keeping(shop, nodes, Texts(shop.database, {**good, "a": bad}))
        with pytest.raises(ProgramError, match=said):
            run.keep("a", False)
        assert run.keep("c", False).how in ("incremental", "unchanged")
        assert (shop.rows("c"), len(shop.rows("a")), shop.rows("b")) == ([(4,)], 2, [(2,)])
    run = keeping(shop, nodes, Texts(shop.database, good))
    assert run.keep("b", False).how == "incremental"  # the state had it all the while
    assert (len(shop.rows("a")), shop.rows("b")) == (3, [(3,)])


def test_a_row_that_fails_is_said_of_all(shop):
    nodes = {"a": Node(KEPT), "c": Node(KEPT)}
    texts = Texts(shop.database, {"a": "SELECT 1 DIV (v - 2) AS v FROM raw", "c": "SELECT v FROM raw"})
    run = keeping(shop, nodes, texts)
    for name in nodes:
        with pytest.raises(Error, match="DIVIDE_BY_ZERO"):
            run.keep(name, False)


def test_what_the_state_cannot_be_brought_to_is_computed_anew_once(shop):
    nodes, said = {"a": Node(KEPT), "b": Node(KEPT)}, []
    texts = Texts(shop.database, {"a": "SELECT k, v FROM raw", "b": "SELECT max(v) AS v FROM raw"})
    keeping(shop, nodes, texts).keep("a", False)
    shop.sql("DROP TABLE raw", "CREATE TABLE raw (k STRING, v SMALLINT) USING parquet")
    shop.sql("INSERT INTO raw VALUES ('c', 4)")
    run = keeping(shop, nodes, texts, said)
    assert {run.keep(name, False).how for name in nodes} == {FULL}
    assert any("computed anew" in line for line in said)
    assert (shop.rows("a"), shop.rows("b")) == ([("c", 4)], [(4,)])


def test_what_is_not_selected_stays(shop):
    nodes = {"a": Node(KEPT), "b": Node(KEPT)}
    texts = Texts(shop.database, {"a": "SELECT k FROM raw", "b": "SELECT max(v) AS v FROM raw"})
    keeping(shop, nodes, texts).keep("a", False)
    shop.sql("INSERT INTO raw VALUES ('c', 4)")
    keeping(shop, nodes, texts, selected=["b"]).keep("b", False)
    assert (shop.rows("a"), shop.rows("b")) == ([("a",), ("b",)], [(4,)])
    keeping(shop, {"b": nodes["b"]}, texts).keep("b", False)  # a model that is gone leaves its table
    assert shop.rows("a") == [("a",), ("b",)]


def test_a_text_that_follows_from_rows(shop):
    class Asking(Texts):
        def statement(self, name: str) -> str:
            self.queries["b"] = f"SELECT {len(self.asked)} AS n"
            return super().statement(name)

    nodes = {"a": Node(KEPT), "b": Node(KEPT)}
    run = keeping(shop, nodes, Asking(shop.database, {"a": "SELECT k FROM raw", "b": ""}))
    run.keep("a", False)
    with pytest.raises(ProgramError, match="asks the database while it is compiled"):
        run.keep("b", False)
