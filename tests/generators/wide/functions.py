"""Calls that DuckDB has no words for, by the type of the column they are of.

In a template {c} is the column, {o} another of its type, {p} a condition. None of them can raise.
"""

# ruff: noqa: E501  a query a line
from __future__ import annotations

from tests.generators.wide.sql_functions import CALLS as SQL_CALLS

# as the values of tests/generators/values.py and what is computed of them allow
_INTEGERS = [
    ("STRING", "conv({c}, 10, 16)"),
    ("STRING", "bin({c})"),
    ("STRING", "hex({c})"),
    ("STRING", "format_number({c}, 2)"),
    ("STRING", "format_string('%05d|%s', {c}, {o})"),
    ("STRING", "to_json(map({c} IS NULL, {o}))"),
    ("BOOLEAN", "try_parse_json(CAST({c} AS STRING)) IS NOT NULL"),
    ("ARRAY<INT>", "sequence(0, CAST(pmod(coalesce({c}, 0), 3) AS INT))"),
    ("ARRAY<INT>", "transform(array({c}, {o}), x -> CAST(x % 7 AS INT))"),
    ("ARRAY<INT>", "filter(array(CAST({c} % 5 AS INT), 2), x -> x > 0)"),
    ("INT", "CAST(aggregate(array({c}, {o}), 0L, (a, x) -> a + coalesce(x % 10, 0)) AS INT)"),
    ("DATE", "make_date(2024, CAST(1 + pmod({c}, 12) AS INT), 3)"),
    ("DOUBLE", "try_divide({c}, {o})"),
    ("VARIANT", "to_variant_object(named_struct('a', {c}, 'b', array({o}, 1)))"),
    ("VARIANT", "parse_json(CASE WHEN {p} THEN '{{\"a\": 1, \"b\": [1, null]}}' ELSE '[2]' END)"),
    ("STRUCT<x: INT, y: STRING>", "named_struct('x', CAST({c} % 9 AS INT), 'y', CAST({o} AS STRING))"),
]
_STRINGS = [
    ("STRING", "regexp_replace({c}, '(?<!b)[a-z]', '<$0>')"),
    ("STRING", "regexp_extract({c} || {o}, '(.)(?=\\\\1)|(b)', 1)"),
    ("STRING", "regexp_replace({c}, concat('[', {o}, 'x]*'), '-')"),
    ("STRING", "regexp_replace({c}, '', '.')"),
    ("STRING", "split({c}, '|')[0]"),
    ("STRING", "split_part({c}, coalesce({o}, 'a'), 1)"),
    ("STRING", "soundex({c})"),
    ("INT", "levenshtein({c}, {o})"),
    ("STRING", "mask({c}, '#')"),
    ("STRING", "conv(substring(hex({c}), 1, 4), 16, 10)"),
    ("INT", "find_in_set({c}, concat('a,b,', {o}))"),
    ("INT", "instr({c} || {o}, 'b')"),
    ("STRING", "initcap({c})"),
    ("STRING", "translate({c}, 'ab', 'x')"),
    ("STRING", "overlay({c} PLACING 'zz' FROM 2)"),
    ("STRING", "format_string('%s|%5s', {c}, {o})"),
    ("STRING", "sha2(CAST({c} AS BINARY), 256)"),
    ("STRING", "to_json(named_struct('a', {c}))"),
    ("STRING", "get_json_object(to_json(named_struct('a', array({c}, {o}))), '$.a[1]')"),
    ("STRING", "from_json(to_json(named_struct('a', {c})), 'a STRING').a"),
    ("STRING", "from_csv({c}, 'x STRING, y INT').x"),
    ("STRING", "to_csv(named_struct('x', {c}, 'y', 1))"),
    ("STRING", "xpath_string(concat('<a><b>', {c}, '</b></a>'), 'a/b')"),
    ("STRING", "array_join(array({c}, {o}), '-', '?')"),
    ("STRING", "CAST(lower({c} COLLATE UTF8_LCASE) AS STRING)"),
    ("STRING", "base64(CAST({c} AS BINARY))"),
    ("STRING", "try_aes_decrypt(CAST({c} AS BINARY), CAST('0000000000000000' AS BINARY))::STRING"),
    ("STRING", "schema_of_variant(try_parse_json({c}))"),
    ("BOOLEAN", "{c} COLLATE UTF8_LCASE = {o}"),
    ("BOOLEAN", "{c} RLIKE '^(a|b)+$'"),
    ("BOOLEAN", "contains({c}, {o})"),
    ("INT", "ascii({c})"),
    ("VARIANT", "try_parse_json({c})"),
    ("VARIANT", "to_variant_object(map('a', {c}, 'b', {o}))"),
    ("VARIANT", "CAST({c} AS VARIANT)"),
]
_TIMES = [
    ("STRING", "date_format({c}, 'yyyy-MM-dd D EEE')"),
    ("STRING", "date_format({c}, if({p}, 'yyyy', 'MM'))"),
    ("INT", "weekofyear({c})"),
    ("STRING", "dayname({c})"),
    ("DATE", "date_add({c}, 1)"),
    ("DATE", "last_day({c})"),
    ("DATE", "next_day({c}, 'mo')"),
    ("TIMESTAMP", "CAST({c} + make_interval(0, 1, 0, 2) AS TIMESTAMP)"),
    ("TIMESTAMP", "CAST(date_trunc('week', {c}) AS TIMESTAMP)"),
    ("DOUBLE", "months_between({c}, DATE '2020-01-01')"),
    ("INT", "CAST(extract(DOW FROM {c}) AS INT)"),
    ("STRING", "to_json(named_struct('t', {c}))"),
    ("VARIANT", "CAST({c} AS VARIANT)"),
]
_FRACTIONS = [
    ("STRING", "format_number({c}, 1)"),
    ("STRING", "CAST({c} AS STRING)"),
    ("INT", "CAST(width_bucket({c}, 0, 10, 5) AS INT)"),
    ("STRING", "to_json(array({c}))"),
    ("VARIANT", "CAST({c} AS VARIANT)"),
]
TEMPLATES: dict[str, list[tuple[str, str]]] = {
    "INT": [*_INTEGERS, *SQL_CALLS["INT"]],
    "BIGINT": [*_INTEGERS, *SQL_CALLS["BIGINT"]],
    "STRING": [*_STRINGS, *SQL_CALLS["STRING"]],
    "DATE": _TIMES,
    "TIMESTAMP": _TIMES,
    "DOUBLE": _FRACTIONS,
    "DECIMAL(10,2)": [*_FRACTIONS, ("STRING", "to_char({c}, '99999999.99')")],
    "BINARY": [
        ("STRING", "hex({c})"),
        ("STRING", "base64({c})"),
        ("STRING", "md5({c})"),
        ("BIGINT", "crc32({c})"),
        ("BOOLEAN", "is_valid_utf8(CAST({c} AS STRING))"),
    ],
    "ARRAY<INT>": [
        ("ARRAY<INT>", "array_sort({c}, (x, y) -> coalesce(y, 0) - coalesce(x, 0))"),
        ("ARRAY<INT>", "array_distinct(concat({c}, {o}))"),
        ("ARRAY<INT>", "array_except({c}, {o})"),
        ("INT", "size(arrays_zip({c}, {o}))"),
        ("BOOLEAN", "exists({c}, x -> x > 1)"),
        ("BOOLEAN", "arrays_overlap({c}, {o})"),
        ("STRING", "to_json(map_from_arrays(array_distinct(array_compact({c})), array_distinct(array_compact({c}))))"),
        ("STRING", "array_join({c}, ',', '-')"),
        ("INT", "element_at({c}, -1)"),
        ("VARIANT", "to_variant_object({c})"),
    ],
    "STRUCT<x: INT, y: STRING>": [
        ("STRING", "to_json({c})"),
        ("INT", "{c}.x"),
        ("STRING", "{c}.y"),
        ("VARIANT", "to_variant_object({c})"),
    ],
    "VARIANT": [
        ("STRING", "to_json({c})"),
        ("STRING", "schema_of_variant({c})"),
        ("STRING", "{c}:a::STRING"),
        ("INT", "try_variant_get({c}, '$.b[0]', 'int')"),
        ("INT", "try_variant_get({c}, '$.a', 'int')"),
        ("BOOLEAN", "is_variant_null({c})"),
        ("VARIANT", "{c}:b"),
        ("VARIANT", "coalesce({c}, {o})"),
        ("VARIANT", "CASE WHEN {p} THEN {c} ELSE {o} END"),
        ("VARIANT", "variant_strip_nulls({c})"),
        ("VARIANT", "try_variant_set(parse_json('{{}}'), '$.a', to_json({c}))"),
        ("STRING", "to_json(array({c}, {o})[1])"),
    ],
}  # fmt: skip

