from __future__ import annotations

from dataclasses import replace

from dbsp.declared.project.datasets import (
    MATERIALIZED_VIEW,
    STREAMING_TABLE,
    TEMPORARY_VIEW,
    Changes,
    above,
    shown,
)
from dbsp.sql.text.tokens import quoted
from tests.dbsp.declared.made import dataset, flow, project


def test_names():
    assert quoted(["a b", "c`d"]) == "`a b`.`c``d`"
    assert shown(quoted(["a", "b"])) == "a.b"


def test_all_that_a_dataset_is_made_of():
    a, b = dataset("a", MATERIALIZED_VIEW), dataset("b", TEMPORARY_VIEW, "a")
    c, d = dataset("c", MATERIALIZED_VIEW), dataset("d", MATERIALIZED_VIEW, "b")
    made = project(a, b, c, d)
    assert above(made, d) == [a, b]
    assert above(made, c) == []
    assert made.stored == (a, c, d)


def test_a_streaming_table_grows_but_for_one_of_changes():
    plain = flow("f")
    of_changes = replace(
        plain, changes=Changes(plain.clause, plain.clause, plain.clause, ("a",), ("a",), False)
    )
    tables = [dataset("s", STREAMING_TABLE, flows=[each]) for each in (plain, of_changes)]
    assert [(table.is_streaming, table.only_grows) for table in tables] == [(True, True), (True, False)]
    assert not dataset("m", MATERIALIZED_VIEW).only_grows
