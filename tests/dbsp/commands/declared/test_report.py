from __future__ import annotations

from dbsp.commands.declared.report import changed, report, table
from dbsp.declared.project.datasets import MATERIALIZED_VIEW
from dbsp.declared.refresh import INCREMENTAL, UNCHANGED, Done
from dbsp.declared.tables.parquet import Written
from tests.dbsp.declared.made import dataset

MADE = dataset("`c`.`d`.`m`", MATERIALIZED_VIEW)


def test_numbers_end_their_columns():
    assert list(table([("name", "n"), ("long name", "7"), ("x", "10")])) == [
        "name       n",
        "long name   7",
        "x          10",
    ]


def test_a_run_lists_what_it_has_done(capsys):
    done = [Done(MADE, INCREMENTAL, Written(3, 1, 1, 1, 2048), 0.25, 12.5)]
    report(done)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith(": Flow c.d.m has COMPLETED.")
    assert lines[1].split()[:3] == ["dataset", "kind", "kept"]
    assert lines[2].split() == [
        "c.d.m",
        "materialized",
        "view",
        "incremental",
        "3",
        "1",
        "2048",
        "0.25",
        "12.50",
    ]
    assert changed(done)
    assert not changed([Done(MADE, UNCHANGED, Written(0, 0, 0, 0, 0), 0.25, 12.5)])
