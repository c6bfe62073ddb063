"""An expression that fails on a row: of which dataset, and where the project defines that."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dbsp.circuits.errors import EvaluationError
from dbsp.declared.project.datasets import Project
from dbsp.declared.project.program import counts_of, view_name


@contextmanager
def placed(project: Project) -> Iterator[None]:
    """What fails meanwhile says so: of several datasets that want the value the first, which others read."""
    try:
        yield
    except EvaluationError as error:
        for dataset in project.datasets:
            if not {view_name(dataset.name), *counts_of(dataset)}.isdisjoint(error.views):
                raise error.within(str(dataset.place)) from None
        raise
