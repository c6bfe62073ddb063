"""What is drawn for a row when it arrives, and kept: rand() and uuid() of a DEFAULT.

    bits(s) = mix(mix(clock ⊕ s) + arrival · φ)      mix: splitmix64's;  s: of the table's column and the call

It follows from the step's clock and from where the row stands in what has arrived, which are recorded; so a
step that is repeated draws the same, and so does every partitioning of it. No two rows have one place.

Steele, Lea, Flood: Fast splittable pseudorandom number generators (OOPSLA 2014).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value, kernel

Bits = npt.NDArray[np.uint64]

_PHI = np.uint64(0x9E3779B97F4A7C15)
_HEX = np.frombuffer(b"0123456789abcdef", np.uint8)
# of a UUID's 36 characters those that are digits
_DIGITS = np.array([i for i in range(36) if i not in (8, 13, 18, 23)])


@kernel("drawn_double")
def drawn_double(call: Call, clock: Value, arrival: Value) -> Value:
    """In [0, 1), a multiple of 2⁻⁵³."""
    return pa.array((_bits(call, clock, arrival, 0) >> np.uint64(11)) * 2.0**-53)


@kernel("drawn_uuid")
def drawn_uuid(call: Call, clock: Value, arrival: Value) -> Value:
    """RFC 9562, version 4."""
    drawn = np.stack([_bits(call, clock, arrival, half) for half in (0, 1)], axis=1)
    octets = np.ascontiguousarray(drawn).astype(">u8").view(np.uint8).reshape(-1, 16)
    octets[:, 6] = octets[:, 6] & 0x0F | 0x40
    octets[:, 8] = octets[:, 8] & 0x3F | 0x80
    text = np.full((len(octets), 36), ord("-"), np.uint8)
    text[:, _DIGITS] = np.stack([_HEX[octets >> 4], _HEX[octets & 15]], axis=2).reshape(-1, 32)
    offsets = np.arange(len(octets) + 1, dtype=np.int32) * 36
    return pa.StringArray.from_buffers(len(octets), pa.py_buffer(offsets), pa.py_buffer(text.tobytes()))


def _bits(call: Call, clock: Value, arrival: Value, number: int) -> Bits:
    """number: of those that one value needs."""
    salt = call.option("salt")
    assert isinstance(salt, int) and isinstance(clock, pa.Array) and isinstance(arrival, pa.Array)
    moment = clock.cast(pa.int64()).to_numpy().view(np.uint64) ^ np.uint64(salt)
    place = arrival.to_numpy().view(np.uint64)
    return _mix(_mix(moment + np.uint64(number)) + place * _PHI)


def _mix(bits: Bits) -> Bits:
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
