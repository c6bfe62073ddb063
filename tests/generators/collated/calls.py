"""Calls of texts that have a collation. None of them can raise.

In a template {c} is such a text, {o} another of its collation, {l} a literal, {p} a condition.
"""

from __future__ import annotations

TEXT = "STRING COLLATE "
LITERALS = ("'a'", "'A '", "'Ä'", "'ss'", "'B'", "''", "NULL")
OF_TEXTS = [
    ("BOOLEAN", "{c} = {l}"),
    ("BOOLEAN", "{c} <=> {o}"),
    ("BOOLEAN", "{c} < {o}"),
    ("BOOLEAN", "{c} IN ({l}, 'SS', {o})"),
    ("BOOLEAN", "{c} BETWEEN {l} AND {o}"),
    ("BOOLEAN", "{c} IS DISTINCT FROM {l}"),
    ("BOOLEAN", "struct({c} AS x, 1 AS y) = struct({o} AS x, 1 AS y)"),
    ("BOOLEAN", "array({c}) >= array({o})"),
    ("BOOLEAN", "array_contains(array({c}, 'b'), {o})"),
    ("BOOLEAN", "arrays_overlap(array({c}, 'b'), array({o}))"),
    ("BOOLEAN", "exists(array({c}, 'b'), x -> x = {l})"),
    ("BIGINT", "array_position(array('ss', 'a', 'Ä'), {c})"),
    ("INT", "CASE {c} WHEN 'A' THEN 1 WHEN {o} THEN 2 ELSE 3 END"),
    ("INT", "decode({c}, 'A', 1, {o}, 2)"),
    ("INT", "size(array_distinct(array({c}, {o}, 'A')))"),
    ("INT", "size(array_except(array({c}, 'B'), array({o})))"),
    ("INT", "length({c})"),
    ("INT", "hash({c})"),
    ("STRING", "CAST(greatest({c}, {o}, 'b') AS STRING)"),
    ("STRING", "CAST(least({c}, {l}) AS STRING)"),
    ("STRING", "CAST(nullif({c}, {o}) AS STRING)"),
    ("STRING", "CAST(array_join(array_sort(array({c}, 'A', 'b')), '-', '?') AS STRING)"),
    ("STRING", "CAST(array_join(array_union(array({c}), array({o})), '-', '?') AS STRING)"),
    ("STRING", "CAST(array_join(array_intersect(array({c}), array({o}, 'a')), '-', '?') AS STRING)"),
    ("STRING", "CAST(array_max(array({c}, {o})) AS STRING)"),
    ("STRING", "CAST(array_join(array_remove(array({c}, 'b'), 'A'), '-') AS STRING)"),
    ("STRING", "CAST(initcap({c} || {o}) AS STRING)"),
    ("STRING", "collation({c})"),
]
OF_PARTS = [
    ("BOOLEAN", "contains({c}, {o})"),
    ("BOOLEAN", "startswith({c}, {l})"),
    ("BOOLEAN", "endswith({c}, 'S')"),
    ("INT", "instr({c} || 'xA', 'a')"),
    ("INT", "locate({o}, concat('B', {c}))"),
    ("INT", "find_in_set({c}, 'A,b,ss')"),
    ("STRING", "CAST(replace({c}, 'A', 'x') AS STRING)"),
    ("STRING", "CAST(translate({c}, 'As', 'x') AS STRING)"),
    ("STRING", "CAST(split_part({c} || 'xA', 'X', 1) AS STRING)"),
    ("STRING", "CAST(substring_index({c}, 'S', 1) AS STRING)"),
    ("STRING", "CAST(trim(BOTH 'S' FROM {c}) AS STRING)"),
]
# which Spark has for UTF8_BINARY and UTF8_LCASE
OF_PATTERNS = [
    ("BOOLEAN", "{c} LIKE 'A%'"),
    ("BOOLEAN", "{c} NOT LIKE ALL ('A', 's_')"),
    ("BOOLEAN", "{c} ILIKE '_S'"),
    ("BOOLEAN", "{c} RLIKE '^A'"),
    ("STRING", "CAST(regexp_replace({c}, 'A', 'x') AS STRING)"),
    ("INT", "size(split({c} || 'xa', 'A'))"),
]
MADE = ("upper({c})", "lower({c})", "coalesce({c}, 'A')", "if({c} = 'a', NULL, {c})", "nullif({c}, 'ss')")
COUNTED = (
    "greatest({c}, 0)",
    "abs({c})",
    "if({p}, greatest({c}, 0), NULL)",
    "CAST(abs({c}) AS DECIMAL(12,2))",
)
