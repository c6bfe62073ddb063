"""Fields that no column is of: their bytes are passed, and not looked at more than that needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dbsp.circuits.expressions.vectors.numbers import Numbers
from dbsp.rows.avro.reading.messages import Messages
from dbsp.rows.avro.reading.readers import block_counts, most_items
from dbsp.rows.avro.schema import Array, Enum, Map, Named, Node, Record, Schema, Simple, Union

_WIDTHS = {"null": 0, "boolean": 1, "float": 4, "double": 8}
# A type can be within itself, and a message say how often.
_DEEPEST = 64
_TEXT = Simple("string")


@dataclass(frozen=True)
class Passed:
    """schema: what names stand for."""

    schema: Schema
    node: Node

    def skip(self, messages: Messages, rows: Numbers) -> None:
        self._skip(self.node, messages, rows, 0)

    def _skip(self, node: Node, messages: Messages, rows: Numbers, depth: int) -> None:
        node = self.schema.of(node)
        if not len(rows):
            return
        if depth > _DEEPEST:
            messages.refuse(rows, f"records are within each other more than {_DEEPEST} deep")
        elif isinstance(node, Simple):
            _skip_simple(node, messages, rows)
        elif isinstance(node, Enum):
            messages.longs(rows)
        elif isinstance(node, Record):
            for part in node.fields:
                self._skip(part.type, messages, rows, depth + 1)
        elif isinstance(node, Union):
            which = messages.longs(rows)
            for i, branch in enumerate(node.branches):
                self._skip(branch, messages, rows[which == i], depth + 1)
            messages.refuse(rows[(which < 0) | (which >= len(node.branches))], "a union has no such branch")
        elif not isinstance(node, Named):
            self._skip_items(node, messages, rows, depth)

    def _skip_items(self, node: Array | Map, messages: Messages, rows: Numbers, depth: int) -> None:
        left = np.zeros(len(rows), np.int64)
        going, allowed = np.arange(len(rows)), most_items(messages, rows)
        while len(going):
            between = going[left[going] == 0]
            if len(between):
                counts, sizes = block_counts(messages, rows[between], allowed[between])
                allowed[between] -= counts
                known = sizes >= 0
                messages.passed(rows[between[known]], sizes[known])
                left[between] = np.where(known, 0, counts)
                going = np.concatenate([going[left[going] > 0], between[known & (counts > 0)]])
            items = going[left[going] > 0]
            if isinstance(node, Map):
                self._skip(_TEXT, messages, rows[items], depth + 1)
            self._skip(node.values if isinstance(node, Map) else node.items, messages, rows[items], depth + 1)
            left[items] -= 1
            going = going[~messages.are_refused(rows[going])]


def _skip_simple(node: Simple, messages: Messages, rows: Numbers) -> None:
    if node.kind in ("int", "long"):
        messages.longs(rows)
    elif node.kind in ("string", "bytes"):
        messages.passed(rows, messages.longs(rows))
    else:
        messages.passed(rows, _WIDTHS.get(node.kind, node.size))
