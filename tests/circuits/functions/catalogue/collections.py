"""Arrays, maps, structs, and functions over them that take lambdas."""

# ruff: noqa: E501  a function a line
from __future__ import annotations

import random
from typing import Any

import pyarrow as pa

_STRUCT = pa.struct([("x", pa.int32()), ("y", pa.string())])


def _rows(count: int = 160) -> pa.RecordBatch:
    """a, a2: arrays of INT; ad: of DOUBLE; at: of STRING; aa: of arrays; ao: of structs; m, m2: maps;
    mk: map by INT; o: struct; i, j, l, s, d: atoms.
    """
    choose = random.Random(11)

    def some(values: list[Any], least: int = 0, most: int = 5) -> list[Any]:
        return choose.choices(values, k=choose.randint(least, most))

    def maybe(value: Any) -> Any:
        return None if choose.random() < 0.08 else value

    nan, inf = float("nan"), float("inf")
    texts = ["", "a", "b", "é", "😀", "ab", None]
    numbers = [1, 2, 3, -1, 2147483647, -2147483648, None]
    doubles = [0.0, -0.0, nan, inf, 1.5, -2.0, None]

    def unique(values: list[Any]) -> list[Any]:
        return choose.sample(values, choose.randint(0, len(values)))

    rows: dict[str, tuple[pa.DataType, Any]] = {
        "a": (pa.list_(pa.int32()), lambda: maybe(some(numbers))),
        "a2": (pa.list_(pa.int32()), lambda: maybe(some([1, 2, 3, None], 0, 3))),
        "ad": (pa.list_(pa.float64()), lambda: maybe(some(doubles))),
        "at": (pa.list_(pa.string()), lambda: maybe(some(texts))),
        "at2": (pa.list_(pa.string()), lambda: maybe(some(["a", "b", "é", None], 0, 3))),
        "aa": (pa.list_(pa.list_(pa.int32())), lambda: maybe([maybe(some(numbers, 0, 3)) for _ in range(choose.randint(0, 3))])),
        "ao": (pa.list_(_STRUCT), lambda: maybe([maybe({"x": choose.choice(numbers), "y": choose.choice(texts)}) for _ in range(choose.randint(0, 3))])),
        "m": (pa.map_(pa.string(), pa.int32()), lambda: maybe([(k, choose.choice(numbers)) for k in unique(["a", "b", "", "é"])])),
        "m2": (pa.map_(pa.string(), pa.int32()), lambda: maybe([(k, choose.choice(numbers)) for k in unique(["c", "d", "😀"])])),
        "mk": (pa.map_(pa.int32(), pa.string()), lambda: maybe([(k, choose.choice(texts)) for k in unique([1, 2, 3, -1])])),
        "o": (_STRUCT, lambda: maybe({"x": choose.choice(numbers), "y": choose.choice(texts)})),
        "i": (pa.int32(), lambda: choose.choice([1, 2, 3, -1, -2, 4, None])),
        "j": (pa.int32(), lambda: choose.choice([0, 1, 2, 3, None])),
        "l": (pa.int64(), lambda: choose.choice([1, 2, -1, 2147483647, 2**62, None])),
        "s": (pa.string(), lambda: choose.choice(texts)),
        "d": (pa.float64(), lambda: choose.choice(doubles)),
        "dt": (pa.date32(), lambda: maybe(choose.randint(-1000, 30000))),
    }  # fmt: skip
    arrays = [pa.array([make() for _ in range(count)], data_type) for data_type, make in rows.values()]
    # a slice, so that offsets count
    return pa.RecordBatch.from_arrays(arrays, names=list(rows)).slice(7)


ROWS = _rows()
# of up to 5, 10 and 20 elements
VECTORS = [
    "transform(ad, x -> float(x))",
    "transform(concat(a2, a, a2), x -> float(x / 7))",
    "transform(filter(concat(a, a2, a, a2), x -> x IS NOT NULL), x -> float(x / 3))",
]

