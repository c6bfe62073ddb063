from __future__ import annotations

from dbsp.commands.declared.report import changed, report, table
from dbsp.declared.project.datasets import MATERIALIZED_VIEW
from dbsp.declared.refresh import INCREMENTAL, UNCHANGED, Done, Unmet
from dbsp.declared.tables.parquet import Written
from tests.dbsp.declared.made import dataset

MADE = dataset("`c`.`d`.`m`", MATERIALIZED_VIEW)


def test_numbers_end_their_columns():
    assert list(table([("name", "n"), ("long name", "7"), ("x", "10")])) == [
        "name       n",
        "long name   7",
        "x          10",
    ]


def test_rows_that_dont_meet_an_expectation_are_told_once(capsys):
    unmet = (
        Unmet("`c`.`d`.`v`", "paid", 3, 1),
        Unmet("`c`.`d`.`v`", "few", 0, -2),
        Unmet("`c`.`d`.`m`", "x", 0, 0),
        Unmet("`c`.`d`.`m`", "y", 2, 2, dropped=True),
    )
    report([Done(MADE, INCREMENTAL, Written(3, 1, 1, 1, 2048), 0.25, 12.5, unmet)] * 2)
    told = [line.split(": ", 1)[1] for line in capsys.readouterr().out.splitlines() if "expectation" in line]
    assert told == [
        "c.d.v: 3 rows do not meet the expectation paid (+1).",
        "c.d.v: 0 rows do not meet the expectation few (-2).",
        "c.d.m: 2 rows are left out, which do not meet the expectation y (+2).",
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
