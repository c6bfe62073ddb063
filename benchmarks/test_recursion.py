"""Cost follows the delta through a recursion: one edge deleted or inserted in a graph of 100,000 edges.

The graph is many small ones, as networks and families are, so that an edge has tens of paths through it and
the closure has four rows an edge. Beside it, the closure from scratch: the first step over all edges.
"""

from __future__ import annotations

import time

import numpy as np
import pyarrow as pa

from benchmarks.figures import record

PROGRAM = """
CREATE TABLE edge (source BIGINT, target BIGINT);
CREATE RECURSIVE VIEW path (source BIGINT, target BIGINT) AS
SELECT source, target FROM edge
UNION
SELECT p.source, e.target FROM path p JOIN edge e ON p.target = e.source;
"""
EDGES = 100_000
NODES, NODE_EDGES = 20, 25  # of each small graph
ROUNDS = 40


def edges(random: np.random.Generator) -> pa.Table:
    first = NODES * np.repeat(np.arange(EDGES // NODE_EDGES), NODE_EDGES)
    ends = {name: first + random.integers(0, NODES, EDGES) for name in ("source", "target")}
    return pa.table(ends)


def test_one_edge_of_a_hundred_thousand(benchmark, opened):
    random = np.random.default_rng(0)
    graph, pipeline = edges(random), opened(PROGRAM, "inline", "recursion")
    pipeline.insert("edge", graph)
    began = time.perf_counter()
    pipeline.step()
    from_scratch = time.perf_counter() - began
    gone: list[pa.Table] = []

    def change() -> None:
        """Delete an edge, and insert it again the next time."""
        if gone:
            pipeline.insert("edge", gone.pop())
        else:
            gone.append(graph.slice(int(random.integers(0, EDGES)), 1))
            pipeline.delete("edge", gone[0])

    benchmark.pedantic(pipeline.step, setup=change, rounds=ROUNDS, warmup_rounds=4)
    what = f"transitive closure of {EDGES:,} edges"
    record(benchmark, what, "one edge deleted or inserted", beside=("from scratch", [from_scratch]))
