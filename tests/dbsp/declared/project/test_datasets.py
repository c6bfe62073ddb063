from __future__ import annotations

from dbsp.declared.project.datasets import MATERIALIZED_VIEW, TEMPORARY_VIEW, above, quoted, shown
from tests.dbsp.declared.made import dataset, project


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
