"""Maps as keys, as values and taken apart: of columns, of entries, of texts."""

from __future__ import annotations

from collections.abc import Callable

from tests.generators.programs import Column
from tests.generators.random_parts import ORDERED, Expr, Parts

Shape = tuple[str, tuple[Column, ...], int, str]
# a map of texts by texts, of the columns {a} and {b} as texts that are never NULL
_MAPS = (
    "map('k', {a}, 'l', {b})",
    "map_from_entries(array(struct('k', {a}), struct('l', {b})))",
    "str_to_map(concat('k:', {a}, ',l:', {b}))",
    "map_filter(map('k', {a}, 'l', {b}), (x, y) -> y <> '-')",
    "transform_values(map('l', {b}, 'k', {a}), (x, y) -> x || y)",
    "transform_keys(map(1, {a}, 2, {b}), (x, y) -> if(x = 1, 'k', 'l'))",
    "map_concat(map('k', {a}), map('l', {b}))",
    "map_zip_with(map('k', {a}), map('k', {b}, 'l', {b}), (x, y, z) -> coalesce(y, z))",
    "map_from_arrays(array('l', 'k'), array({b}, {a}))",
)
_SHOWN = (
    ("STRING", "key_['k']"),
    ("STRING", "try_element_at(key_, 'l')"),
    ("INT", "size(key_)"),
    ("STRING", "array_join(array_sort(map_keys(key_)), ',')"),
    ("STRING", "to_json(array_sort(map_entries(key_)))"),
    ("BOOLEAN", "map_contains_key(key_, 'l')"),
    ("STRING", "to_json(array_sort(map_values(key_)))"),
)


def mapped(select: Parts) -> Shape:
    """GROUP BY of a map or of its entries, DISTINCT ones, or a map of each row."""
    choices, relation = select.choices, select.relation()
    able = [c for c in relation.columns if c.exact and c.type in ORDERED]
    if not able:
        return select.everything()
    a, b = (f"coalesce(CAST({choices.choice(able).name} AS STRING), '-')" for _ in range(2))
    made = choices.choice(_MAPS).format(a=a, b=b)
    kind, shown = choices.choice(_SHOWN)
    inner = f"(SELECT *, {made} AS key_ FROM {relation.name}{select.where(relation.columns)}) q"
    form = choices.integer(0, 3)
    part = Expr(shown, kind)
    if form == 0:
        text, named = select.listed([part, *select.aggregates(relation.columns)])
        return f"SELECT {text} FROM {inner} GROUP BY key_", named, 1, ""
    if form == 1:
        entries = "array_sort(map_entries(key_))"
        text, named = select.listed(
            [Expr(f"to_json({entries})", "STRING"), *select.aggregates(relation.columns)]
        )
        return f"SELECT {text} FROM {inner} GROUP BY {entries}", named, 1, ""
    if form == 2:
        # Spark has no DISTINCT of maps
        distinct = f"SELECT DISTINCT array_sort(map_entries(key_)) AS e FROM {inner}"
        text, named = select.listed([Expr("e[0].value", "STRING"), Expr("to_json(e)", "STRING")])
        return f"SELECT {text} FROM ({distinct}) q", named, relation.fanout, ""
    text, named = select.listed([part, select.expression(relation.columns)])
    return f"SELECT {text} FROM {inner}", named, relation.fanout, ""


SHAPES: tuple[Callable[[Parts], Shape], ...] = (mapped,)
