"""A driver that runs its tasks itself asks for no place; how a cluster's do is in `test_on_a_cluster`."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.running.spark.hosts.placed import Hosts, _cores

pytestmark = pytest.mark.spark


def test_one_host_places_nothing(spark: Any) -> None:
    hosts = Hosts(spark.sparkContext)
    assert hosts.homes(4) == ()
    records = spark.sparkContext.parallelize(range(4), 4)
    assert hosts.placed(records, ()) is records


def test_executors_of_one_host_are_added_up() -> None:
    assert _cores("b:7077 2\na:1 1\nb:7078 3\n") == {"a": 1, "b": 5}
    assert _cores("[::1]:7077 4\n") == {"[::1]": 4}


def test_one_that_has_just_come_has_no_tasks_yet() -> None:
    assert _cores("a 2\nb:1 1\n") == {"b": 1}
