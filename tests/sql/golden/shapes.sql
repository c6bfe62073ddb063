CREATE TABLE t (a INT NOT NULL, b STRING, c ARRAY<INT>);
CREATE TABLE u (x INT, y STRING);

CREATE VIEW constants AS SELECT 1 AS one, 'x' AS x, DATE '2024-02-29' AS d, INTERVAL '1' DAY AS i;
CREATE VIEW listed AS SELECT * FROM VALUES (1, 'a'), (2, NULL) AS v(n, s);
CREATE VIEW renamed (p, q) AS SELECT a, b FROM t WHERE a > 3 ORDER BY b;
CREATE VIEW both AS SELECT a, b FROM t UNION ALL SELECT x, y FROM u;
CREATE VIEW once AS SELECT a FROM t UNION SELECT x FROM u;
CREATE LOCAL VIEW inner_view AS SELECT a * 2 AS twice, b FROM t;
CREATE MATERIALIZED VIEW outer_view AS SELECT twice + 1 AS n FROM inner_view WHERE b LIKE 'x%';
CREATE VIEW conditions AS
SELECT CASE WHEN a > 1 THEN 'many' ELSE b END AS c, coalesce(b, 'none') AS d, a IN (1, 2, 3) AS e,
       a BETWEEN 1 AND 5 AS f, b IS NULL AS g, NOT a = 3 AS h, if(a > 1, a, NULL) AS i
FROM t;
