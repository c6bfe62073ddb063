"""What a window function is: its arguments, the order of its partition, the frame around each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import pyarrow as pa

from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.expressions.nodes import Expression
from dbsp.circuits.operators.groups.state.members import Finalizer

# Of a ROWS frame, the distance from the current row; of a RANGE frame, the bound's value, an expression
# over the current row (0: the current row's peers). None: the partition's own end.
Edge = int | Expression | None


@dataclass(frozen=True)
class Frame:
    """The rows around each row that a function sees; both edges belong to the frame."""

    rows: bool = True
    lower: Edge = None
    upper: Edge = None

    @property
    def is_whole(self) -> bool:
        return self.lower is None and self.upper is None


WHOLE = Frame()


@dataclass(frozen=True)
class Gathered:
    """An aggregate of all values of a frame. required: arguments without whose value a row takes no part."""

    finalizer: Finalizer
    required: tuple[int, ...] = ()


@dataclass(frozen=True)
class WindowFunction:
    """One output column.

    function: a name in `windows.functions.FUNCTIONS`, unless it has `values`. arguments: columns of the
    input. number: ntile's buckets, nth_value's n, lead's offset (lag's is negative). filtered: the last
    argument says whether a row takes part. lenient: NULL where the result is out of range, and no error.
    text: the user's spelling, for messages.
    """

    function: str
    type: pa.DataType
    order: tuple[SortKey, ...] = ()
    arguments: tuple[int, ...] = ()
    frame: Frame = WHOLE
    number: int = 0
    ignore_nulls: bool = False
    filtered: bool = False
    lenient: bool = False
    text: str = field(default="", compare=False)
    values: Gathered | None = None


class By(Protocol):
    """An item of an order, as a `SortKey` is."""

    @property
    def descending(self) -> bool: ...
    @property
    def nulls_last(self) -> bool: ...


class Calling(Protocol):
    """What says what a function sees, as a `WindowFunction` does, and in plans a call over expressions."""

    @property
    def function(self) -> str: ...
    @property
    def type(self) -> pa.DataType: ...
    @property
    def order(self) -> Sequence[By]: ...
    @property
    def arguments(self) -> Sequence[Any]: ...
    @property
    def frame(self) -> Frame: ...
    @property
    def number(self) -> int: ...
    @property
    def ignore_nulls(self) -> bool: ...
    @property
    def filtered(self) -> bool: ...
    @property
    def values(self) -> Gathered | None: ...
