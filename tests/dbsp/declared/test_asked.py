from __future__ import annotations

from dataclasses import replace

import pytest

from dbsp.circuits.errors import Error
from dbsp.declared.asked import Asked, Left
from dbsp.declared.project.datasets import MATERIALIZED_VIEW, STREAMING_TABLE, TEMPORARY_VIEW
from tests.dbsp.declared.made import dataset, flow, project

PROJECT = project(
    dataset("`c`.`d`.`raw`", STREAMING_TABLE),
    dataset("`v`", TEMPORARY_VIEW, "`c`.`d`.`raw`"),
    dataset("`c`.`d`.`m`", MATERIALIZED_VIEW, "`v`"),
    dataset("`c`.`d`.`kept`", STREAMING_TABLE, "`v`"),
)
RAW, _, M, KEPT = PROJECT.datasets


def test_names_may_leave_out_what_is_before_them():
    for name in ("m", "d.m", "C.d.M"):
        asked = Asked(full_refresh=[name])
        asked.check(PROJECT)
        assert asked.is_anew(PROJECT, M)
        assert not asked.is_wanted(PROJECT, RAW)
    assert Asked().is_wanted(PROJECT, RAW)
    assert Asked(full_refresh_all=True).is_anew(PROJECT, RAW)
    Asked(full_refresh=["raw", "kept"]).check(PROJECT)
    beside = dataset("`c`.`other`.`m`", MATERIALIZED_VIEW)
    several = replace(PROJECT, datasets=(*PROJECT.datasets, beside), catalog="C", database="d")
    assert Asked(refresh=["M", "other.m"]).is_wanted(several, beside)
    assert not Asked(refresh=["m"]).is_wanted(several, beside)  # a name without one is the project's
    assert Asked(refresh=["`m`"]).is_wanted(several, M)
    assert Asked(full_refresh=["kept"]).is_anew(PROJECT, KEPT)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (Asked(refresh=["n"]), "no dataset 'n'; there are: c.d.raw, c.d.m, c.d.kept"),
        (Asked(refresh=["v"]), "no dataset 'v'"),
        (
            Asked(("m",), refresh=["d.m"]),
            "specified for refresh and full refresh cannot overlap: `c`.`d`.`m`",
        ),
        (
            Asked(full_refresh=["raw"]),
            "--full-refresh c.d.raw without c.d.kept, which has read it as a stream",
        ),
    ],
)
def test_what_cant_be_done_is_refused(asked, message):
    with pytest.raises(Error, match=message):
        asked.check(PROJECT)


def reading(name, *inputs, tables=()):
    made = replace(flow(name, inputs=inputs), tables=frozenset(tables))
    return dataset(name, MATERIALIZED_VIEW, flows=[made])


def test_what_stays_as_it_is():
    one = reading("`c`.`d`.`one`", tables=["`t`"])
    two = reading("`c`.`d`.`two`", one.name, tables=["`u`"])
    asked = Asked(refresh=["two"])
    assert asked.left(project(one, two)) == Left((one,), frozenset({"`t`"}))
    assert Asked().left(project(one, two)) == Left((), frozenset())
    both = reading("`c`.`d`.`two`", one.name, tables=["`t`"])
    with pytest.raises(
        Error,
        match=r"c.d.two without c.d.one, which it reads, as both read t; name that, too: --refresh c.d.one",
    ):
        asked.check(project(one, both))
    assert Asked(refresh=["m"]).left(PROJECT).datasets == (RAW,)


def test_a_table_may_say_that_it_is_recomputed():
    assert not Asked().may_recompute(M)
    assert Asked(fallback=True).may_recompute(M)
    assert Asked().may_recompute(
        dataset("`c`.`d`.`m`", MATERIALIZED_VIEW, properties={"refresh_policy": "AUTO"})
    )
