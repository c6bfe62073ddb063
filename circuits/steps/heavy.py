"""Heavy keys: of a key that many of a task's rows have, no more rows move than its reader can tell apart.

    f(a + b) = f(r(a) + b)        r: `Operator.reduced`, such as the first k rows, or equal rows as one

All rows of a key go to one task, which would take the longer the more there are. A sample tells which keys
are heavy, so that rows of others are looked at no more than before.
"""

from __future__ import annotations

import numpy as np

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.traces.zset import ZSet

# of fewer rows a task's share isn't worth a look
_FEW = 4096
# rows that are looked at, and how many of them make a key heavy
_SAMPLE = 1024
_OFTEN = 16


def without_heavy(circuit: Circuit, exchange: int, delta: ZSet, hashes: np.ndarray) -> ZSet:
    """What has to move of a delta. hashes: uint64[n], of the columns that its rows are placed by."""
    if len(delta) < _FEW:
        return delta
    readers = [node.operator for node in circuit.nodes if exchange in node.inputs]
    if len(readers) != 1:
        return delta
    values, often = np.unique(hashes[:: max(1, len(hashes) // _SAMPLE)], return_counts=True)
    is_heavy = np.isin(hashes, values[often >= _OFTEN])
    (heavy,), (others,) = is_heavy.nonzero(), (~is_heavy).nonzero()
    reduced = readers[0].reduced(delta, heavy, circuit.seed) if len(heavy) else None
    return delta if reduced is None else delta.take(others) + reduced
