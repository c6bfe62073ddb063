-- 0.0 and -0.0 tie: which of them a partition found first showed in the changelog.
CREATE TABLE e (k BIGINT, s STRING, d DOUBLE);
CREATE VIEW extremes AS SELECT k, min(d) AS lo, max(d) AS hi FROM e GROUP BY k;
CREATE VIEW seen AS SELECT DISTINCT d FROM e;
CREATE VIEW counted AS SELECT d, count(*) AS n FROM e GROUP BY d;
CREATE VIEW paired AS SELECT l.s AS l, r.s AS r FROM e l JOIN e r ON l.d = r.d;
