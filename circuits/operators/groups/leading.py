"""The rows of large groups that come first in an order, and those that change, from a trace in that order.

    L = what is first of i|T, and of (i + d)|T        T = groups of d

The trace keeps a group's rows in the order, so that a few are fetched at the end of each run (`outermost`),
until they have a row that was there before the step and one that is there after it: then all that tie with
either are among them. Rows that change are found by their values (`same_rows`).

State: the trace that is read.  Cost: O(log |I|) a changed row and run, as long as few of a group's first rows
have been retracted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dbsp.circuits.columns.arrow import validity
from dbsp.circuits.columns.groups import Groups
from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.operators.groups.same_rows import same_rows
from dbsp.circuits.operators.groups.touched import Owned, Touched, list_rows
from dbsp.circuits.operators.groups.windows.leads import Lead
from dbsp.circuits.operators.joins.edges import Edges, Finer
from dbsp.circuits.operators.joins.outermost import Outermost, outermost
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import of_placement
from dbsp.circuits.traces.trace import Integral

_FIRST_FETCH = 4
# of so many times the rows that change it is worth to look for those
_WORTH = 8


def touched_leading(
    integral: Integral,
    groups: Groups,
    keys: tuple[int, ...],
    order: Sequence[SortKey],
    leads: Sequence[Lead],
    seed: int,
) -> Touched | None:
    """`touched_groups`, but only of the rows that change, and those that come first by each of `leads`.

    integral: placed by all of `keys`, in the order of the leads' value. None: all rows of the groups are to
    be listed, as they are few.
    """
    delta = integral.delta
    least, most = of_placement(groups.hashes)
    ranges = (run.ranges(least, most) for run in integral.before)
    rows = sum(int((stop - start).sum()) for start, stop in ranges)
    if rows <= _WORTH * len(delta) * len(integral.before):
        return None
    listed = [(groups.owner[i], batch) for i, batch in same_rows(integral.before, delta, seed)]
    for lead in leads:
        found = _first_rows(integral, groups, keys, lead)
        others = [(owner, batch, (~found.is_complete(owner, batch)).nonzero()[0]) for owner, batch in listed]
        listed = [*((owner[at], batch.take(at)) for owner, batch, at in others), *found.parts]
    changes = groups.owner, delta
    return list_rows(integral.layout, groups.keys, len(groups.first), listed, changes, order, seed)


def _first_rows(integral: Integral, groups: Groups, keys: tuple[int, ...], lead: Lead) -> Outermost:
    """Of each group all rows up to some place, with one that was there and one that is there if it has them.

    Where the trace has NULLs first, and the order last, one is meant whose value isn't NULL.
    """
    column = integral.layout.order
    assert column is not None
    skips = column if lead.nulls_greatest != integral.layout.nulls_greatest else None
    least, greatest = of_placement(groups.hashes)
    left, fetch = np.arange(len(least)), _FIRST_FETCH
    horizon = np.zeros(len(least), dtype=np.int64)
    parts: list[Owned] = []
    edges: list[Edges] = []
    finer = None
    while len(left):
        span = least[left], greatest[left]
        fetched = outermost(integral.before, groups.keys, left, *span, keys, lead.descending, fetch, finer)
        place = np.full(len(least), -1, dtype=np.int64)
        place[left] = np.arange(len(left))
        (mine,) = (place[groups.owner] >= 0).nonzero()
        changes = place[groups.owner[mine]], integral.delta.take(mine)
        was = sum((_there(fetched, *part, skips) for part in fetched.parts), np.zeros(len(left)))
        decided = fetched.everything | ((was > 0) & (was + _there(fetched, *changes, skips) > 0))
        for owner, batch in fetched.parts:
            (at,) = (decided[owner] & fetched.is_complete(owner, batch)).nonzero()
            parts.append((left[owner[at]], batch.take(at)))
        horizon[left[decided]] = fetched.horizon[decided]
        edges += (each.of(left, decided) for each in fetched.edges)
        left, fetch = left[~decided], fetch * 8
        finer = Finer((SortKey(lead.value, lead.descending, lead.nulls_last),))
    return Outermost(parts, horizon, lead.descending, tuple(edges))


def _there(fetched: Outermost, owner: np.ndarray, batch: Batch, skips: int | None) -> np.ndarray:
    """How many rows each group has among the complete ones, those apart whose value in `skips` is NULL."""
    counted = fetched.is_complete(owner, batch)
    if skips is not None:
        counted &= validity(batch.column(skips))
    return np.bincount(owner[counted], batch.weights[counted], len(fetched.horizon))
