"""Aggregate functions of all values of a group: which parameters are arguments, and which are options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Expression, Literal
from dbsp.circuits.operators.groups.aggregates.hyperloglog import BITS
from dbsp.sql.catalyst.reading.by_spark import given_to_spark
from dbsp.sql.catalyst.reading.expressions import check_covered, expression, normalized
from dbsp.sql.catalyst.reading.query import Node, Query

Arguments = tuple[Expression, ...]
Options = tuple[tuple[str, object], ...]


@dataclass(frozen=True)
class Read:
    """An aggregate function being read, and where its arguments are."""

    query: Query
    node: Node
    position: Mapping[int, int]

    def argument(self, index: int) -> Expression:
        return expression(self.query, self.node["k"][index], self.position)

    @property
    def arguments(self) -> Arguments:
        return tuple(self.argument(i) for i in range(len(self.node["k"])))

    def normalized(self, index: int) -> Expression:
        return normalized(self.query, self.node, self.argument(index))

    def constant(self, index: int) -> object:
        value = self.argument(index)
        if not isinstance(value, Literal):
            raise self.query.refuse(
                self.node, f"{self.node['pretty']} with a parameter that isn't a constant"
            )
        return value.value


def _collect_list(read: Read) -> tuple[Arguments, Options]:
    nulls = read.node["o"].get("ignoreNulls") is False
    return (read.argument(0),), (("nulls", True),) if nulls else ()


def _collect_set(read: Read) -> tuple[Arguments, Options]:
    nulls = read.node["o"].get("ignoreNulls") is False
    return (read.normalized(0),), (("nulls", True),) if nulls else ()


def _listagg(read: Read) -> tuple[Arguments, Options]:
    """Children: the value, the delimiter, then what it is ordered by."""
    value, delimiter = read.argument(0), read.constant(1)
    if delimiter is None:
        delimiter = b"" if pa.types.is_binary(value.type) else ""
    arguments, order = [value], []
    for item in read.node["k"][2:]:
        key = expression(read.query, item["k"][0], read.position)
        if key not in arguments:
            arguments.append(key)
        by = item["o"]
        order.append(
            (arguments.index(key), by["direction"] == "Descending", by["nullOrdering"] == "NullsLast")
        )
    return tuple(arguments), (("delimiter", delimiter), ("order", tuple(order)))


def _percentages(read: Read) -> list[tuple[str, object]]:
    value = read.constant(1)
    many = isinstance(value, tuple)
    numbers = value if isinstance(value, tuple) else (value,)
    return [("many", many), ("percentages", tuple(float(str(number)) for number in numbers))]


def _percentile(read: Read) -> tuple[Arguments, Options]:
    options = [*_percentages(read), ("descending", bool(read.node["o"].get("reverse")))]
    if read.node["o"].get("legacyCalculation"):
        raise read.query.refuse(read.node, "percentile_disc by its legacy rule")
    arguments: Arguments = (read.argument(0),)
    if len(read.node["k"]) > 2:
        often = read.argument(2)
        if not (isinstance(often, Literal) and often.value == 1):
            arguments = (*arguments, often)
    return arguments, tuple(sorted(options))


def _approximate(read: Read) -> tuple[Arguments, Options]:
    options = [*_percentages(read), ("accuracy", read.constant(2))]
    return (read.argument(0),), tuple(sorted(options))


def _mode(read: Read) -> tuple[Arguments, Options]:
    return (read.normalized(0),), (("greatest", read.node["o"].get("reverseOpt") is False),)


def _by(read: Read) -> tuple[Arguments, Options]:
    """The ordering comes first: that is how the rows lie."""
    return (read.argument(1), read.argument(0)), ()


def _by_several(read: Read) -> tuple[Arguments, Options]:
    """max_by(x, y, n), as _by."""
    return (read.argument(1), read.argument(0)), (("size", read.constant(2)),)


def _count_min(read: Read) -> tuple[Arguments, Options]:
    names = ("relative_error", "confidence", "seed")
    given = sorted((name, read.constant(1 + i)) for i, name in enumerate(names))
    return (read.argument(0),), tuple(given)


def is_any_value(read: Read) -> bool:
    """Catalyst makes first() of it; only the text tells them apart."""
    return read.query.spelled(read.node).lower().startswith("any_value")


def _any_value(read: Read) -> tuple[Arguments, Options]:
    return (read.argument(0),), (("nulls", not read.node["o"].get("ignoreNulls")),)


def _first(read: Read) -> tuple[Arguments, Options]:
    return (read.argument(0),), (("ignoreNulls", bool(read.node["o"].get("ignoreNulls"))),)


def _python(read: Read) -> tuple[Arguments, Options]:
    return read.arguments, (("function", read.query.functions[read.node["o"]["aggregatorName"].lower()]),)


# what to say instead of an aggregate function that can't be maintained
_INSTEAD = {
    "kll_": "percentile_approx(x, p) is exact, and maintained",
    "measure": "it reads a metric view's measure; say the aggregate itself, as sum(x)",
}


def _by_spark(read: Read) -> tuple[Arguments, Options]:
    """A function that only Spark has code for: over the arguments that aren't part of it."""
    name = str(read.node["pretty"])
    given = given_to_spark(read.query, read.node, name)
    if isinstance(given, str):
        instead = next((cure for start, cure in _INSTEAD.items() if name.startswith(start)), "")
        why = f" with {given}" if given and given != name else ""
        cure = f"; {instead}" if instead else ""
        raise read.query.error(read.node, f"aggregate function '{name}' is not supported yet{why}{cure}")
    function, inside = given
    arguments = tuple(expression(read.query, child, read.position) for child in inside)
    # rows count, also where nothing of them does
    return arguments or (Literal(True, pa.bool_()),), (("expression", function),)


def _approximate_count(read: Read) -> tuple[Arguments, Options]:
    deviation = float(read.node["o"]["relativeSD"])
    if not 1.106 / 2 ** (BITS / 2) <= deviation < 1.106 / 2 ** ((BITS - 1) / 2):
        raise read.query.refuse(
            read.node, f"approx_count_distinct with a deviation of {deviation}, other than 0.05"
        )
    argument = read.argument(0)
    hashed = Call("xx_hash64", (argument,), pa.int64(), nullable=False)
    check_covered(read.query, read.node, hashed)
    # a NULL has a hash too
    call = Call("if", (_valid(argument), hashed, Literal(None, pa.int64())), pa.int64(), argument.nullable)
    return (call if argument.nullable else hashed,), ()


def _valid(argument: Expression) -> Call:
    return Call("is_not_null", (argument,), pa.bool_(), nullable=False)


READERS: dict[str, Callable[[Read], tuple[Arguments, Options]]] = {
    "collect_list": _collect_list,
    "collect_set": _collect_set,
    "listagg": _listagg,
    "percentile": _percentile,
    "percentile_disc": _percentile,
    "approx_percentile": _approximate,
    "mode": _mode,
    "max_by": _by,
    "min_by": _by,
    "max_by_k": _by_several,
    "min_by_k": _by_several,
    "count_min_sketch": _count_min,
    "any_value": _any_value,
    "first": _first,
    "last": _first,
    "approx_count_distinct": _approximate_count,
    "python_aggregate": _python,
    "spark_aggregate": _by_spark,
}
