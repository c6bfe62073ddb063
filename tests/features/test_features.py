"""Every feature of the language by name, each through all laws over seeded runs."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.generators.programs import Program, Table, View, table
from tests.generators.strategies import seeded_run
from tests.laws import laws
from tests.laws.laws import WAYS, Case
from tests.oracles.oracle import DuckDB, Spark

pytestmark = pytest.mark.spark

EVENTS = table("e", "k BIGINT, i INT, s STRING, d DOUBLE, m DECIMAL(10,2), ts TIMESTAMP, dt DATE, b BOOLEAN")
CUSTOMERS = table("c", "k BIGINT, s STRING, j INT", key=("k",))
LINES = table("o", "k BIGINT, s STRING, i INT, d DOUBLE", key=("k", "s"))
CLICKS = table("a", "k BIGINT, s STRING, ts TIMESTAMP, d DOUBLE, i INT", append_only=True)
PERIODS = table(
    "periods", "k BIGINT, y INTERVAL YEAR TO MONTH, z INTERVAL YEAR TO MONTH, dt DATE, ts TIMESTAMP"
)
TERMS = table("terms", "y INTERVAL YEAR TO MONTH, v INT", key=("y",))
TABLES = (EVENTS, CUSTOMERS, LINES, CLICKS, PERIODS, TERMS)

# one view, or several separated by semicolons: v, w, x, ...
# fmt: off
# ruff: noqa: E501  a query a line
FEATURES = {
    "long expressions": f"SELECT k, {' + '.join(['i % 3'] * 250)} AS t, {'if(k = 1, s, ' * 150}'none'{')' * 150} AS n FROM e WHERE {' AND '.join(f'NOT (k = {n} AND i = {n})' for n in range(1, 250))}",
    "projection": "SELECT k, i + 1 AS i1, upper(s) AS u FROM e",
    "constant columns": "SELECT 1 AS one, 'a' AS a, k FROM e",
    "duplicate columns": "SELECT k AS a, k AS b, k AS c FROM e",
    "filter": "SELECT * FROM e WHERE i > 0 AND s <> 'a' OR d IS NULL",
    "filter that is never true": "SELECT * FROM e WHERE false",
    "CASE": "SELECT CASE WHEN i > 1 THEN 'x' WHEN i = 1 THEN s ELSE 'z' END AS c, CASE i WHEN 1 THEN k END AS n FROM e",
    "IF, COALESCE, NULLIF": "SELECT if(b, k, i) AS f, coalesce(s, 'x') AS s, nullif(k, 1) AS n FROM e",
    "lazy division": "SELECT CASE WHEN i = 0 THEN 0 ELSE 6 / i END AS q FROM e",
    "guarded division": "SELECT 6 / i AS q FROM e WHERE i <> 0 AND 6 / i > -3",
    "guarded division in a join": "SELECT e.k, c.j FROM e JOIN c ON e.k = c.k AND e.i <> 0 AND c.j / e.i >= 0",
    "IN, BETWEEN, LIKE": "SELECT k, s FROM e WHERE k IN (1, 2, NULL) OR i BETWEEN 0 AND 1 OR s LIKE '%b'",
    "three-valued NOT IN": "SELECT k FROM e WHERE NOT (k IN (1, i))",
    "string functions": "SELECT s || 'x' AS a, length(s) AS n, substring(s, 1, 2) AS b, trim(' ' || s) AS t FROM e",
    "dates": "SELECT year(dt) AS y, month(dt) AS m, CAST(ts AS DATE) AS d, date_trunc('hour', ts) AS h FROM e",
    "casts": "SELECT CAST(i AS STRING) AS s, CAST(i AS DOUBLE) AS d, CAST(b AS INT) AS n, CAST(k AS DECIMAL(12,3)) AS m FROM e",
    "decimals": "SELECT CAST(m + m AS DECIMAL(12,2)) AS a, CAST(m * 2 AS DECIMAL(14,2)) AS b, -m AS c FROM e",
    "join": "SELECT e.k, e.s, c.j FROM e JOIN c ON e.k = c.k",
    "join on two columns": "SELECT e.k, e.d, o.i FROM e JOIN o ON e.k = o.k AND e.s = o.s",
    "join with residual": "SELECT e.k, e.i, c.j FROM e JOIN c ON e.k = c.k AND e.i < c.j",
    "join on expressions": "SELECT e.k, c.k AS ck FROM e JOIN c ON e.k + 1 = c.k",
    "join of different types": "SELECT e.i, c.k FROM e JOIN c ON e.i = c.k",
    "join USING": "SELECT k, e.s AS es, c.s AS cs FROM e JOIN c USING (k)",
    "join by comma": "SELECT e.k, c.s FROM e, c WHERE e.k = c.k AND c.j > 0",
    "null-safe join": "SELECT e.k, a.i FROM e JOIN a ON e.s IS NOT DISTINCT FROM a.s AND e.i = a.i",
    "self join": "SELECT x.k, y.i FROM e x JOIN e y ON x.k = y.i",
    "join of three": "SELECT e.k, c.s, o.d FROM e JOIN c ON e.k = c.k JOIN o ON c.k = o.k AND o.i = c.j",
    "join on doubles": "SELECT e.d AS x, a.d AS y FROM e JOIN a ON e.d = a.d",
    "join on dates and booleans": "SELECT x.k FROM e x JOIN e y ON x.dt = y.dt AND x.b = y.b",
    "left join": "SELECT e.k, e.s, c.j FROM e LEFT JOIN c ON e.k = c.k",
    "left join of bags": "SELECT e.k, e.s, a.i FROM e LEFT JOIN a ON e.s = a.s",
    "left join with residual": "SELECT e.k, e.i, a.i AS ai FROM e LEFT JOIN a ON e.k = a.k AND e.i < a.i",
    "left join with one-sided conditions": "SELECT e.k, c.j FROM e LEFT JOIN c ON e.k = c.k AND e.i > 0 AND c.j > 0",
    "left join with guarded division": "SELECT e.k, c.j FROM e LEFT JOIN c ON e.k = c.k AND e.i <> 0 AND 6 / e.i >= 0",
    "right join": "SELECT e.k AS ek, c.* FROM e RIGHT JOIN c ON e.k = c.k AND e.i > c.j",
    "full join": "SELECT e.k, e.i, o.k AS ok, o.s FROM e FULL JOIN o ON e.k = o.k",
    "full join with residual": "SELECT e.k, e.i, o.k AS ok, o.s FROM e FULL JOIN o ON e.k = o.k AND e.i < o.i AND e.i > -1",
    "full join USING": "SELECT k, e.s AS es, c.s AS cs FROM e FULL JOIN c USING (k)",
    "full join of doubles and expressions": "SELECT e.d, a.d AS ad FROM e FULL JOIN a ON e.d = a.d AND e.i + 1 = a.i",
    "null-safe left join": "SELECT e.k, a.i FROM e LEFT JOIN a ON e.s IS NOT DISTINCT FROM a.s AND e.i = a.i",
    "left join that is never true": "SELECT e.k, c.j FROM e LEFT JOIN c ON e.k = c.k AND e.i <> e.i",
    "outer joins of three": "SELECT e.k, c.s, o.d FROM e LEFT JOIN c ON e.k = c.k FULL JOIN o ON c.k = o.k AND o.i = c.j",
    "aggregates over an outer join": "SELECT c.k, count(e.i) AS n, sum(e.i) AS t FROM c LEFT JOIN e ON c.k = e.k GROUP BY c.k",
    "rows without a partner": "SELECT e.k, e.s FROM e LEFT JOIN c ON e.k = c.k WHERE c.k IS NULL",
    "cross join": "SELECT e.k, c.j FROM e CROSS JOIN c",
    "non-equi join": "SELECT e.k, c.k AS ck FROM e JOIN c ON e.k < c.k AND e.i > c.j",
    "non-equi outer joins": "SELECT e.k, c.k AS ck FROM e LEFT JOIN c ON e.k < c.k; SELECT e.i, c.j FROM e FULL JOIN c ON e.i < c.j AND e.k > 0",
    "join ON true": "SELECT e.k, c.j FROM e LEFT JOIN c ON true",
    "OR condition": "SELECT e.k, e.i, c.k AS ck, c.j FROM e JOIN c ON e.k = c.k OR e.i = c.j",
    "left join by OR": "SELECT e.k, e.i, c.k AS ck, c.j FROM e LEFT JOIN c ON e.k = c.k OR e.i = c.j",
    "range join": "SELECT e.i, c.k FROM e JOIN c ON e.i BETWEEN c.k AND c.k + c.j",
    "count": "SELECT count(*) AS n, count(s) AS s, count(1) AS o FROM e",
    "count of nothing else": "SELECT count(*) AS n FROM e",
    "group by": "SELECT k, count(*) AS n, sum(i) AS s, min(d) AS lo, max(s) AS hi FROM e GROUP BY k",
    "group by without aggregates": "SELECT k FROM e GROUP BY k",
    "group by expressions": "SELECT i % 2 AS p, upper(s) AS u, count(*) AS n FROM e GROUP BY i % 2, upper(s)",
    "group by position": "SELECT k, s, count(*) AS n FROM e GROUP BY 1, 2",
    "group by doubles": "SELECT d, count(*) AS n FROM e GROUP BY d",
    "group by many types": "SELECT m, dt, ts, b, count(*) AS n FROM e GROUP BY m, dt, ts, b",
    "expressions over aggregates": "SELECT k, sum(i) + count(*) AS x, max(i) - min(i) AS r FROM e GROUP BY k",
    "HAVING": "SELECT k, count(*) AS n FROM e GROUP BY k HAVING count(*) > 1 AND max(i) > 0",
    "FILTER": "SELECT k, count(*) FILTER (WHERE b) AS n, sum(i) FILTER (WHERE i > 0) AS s, max(s) FILTER (WHERE NOT b) AS m FROM e GROUP BY k",
    "averages": "SELECT k, avg(i) AS ai, avg(d) AS ad FROM e WHERE d > 0 GROUP BY k",
    "global aggregates": "SELECT sum(i) AS s, avg(k) AS a, min(s) AS lo, max(ts) AS hi FROM e",
    "sums of doubles": "SELECT k, sum(d) AS s FROM e WHERE d > 0 GROUP BY k",
    "sums of decimals": "SELECT k, sum(m) AS s, min(m) AS lo FROM e GROUP BY k",
    "extremes of every type": "SELECT k, min(b) AS b, max(b) AS c, min(dt) AS dt, max(ts) AS ts, min(m) AS m, max(d) AS d FROM e GROUP BY k",
    "extremes of append-only input": "SELECT k, min(i) AS lo, max(ts) AS hi, max(d) AS d, min(s) AS s FROM a GROUP BY k",
    "count distinct": "SELECT k, count(DISTINCT s) AS s, count(DISTINCT i) AS i, count(*) AS n FROM e GROUP BY k",
    "sum distinct": "SELECT k, sum(DISTINCT i) AS s FROM e GROUP BY k",
    "aggregates over a join": "SELECT c.s, count(*) AS n, sum(e.i) AS t FROM e JOIN c ON e.k = c.k GROUP BY c.s",
    "no rows at all": "SELECT k, sum(i) AS s FROM e WHERE false GROUP BY k; SELECT count(*) AS n, sum(i) AS s FROM e WHERE false",
    "constant groups": "SELECT 'a' AS x, count(*) AS n FROM e GROUP BY 'a', k",
    "HAVING without groups": "SELECT max(k) AS m FROM e HAVING count(*) > 2",
    "two-level aggregation": "SELECT max(n) AS most, count(*) AS groups FROM (SELECT k, count(*) AS n FROM e GROUP BY k) q",
    "maximum joined back": "SELECT e.k, e.i FROM e JOIN (SELECT k, max(i) AS top FROM e GROUP BY k) t ON e.k = t.k AND e.i = t.top",
    "DISTINCT": "SELECT DISTINCT k, s FROM e",
    "DISTINCT of everything": "SELECT DISTINCT * FROM e",
    "DISTINCT of append-only input": "SELECT DISTINCT k, d FROM a",
    "UNION ALL": "SELECT k, s FROM e UNION ALL SELECT k, s FROM c UNION ALL SELECT k, s FROM e",
    "UNION": "SELECT k, s FROM e UNION SELECT k, s FROM c",
    "UNION ALL of types": "SELECT k AS x FROM e UNION ALL SELECT i AS x FROM e",
    "sub-query": "SELECT x FROM (SELECT k + i AS x, s FROM e) q WHERE x > 1",
    "CTE": "WITH big AS (SELECT * FROM e WHERE i > 0) SELECT l.k, r.s FROM big l JOIN big r ON l.k = r.k",
    "IN a view": "SELECT k, i FROM e WHERE k IN (SELECT k FROM c)",
    "EXISTS": "SELECT k, i FROM e WHERE EXISTS (SELECT 1 FROM a WHERE a.k = e.k)",
    "correlated IN": "SELECT k, i FROM e WHERE i IN (SELECT j FROM c WHERE c.k = e.k)",
    "NOT IN": "SELECT k, i FROM e WHERE k NOT IN (SELECT k FROM a)",
    "NOT IN of required columns": "SELECT k, j FROM c WHERE k NOT IN (SELECT k FROM o)",
    "correlated NOT IN": "SELECT k, i FROM e WHERE i NOT IN (SELECT j FROM c WHERE c.s = e.s)",
    "NOT IN of two columns": "SELECT k, i FROM e WHERE (k, i) NOT IN (SELECT k, i FROM a)",
    "EXISTS with inequality": "SELECT k, i FROM e WHERE EXISTS (SELECT 1 FROM a WHERE a.k = e.k AND a.i > e.i)",
    "NOT EXISTS": "SELECT k, i FROM e WHERE NOT EXISTS (SELECT 1 FROM a WHERE a.k = e.k)",
    "NOT EXISTS with inequality": "SELECT x.* FROM e x WHERE NOT EXISTS (SELECT 1 FROM e y WHERE y.k = x.k AND y.i > x.i)",
    "EXISTS under OR": "SELECT k, i FROM e WHERE i > 1 OR EXISTS (SELECT 1 FROM c WHERE c.k = e.k AND c.j < e.i)",
    "scalar sub-queries": "SELECT k, i, (SELECT max(j) FROM c) AS m FROM e WHERE i >= (SELECT avg(i) FROM a) AND k > 0",
    "equal to a scalar sub-query": "SELECT k, i FROM e WHERE i = (SELECT max(i) FROM e) OR k = (SELECT min(k) FROM c); SELECT k FROM e WHERE i = (SELECT max(i) FROM e)",
    "scalar sub-query of a key": "SELECT k, coalesce(i, (SELECT j FROM c WHERE k = 1)) AS v FROM e",
    "scalar sub-queries in groups": "SELECT k, sum(i) - (SELECT count(*) FROM c) AS d FROM e GROUP BY k HAVING count(*) <= (SELECT max(j) FROM c)",
    "scalar sub-queries in joins": "SELECT e.k, c.j FROM e LEFT JOIN c ON e.k = c.k AND e.i < (SELECT max(i) FROM a)",
    "uncorrelated EXISTS": "SELECT k FROM e WHERE EXISTS (SELECT 1 FROM c WHERE j > 1); SELECT k FROM e WHERE NOT EXISTS (SELECT * FROM c) OR i > 1",
    "correlated scalar of a key": "SELECT e.k, (SELECT c.j FROM c WHERE c.k = e.k) AS j FROM e",
    "correlated by more than an equality": "SELECT k, i, (SELECT count(*) FROM e p WHERE p.k = e.k AND p.i < e.i) AS n, (SELECT max(p.i) FROM e p WHERE p.i <> e.i AND p.k = e.k) AS m FROM e; SELECT k, i FROM e WHERE i > (SELECT sum(c.j) FROM c WHERE c.k = e.k AND c.j < e.i)",
    "correlated by more, of other outer rows": "SELECT e.k, e.i, x.n FROM e JOIN c ON e.k = c.k, LATERAL (SELECT count(*) AS n, min(a.i) AS m FROM a WHERE a.k = c.k AND a.i <= e.i) x WHERE c.j > 0 AND x.n < 3; SELECT k, (SELECT count(*) FROM a WHERE a.k IS NOT DISTINCT FROM c.k AND a.i < c.j AND a.s = c.s) AS n FROM c",
    "the last before each": "SELECT e.k, e.i, x.j FROM e, LATERAL (SELECT a.i AS j FROM a WHERE a.k = e.k AND a.i <= e.i ORDER BY a.i DESC LIMIT 1) x; SELECT e.k, e.i, x.j FROM e LEFT JOIN LATERAL (SELECT DISTINCT c.j FROM c WHERE c.k = e.k AND c.j <> e.i) x ON TRUE",
    "correlated count": "SELECT k, (SELECT count(*) FROM a WHERE a.k = c.k) AS n FROM c",
    "INTERSECT": "SELECT k, s FROM e INTERSECT SELECT k, s FROM a; SELECT k, s FROM e INTERSECT ALL SELECT k, s FROM a",
    "EXCEPT": "SELECT k, s FROM e EXCEPT SELECT k, s FROM a; SELECT k, s FROM e EXCEPT ALL SELECT k, s FROM a",
    "set operations of doubles and views": "SELECT d FROM e EXCEPT SELECT d FROM a; SELECT d FROM v INTERSECT SELECT d FROM o",
    "VALUES": "SELECT e.s, n.name FROM e JOIN (VALUES (1, 'one'), (2, 'two')) AS n(i, name) ON e.i = n.i",
    "constants only": "SELECT 1 AS x, 'a' AS y",
    "views on views": "SELECT k, count(*) AS n FROM e GROUP BY k; SELECT n, count(*) AS m FROM v GROUP BY n; SELECT v.k, w.m FROM v JOIN w ON v.n = w.n",
    "one sub-plan in two views": "SELECT k, sum(i) AS s FROM e GROUP BY k; SELECT k, sum(i) AS s FROM e GROUP BY k",
    "keyed tables": "SELECT * FROM c; SELECT j, count(*) AS n, max(s) AS s FROM c GROUP BY j",
    "two-column keys": "SELECT * FROM o; SELECT o.s, c.s AS t FROM o JOIN c ON o.k = c.k",
    "append-only": "SELECT * FROM a; SELECT k, s FROM a WHERE i > 0; SELECT a.i, b.i AS j FROM a JOIN a b ON a.k = b.k",
    "nested grouping of a union": "SELECT s, count(*) AS n FROM (SELECT s FROM e UNION ALL SELECT s FROM c) q GROUP BY s",
    "intervals of months": "SELECT k, y + z AS a, y - INTERVAL '1' MONTH AS b, CASE WHEN y < z THEN z ELSE y END AS c FROM periods WHERE y <> z OR y IS NULL",
    "group by months": "SELECT y, count(*) AS n, min(z) AS lo, max(z) AS hi, count(DISTINCT z) AS d FROM periods GROUP BY y",
    "join on months": "SELECT p.k, t.v FROM periods p JOIN terms t ON p.y = t.y; SELECT t.y, p.z FROM terms t LEFT JOIN periods p ON p.y = t.y AND p.z > t.y; SELECT p.k, q.k AS l FROM periods p JOIN periods q ON p.y BETWEEN q.y AND q.z",
    "set operations of months": "SELECT y FROM periods INTERSECT SELECT y FROM terms; SELECT y FROM periods EXCEPT ALL SELECT z FROM periods; SELECT DISTINCT y, z FROM periods",
    "windows over months": "SELECT k, y, row_number() OVER (PARTITION BY k ORDER BY y NULLS FIRST, z NULLS FIRST, dt NULLS FIRST, ts NULLS FIRST) AS n, lag(y) OVER (PARTITION BY k ORDER BY y NULLS FIRST, z NULLS FIRST, dt NULLS FIRST, ts NULLS FIRST) AS l, max(y) OVER (PARTITION BY k) AS m FROM periods; SELECT k, min(y) OVER (ORDER BY k NULLS FIRST, y NULLS FIRST, z NULLS FIRST, dt NULLS FIRST, ts NULLS FIRST ROWS 1 PRECEDING) AS m FROM periods",
    "months nearest in order": "SELECT y FROM terms ORDER BY y NULLS LAST LIMIT 2",
}

# what DuckDB computes or spells otherwise
SPARK_ONLY = {
    "join on texts of a collation": "SELECT e.k, e.s, c.j FROM e JOIN c ON upper(e.s) COLLATE UTF8_LCASE = c.s; SELECT e.k, c.j FROM e LEFT JOIN c ON e.k = c.k AND e.s COLLATE UTF8_LCASE = upper(c.s); SELECT k FROM e WHERE NOT EXISTS (SELECT 1 FROM c WHERE c.s COLLATE UNICODE_CI <=> upper(e.s))",
    "sums of months": "SELECT k, sum(y) AS s, avg(y) AS a, sum(DISTINCT z) AS d, try_sum(y) AS t FROM periods GROUP BY k; SELECT sum(y) AS s, median(v) AS m FROM terms",
    "months beside dates": "SELECT dt + y AS a, ts - z AS b, CAST(y AS STRING) AS c, hash(y, z) AS h, make_ym_interval(int(k), 1) AS m, y * 2 AS d, y / 2 AS e FROM periods",
    "months in arrays": "SELECT array(y, z) AS a, struct(y, k) AS s FROM periods; SELECT k, collect_list(y) AS l, collect_set(z) AS t, mode(y) AS m, max_by(k, y) AS b, any_value(y) IS NULL AS f FROM periods WHERE k IS NOT NULL AND y IS NOT NULL GROUP BY k, y; SELECT explode(array(y, z)) AS x FROM periods",
    "ranges of months": "SELECT k, count(*) OVER (PARTITION BY k ORDER BY y RANGE BETWEEN INTERVAL '0-2' YEAR TO MONTH PRECEDING AND INTERVAL '1-2' YEAR TO MONTH FOLLOWING) AS n, sum(y) OVER (PARTITION BY k) AS s, avg(z) OVER (PARTITION BY k) AS a FROM periods",
    "months of one unit": "SELECT CAST(y AS INTERVAL YEAR) AS a, CAST(CAST(z AS INTERVAL MONTH) AS INT) AS b, y BETWEEN INTERVAL 1 MONTH AND INTERVAL 2 YEARS AS c FROM periods",
    "tumbling windows": "SELECT window.start AS a, window.end AS b, count(*) AS n FROM e GROUP BY window(ts, '10 minutes')",
    "hopping windows": "SELECT window.start AS a, k, max(i) AS m FROM e GROUP BY window(ts, '10 minutes', '5 minutes'), k",
    "windows with an offset": "SELECT window.start AS a, sum(i) AS s FROM e GROUP BY window(ts, '1 hour', '1 hour', '12 minutes')",
    "whole windows": "SELECT window, count(*) AS n FROM e GROUP BY window(ts, '1 hour')",
    "sessions": "SELECT session_window.start AS a, session_window.end AS b, count(*) AS n, sum(i) AS s FROM e GROUP BY session_window(ts, '10 minutes')",
    "sessions by key": "SELECT session_window AS w, k, s, max(d) AS m, count(DISTINCT i) AS c FROM e GROUP BY session_window(ts, '1 second'), k, s",
    "sessions without aggregates": "SELECT session_window.start AS a, d FROM e GROUP BY session_window(ts, '9 minutes'), d",
    "sessions of appends": "SELECT session_window.start AS a, s, min(i) AS n FROM a GROUP BY session_window(ts, '10 minutes'), s HAVING count(*) > 1",
    "integer division": "SELECT k DIV 2 AS q, mod(i, 2) AS r, pmod(i, 3) AS p FROM e",
    "averages of decimals": "SELECT k, avg(m) AS a FROM e GROUP BY k",
    "decimals by Spark's rules": "SELECT m * m AS a, m / 3 AS b, m + 1 AS c, m * 1.5 AS d FROM e",
    "structs": "SELECT struct(k, s) AS t, named_struct('x', i) AS u FROM e",
    "group by structs": "SELECT struct(k, s) AS t, count(*) AS n FROM e GROUP BY struct(k, s)",
    "legacy null-safe": "SELECT e.k FROM e JOIN c ON e.s <=> c.s",
    "IN as a value, which is never NULL": "SELECT k, i, k IN (SELECT k FROM c) AS q FROM e WHERE i > 1 OR s IN (SELECT s FROM o)",
    "natural left join": "SELECT * FROM e NATURAL LEFT JOIN c",
    "semi- and anti-joins by name": "SELECT * FROM e LEFT SEMI JOIN c ON e.k = c.k; SELECT * FROM e LEFT ANTI JOIN c ON e.k = c.k AND e.i > 0",
    "joins by a difference of times": "SELECT e.k, a.i FROM e JOIN a ON e.k = a.k AND e.ts - a.ts BETWEEN INTERVAL -10 MINUTES AND INTERVAL 1 HOUR; SELECT e.k, a.k AS l FROM e LEFT JOIN a ON INTERVAL 5 MINUTES > a.ts - e.ts AND datediff(e.dt, CAST(a.ts AS DATE)) >= 0",
    "lateral joins": "SELECT e.k, x.j FROM e, LATERAL (SELECT j FROM c WHERE c.k = e.k) x; SELECT e.k, x.n FROM e LEFT JOIN LATERAL (SELECT count(*) AS n FROM c WHERE c.k = e.k) x",
    "grouping sets": "SELECT k, s, count(*) AS n, grouping(k) AS g FROM e GROUP BY CUBE (k, s)",
    "rollup": "SELECT k, s, sum(i) AS t FROM e GROUP BY ROLLUP (k, s)",
    "arrays": "SELECT array(d, -d) AS t, count(*) AS n FROM e GROUP BY array(d, -d)",
    "group by maps": "SELECT map('k', d, 'l', -d) AS t, count(*) AS n FROM e GROUP BY map('k', d, 'l', -d); SELECT i, count(DISTINCT map('k', d)) AS n FROM e GROUP BY i; SELECT array(map(i, d)) AS t, count(*) AS n FROM e WHERE i IS NOT NULL GROUP BY array(map(i, d))",
    "count of several": "SELECT k, count(i, s) AS n, count(DISTINCT i, s) AS u FROM e GROUP BY k",
    "lambdas": "SELECT k, transform(array(i, k), x -> x * 2 + i) AS t, filter(array(s, 'a'), (x, n) -> x > s OR n = 0) AS f FROM e",
    "aggregate of an array": "SELECT e.k, aggregate(array(e.i, c.j), 0L, (acc, x) -> acc + coalesce(x, 1)) AS a FROM e JOIN c ON e.k = c.k",
    "lambdas over aggregates": "SELECT k % 2 AS g, array_join(transform(array_sort(collect_list(struct(i, s))), x -> coalesce(x.s, '-')), '>') AS p, aggregate(collect_list(i), 0L, (acc, x) -> acc + x + k % 2, acc -> acc * count(*)) AS a, transform(sequence(0, count(i)), n -> n + k % 2) AS q FROM e GROUP BY k % 2",
    "group by arrays": "SELECT array_sort(array_distinct(array(i, k))) AS a, count(*) AS n FROM e GROUP BY array_sort(array_distinct(array(i, k)))",
    "maps": "SELECT k, map_keys(map_filter(map(coalesce(s, '-'), i), (n, v) -> v > 0 OR n = s)) AS a, map('p', i)['p'] AS v FROM e",
    "range()": "SELECT r.id, e.k FROM range(-2, 3) r LEFT JOIN e ON e.k = r.id; SELECT id % 2 AS p, count(*) AS n FROM range(1, 9, 3) GROUP BY id % 2; SELECT k, t.id FROM e, range(2) t",
    "PIVOT by several columns": "SELECT * FROM (SELECT k, i, s, b FROM e) PIVOT (count(*) AS n, max(k) AS m FOR (i, s) IN ((0, 'a') AS x, (1, 'b') AS y))",
    "GROUP BY of maps": "SELECT if(b, map('x', i, 'y', k), map('y', k, 'x', i)) AS m, count(*) AS n FROM e GROUP BY 1; SELECT m, sum(n) AS t FROM v GROUP BY m",
    "casts of maps": "SELECT k, CAST(map(coalesce(i, 7), s) AS MAP<STRING, STRING>) AS m, CAST(if(b, map('a', i), NULL) AS MAP<STRING, DECIMAL(12, 1)>) AS n FROM e",
    "guarded by TRY": "SELECT k, try_add(dt, make_ym_interval(0, i)) AS a, try_add(ts, INTERVAL '1' DAY) AS b, try_subtract(dt, INTERVAL 9999999 YEAR) AS c, try_divide(6, i - 1) AS d FROM e",
    "concat and formats": "SELECT concat(s, '-', i) AS c, date_format(ts, 'yyyy-MM-dd HH') AS f FROM e",
}

ALL = {**FEATURES, **SPARK_ONLY}


def program_of(name: str) -> Program:
    queries = [query.strip() for query in ALL[name].split(";")]
    views = [
        View(view, query, query if name in FEATURES else None)
        for view, query in zip("vwxyz", queries, strict=False)
    ]
    return Program(tables_in(" ".join(queries)), tuple(views))


def tables_in(text: str) -> tuple[Table, ...]:
    """The tables whose names occur in a query."""
    words = set(re.findall(r"\w+", text))
    return tuple(t for t in TABLES if t.name in words) or (EVENTS,)


@pytest.fixture(scope="module")
def duckdb() -> DuckDB:
    return DuckDB()


@pytest.mark.parametrize("name", FEATURES)
def test_incremental_equals_batch(spark: Any, duckdb: DuckDB, name: str) -> None:
    program = program_of(name)
    case = Case.of(program, spark)
    ways = list(WAYS.values())
    for seed in range(3):
        run = seeded_run(seed, program, steps=6, most=6)
        laws.incremental_equals_batch(case, run, duckdb, ways[(seed + len(name)) % len(ways)])


@pytest.mark.parametrize("name", SPARK_ONLY)
def test_incremental_equals_spark(spark: Any, name: str) -> None:
    program = program_of(name)
    run = seeded_run(len(name), program, steps=3, most=8)
    laws.incremental_equals_batch(Case.of(program, spark), run, Spark(spark))


@pytest.mark.parametrize("name", ALL)
def test_other_laws(spark: Any, name: str) -> None:
    program = program_of(name)
    case = Case.of(program, spark)
    run = seeded_run(7, program, steps=4, most=5)
    laws.the_way_changes_no_byte(case, run, WAYS["everything at once"])
    laws.retracting_all_leaves_nothing(case, run)
    laws.a_failing_step_changes_nothing(case, run, WAYS["two partitions"])
    laws.empty_gives_empty(case, run)
    halves = [{t: c[i::2] for t, c in delta.items() if c[i::2]} for delta in run for i in (0, 1)]
    if not any(change.kind == "retract" for delta in run for c in delta.values() for change in c):
        laws.splitting_changes_nothing(case, run, halves)