# by type: what they make, and the aggregate, with {f} where a FILTER may stand
_LISTS = [
    ("STRING", "to_json(sort_array(collect_list({c}){f}))"),
    ("STRING", "to_json(sort_array(collect_set({c}){f}))"),
    ("BIGINT", "CAST(size(array_agg({c}){f}) AS BIGINT)"),
    ("BIGINT", "approx_count_distinct({c}){f}"),
]
_SKETCHED = [
    ("BIGINT", "hll_sketch_estimate(hll_sketch_agg({c}){f})"),
    ("BIGINT", "hll_sketch_estimate(hll_sketch_agg(DISTINCT {c}){f})"),
    ("BIGINT", "theta_sketch_estimate(theta_sketch_agg({c}){f})"),
    ("BINARY", "count_min_sketch({c}, 0.5d, 0.5d, 1){f}"),
]
_OF_INTEGERS = [
    ("DOUBLE", "aggregate(histogram_numeric({c}, 50){f}, 0d, (a, b) -> a + b.y)"),
    ("STRING", "to_json(approx_top_k({c} % 1){f})"),
    ("BIGINT", "bitmap_count(bitmap_construct_agg(bitmap_bit_position(abs({c}))){f})"),
    ("DOUBLE", "CAST(percentile({c}, 0.3){f} AS DOUBLE)"),
    ("INT", "CAST(percentile_approx({c} % 100, 0.5){f} AS INT)"),
    ("DOUBLE", "kurtosis({c} % 100){f}"),
    ("DOUBLE", "regr_slope({c} % 100, {o} % 10){f}"),
    ("BIGINT", "CAST(try_sum(CAST({c} AS BIGINT)){f} AS BIGINT)"),
    ("INT", "CAST(mode() WITHIN GROUP (ORDER BY {c} % 5){f} AS INT)"),
    ("STRING", "to_json(max_by(struct({c}, {o}), struct({c}, {o}), 2){f})"),
    ("BOOLEAN", "every({c} > 0){f}"),
]
AGGREGATES: dict[str, list[tuple[str, str]]] = {
    "INT": [*_LISTS, *_SKETCHED, *_OF_INTEGERS],
    "BIGINT": [*_LISTS, *_SKETCHED, *_OF_INTEGERS],
    "STRING": [
        *_LISTS,
        *_SKETCHED,
        ("STRING", "listagg({c}, ',') WITHIN GROUP (ORDER BY {c}){f}"),
        ("STRING", "schema_of_variant_agg(try_parse_json({c})){f}"),
        ("STRING", "max_by({c}, {c}){f}"),
        ("STRING", "to_json(sort_array(transform(collect_list({c}){f}, x -> upper(x))))"),
    ],
    "ARRAY<INT>": [("STRING", "to_json(sort_array(collect_union({c}){f}))"), ("ARRAY<INT>", "max({c}){f}")],
    "DATE": _LISTS,
    "TIMESTAMP": [*_LISTS, ("TIMESTAMP", "max_by({c}, {c}){f}")],
    "DECIMAL(10,2)": [*_LISTS[:3], ("DECIMAL(10,2)", "percentile_disc(0.3) WITHIN GROUP (ORDER BY {c}){f}")],
    "STRUCT<x: INT, y: STRING>": [("STRUCT<x: INT, y: STRING>", "min({c}){f}"), *_LISTS[:1]],
    "VARIANT": [
        ("BIGINT", "count({c}){f}"),
        ("STRING", "schema_of_variant_agg({c}){f}"),
        ("BIGINT", "CAST(size(collect_list({c}){f}) AS BIGINT)"),
    ],
    "BINARY": [*_SKETCHED[:1], *_LISTS[2:3]],
}
