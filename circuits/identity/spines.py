"""The names of a circuit's traces and logs in a state: what is stored in them, and how it is laid out.

    name = H(kind, rows, columns, layout, seed)        and `.2`, `.3` … for further ones that are alike

So a trace is the same in every circuit that has one of that name, whichever node it is there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from dbsp.circuits.identity.streams import Stream, digest, over
from dbsp.circuits.operators.operator import Node
from dbsp.circuits.progress.limits import Limit, Retention
from dbsp.circuits.progress.waterline import Lateness
from dbsp.circuits.traces.layout import Layout


def spine_names(
    nodes: Sequence[Node],
    streams: Sequence[Stream],
    layouts: Mapping[int, Layout],
    logs: Mapping[int, Layout],
    seed: int,
) -> dict[int, str]:
    """Per node with a trace or a log, its name."""
    names: dict[int, str] = {}
    alike: Counter[str] = Counter()
    for i in sorted({*layouts, *logs}):
        layout = logs[i] if i in logs else layouts[i]
        stream = streams[i]
        found = digest(_kind(nodes[i], i in logs), stream.rows, stream.columns, _spelled(layout), seed)
        alike[found] += 1
        names[i] = found if alike[found] == 1 else f"{found}.{alike[found]}"
    return names


def _kind(node: Node, is_log: bool) -> str:
    """A memory isn't the integral of what its node puts out."""
    return "log" if is_log else "trace" if node.operator.is_trace else "memory"


def _spelled(layout: Layout) -> tuple[object, ...]:
    accumulators = (layout.sums, layout.minima, layout.maxima)
    order = (layout.order, layout.nulls_greatest, layout.timeline)
    return (layout.placement, *order, *accumulators, layout.bag)


def readers_of(retention: Retention, columns: Sequence[str], lateness: Sequence[Lateness]) -> tuple[str, ...]:
    """The readers of a trace that is collected, each by the rows that it will not look at again."""
    lines = [digest(replace(one, column=0)) for one in lateness]

    def spelled(limit: Limit) -> str:
        bounds = [over(bound, lines) for bound in limit.bounds]
        last_of = None if limit.last_of is None else [columns[i] for i in limit.last_of]
        return digest(over(limit.expression, columns), bounds, last_of)

    return tuple(sorted({digest("reader", sorted(map(spelled, each))) for each in retention.readers}))
