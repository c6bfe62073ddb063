"""Steps to be shown."""

from __future__ import annotations

from collections.abc import Iterator

from dbsp.pipeline.pipeline import Pipeline
from dbsp.views.changes import Changes


def steps(p: Pipeline) -> Iterator[Changes]:
    """Two steps: three votes, then one less."""
    p.insert("votes", [(1, 1), (2, 1), (3, None)])
    yield p.step()
    p.delete("votes", [(1, 1)])
    yield p.step()