FUNCTIONS: dict[str, list[str]] = {
    "string": [f"string({value})" for value in ("a", "ad", "at", "aa", "ao", "m", "mk", "o", "array(dt)",
        "struct(ad, m, s)", "array(binary(s))", "map(coalesce(dt, DATE '2000-01-01'), timestamp(dt))", "array(array(1.50BD, NULL))")],
    "vector_norm": [f"vector_norm({v}, {n})" for v in VECTORS for n in ("1f", "2f", "float('infinity')")],
    "vector_normalize": [f"vector_normalize({v}, {n})" for v in VECTORS for n in ("1f", "2f", "float('infinity')")],
    "vector_inner_product": [f"vector_inner_product({v}, reverse({v}))" for v in VECTORS],
    "vector_l2_distance": [f"vector_l2_distance({v}, reverse({v}))" for v in VECTORS],
    "vector_cosine_similarity": [f"vector_cosine_similarity({v}, reverse({v}))" for v in VECTORS],
    "to_json": ["to_json(o)", "to_json(named_struct('a', a, 'd', d, 't', at, 'm', m, 'l', l))", "to_json(ao)", "to_json(aa)", "to_json(at)",
                "to_json(m)", "to_json(mk)", "to_json(struct(dt, timestamp(dt), CAST(dt AS TIMESTAMP_NTZ) AS n, float(d) AS f))", "to_json(struct(s, i), map('ignoreNullFields', 'false'))",
                "to_json(struct(o, ao), map('ignoreNullFields', 'false'))", "to_json(array(concat(s, char(31), char(10), '\\\\\"/', s)))", "to_json(array(i > 1, NULL))",
                "to_json(array(decimal(i) / 1000000000, NULL))", "to_json(ad)", "to_json(named_struct('é\"', j))", "to_json(named_struct('a', 1))"],
    "array": ["array(i, j, 5)", "array(a, a2)", "coalesce(array(), a)"],
    "array_append": ["array_append(a, i)", "array_append(at, s)", "array_append(aa, a)"],
    "array_compact": ["array_compact(a)", "array_compact(at)", "array_compact(ao)"],
    "array_contains": ["array_contains(a, i)", "array_contains(ad, d)", "array_contains(ao, o)"],
    "array_distinct": ["array_distinct(a)", "array_distinct(ad)", "array_distinct(at)", "array_distinct(aa)",
                       "array_distinct(ao)"],
    "array_except": ["array_except(a, a2)", "array_except(ad, array(d, 0D))", "array_except(at, at2)",
                     "array_except(aa, array(a))"],
    "array_insert": ["array_insert(a, i, 9)", "array_insert(at, 5, s)", "array_insert(a, -7, j)"],
    "array_intersect": ["array_intersect(a, a2)", "array_intersect(ad, array(d, 0D))",
                        "array_intersect(at, at2)"],
    "array_join": ["array_join(at, ',')", "array_join(at, s, 'nil')"],
    "array_max": ["array_max(a)", "array_max(ad)", "array_max(at)", "array_max(aa)"],
    "array_min": ["array_min(a)", "array_min(ad)", "array_min(at)", "array_min(ao)"],
    "array_position": ["array_position(a, i)", "array_position(ad, d)", "array_position(at, s)"],
    "array_prepend": ["array_prepend(a, i)", "array_prepend(at, s)"],
    "array_remove": ["array_remove(a, i)", "array_remove(ad, d)", "array_remove(at, 'a')"],
    "array_repeat": ["array_repeat(i, j)", "array_repeat(s, 3)", "array_repeat(a, j)"],
    "array_size": ["array_size(a)", "array_size(aa)"],
    "array_sort": ["array_sort(a)", "array_sort(ad)", "array_sort(at)", "array_sort(aa)",
                   "array_sort(at, (x, y) -> CASE WHEN length(x) < length(y) THEN 1 WHEN x > y THEN -1 ELSE 0 END)",
                   "array_sort(a, (x, y) -> CASE WHEN x < y THEN 1 WHEN x > y THEN -1 ELSE 0 END)"],
    "array_union": ["array_union(a, a2)", "array_union(ad, array(d, -0D))", "array_union(at, at2)"],
    "arrays_overlap": ["arrays_overlap(a, a2)", "arrays_overlap(at, at2)", "arrays_overlap(ad, array(d))"],
    "arrays_zip": ["arrays_zip(a, at)", "arrays_zip(a, a2, aa)"],
    "cardinality": ["cardinality(a)", "cardinality(m)"],
    "concat": ["concat(a, a2)", "concat(at, at2, array('z'))"],
    "element_at": ["element_at(m, 'a')", "element_at(mk, i)", "CASE WHEN size(a) > 1 THEN element_at(a, -2) END"],
    "exists": ["exists(a, x -> x > 1)", "exists(a, x -> x > i)", "exists(at, x -> x = s)"],
    "filter": ["filter(a, x -> x > 1)", "filter(a, (x, n) -> n % 2 = 0)", "filter(at, x -> x IS NOT NULL)",
               "filter(aa, x -> size(x) > j)"],
    "flatten": ["flatten(aa)", "flatten(array(a, a2))", "flatten(array(at))"],
    "forall": ["forall(a, x -> x > 0)", "forall(at, x -> x <> s)"],
    "aggregate": ["aggregate(a, 0L, (acc, x) -> acc + x)", "aggregate(a, 0L, (acc, x) -> acc + coalesce(x, i))",
                  "aggregate(at, '', (acc, x) -> concat(acc, coalesce(x, '-')), acc -> concat('<', acc, s))"],
    "reduce": ["reduce(a2, 1L, (acc, x) -> acc * 2 + x, acc -> acc % 7)"],
    "get": ["get(a, 0)", "get(a, i)", "get(ao, 1).y"],
    "map": ["map('k', i, 'l', j)", "map(1, a, 2, a2)", "coalesce(map(), m)"],
    "map_concat": ["map_concat(m, m2)", "map_concat(m2, map('z', i))"],
    "map_contains_key": ["map_contains_key(m, s)", "map_contains_key(mk, i)"],
    "map_entries": ["map_entries(m)", "map_entries(mk)"],
    "map_filter": ["map_filter(m, (k, v) -> v > 1)", "map_filter(mk, (k, v) -> k > i OR v = s)"],
    "map_from_arrays": ["map_from_arrays(map_keys(m), map_values(m))", "map_from_arrays(array('p', 'q'), array(a, a2))"],
    "map_from_entries": ["map_from_entries(map_entries(m))", "map_from_entries(array(struct('p' AS k, i AS v), struct('q' AS k, j AS v)))"],
    "map_keys": ["map_keys(m)", "map_keys(mk)"],
    "map_values": ["map_values(m)", "map_values(mk)"],
    "map_zip_with": ["map_zip_with(m, map('a', i, 'z', j), (k, v, w) -> concat_ws('/', k, v, w))",
                     "map_zip_with(m, m2, (k, v, w) -> coalesce(v, w))"],
    "named_struct": ["named_struct('p', i, 'q', a)"],
    "reverse": ["reverse(a)", "reverse(aa)"],
    "sequence": ["sequence(j, 3)", "sequence(i, j, if(i > j, -1, 1))", "sequence(dt, dt + 3)",
                 "sequence(dt, dt + 100, INTERVAL 1 MONTH)", "sequence(timestamp(dt), timestamp(dt + 1), INTERVAL 7 HOUR)"],
    "size": ["size(a)", "size(m)"],
    "slice": ["slice(a, i, j)", "slice(at, 2, 2)", "slice(aa, -2, 2)"],
    "sort_array": ["sort_array(a)", "sort_array(a, false)", "sort_array(ad)", "sort_array(at, false)",
                   "sort_array(ao)", "sort_array(aa)"],
    "str_to_map": ["str_to_map(concat('a:', s, ',b'))"],
    "struct": ["struct(i, a, s)"],
    "transform": ["transform(a, x -> try_add(x, 1))", "transform(a, (x, n) -> concat(x, ':', n, s))",
                  "transform(aa, x -> transform(x, y -> y % 10 + size(x)))", "transform(ao, x -> x.y)",
                  "transform(a, x -> 1)", "transform(a, x -> x IS NULL)"],
    "transform_keys": ["transform_keys(m, (k, v) -> concat(k, '!'))", "transform_keys(mk, (k, v) -> k * 2)"],
    "transform_values": ["transform_values(m, (k, v) -> concat(k, v, s))", "transform_values(mk, (k, v) -> k + i)"],
    "try_element_at": ["try_element_at(a, i)", "try_element_at(m, s)", "try_element_at(mk, i)"],
    "zip_with": ["zip_with(a, a2, (x, y) -> coalesce(x, 0) % 9 + y)", "zip_with(a, at, (x, y) -> struct(x, y, s))"],
    "hash": ["hash(a)", "hash(o, i)", "hash(ad, d)", "hash(ao)", "hash(dt)"],
    "xxhash64": ["xxhash64(a)", "xxhash64(o, i)", "xxhash64(ad, d)"],
    "=": ["a = a2", "o = struct(i, s)"],
    "in": ["a IN (a2, array(1))"],
}  # fmt: skip
