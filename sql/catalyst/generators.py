"""Generators: explode and its kin go through the elements of a list, stack is one projection a row.

json_tuple, JSON_TABLE, variant_explode and UNNEST WITH ORDINALITY, or of several lists, are functions to a
list, which Spark itself evaluates.
"""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Column, Expression, Literal
from dbsp.sql.catalyst.reading.expressions import by_spark, expression
from dbsp.sql.catalyst.reading.query import Node, Query
from dbsp.sql.catalyst.reading.relation import Relation
from dbsp.sql.plans.nodes import Expand, Generate
from dbsp.sql.plans.schemas import Field, Schema

_BY_SPARK = ("JsonTuple", "JsonTable", "VariantExplode")
_EXPLODING = ("Explode", "PosExplode", "Inline", "Unnest")


def generate(query: Query, node: Node, child: Relation) -> Relation:
    """node: a Generate over `child`."""
    generator, outer = node["o"]["generator"], node["o"]["outer"]
    attributes = node["o"]["generatorOutput"]
    # beside a row without elements they are NULL, whatever the generator says of them
    made = tuple(Field(a["name"], query.value_type(a), a["n"] or outer) for a in attributes)
    # the column of a relation without columns is none of Catalyst's
    kept = tuple(i for i, id_ in enumerate(child.ids) if id_ >= 0)
    schema = (*(child.plan.schema[i] for i in kept), *made)
    ids = (*(child.ids[i] for i in kept), *(attribute["id"] for attribute in attributes))
    name = generator["c"]
    if name == "Stack":
        return Relation(Expand(child.plan, _stacked(query, generator, child, kept, made), schema), ids)
    beside = name == "Unnest" and (generator["o"]["withOrdinality"] or len(generator["k"]) > 1)
    if beside or name in _BY_SPARK:
        found = by_spark(query, generator, child.position, _list_of(made))
        return Relation(Generate(child.plan, kept, found, schema, outer, fields=True), ids)
    if name not in _EXPLODING:
        raise query.refuse(generator, f"generator function {generator['pretty']}")
    elements = expression(query, generator["k"][0], child.position)
    position = name == "PosExplode"
    fields = len(made) - position > 1 or name == "Inline"
    return Relation(Generate(child.plan, kept, elements, schema, outer, position, fields), ids)


def _list_of(made: Schema) -> pa.DataType:
    return pa.list_(pa.struct([(f"c{i}", field.type) for i, field in enumerate(made)]))


def _stacked(
    query: Query, generator: Node, child: Relation, kept: tuple[int, ...], made: Schema
) -> tuple[tuple[Expression, ...], ...]:
    """stack(n, e₁, …): n projections of as many columns, filled up with NULLs."""
    count, *values = (expression(query, inner, child.position) for inner in generator["k"])
    assert isinstance(count, Literal) and isinstance(count.value, int)
    fields = child.plan.schema
    columns = tuple(Column(i, fields[i].type, fields[i].nullable) for i in kept)
    rows = []
    for row in range(count.value):
        cells = values[row * len(made) : (row + 1) * len(made)]
        missing = (Literal(None, field.type) for field in made[len(cells) :])
        rows.append((*columns, *cells, *missing))
    return tuple(rows)
