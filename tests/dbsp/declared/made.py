"""Projects without Spark."""

from __future__ import annotations

from pathlib import Path

from dbsp.declared.project.datasets import Dataset, Flow, Place, Project


def flow(name, query="SELECT 1 AS a", inputs=(), columns=None, place=Place("a.sql", 1, 1)):  # noqa: B008
    given = {"a": "INT"} if columns is None else columns
    return Flow(name, query, place, "c", "d", frozenset(), frozenset(), frozenset(inputs), given)


def dataset(name, kind, *inputs, flows=None, columns=None, properties=None):
    place = Place("a.sql", 1, 1)
    given = (flow(name, inputs=inputs),) if flows is None else tuple(flows)
    return Dataset(name, kind, place, given, columns or {"a": "INT"}, properties=properties)


def project(*datasets, tables=()):
    return Project("p", Path(), datasets, tuple(tables))
