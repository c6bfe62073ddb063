-- A count of no column at all left a node without columns.
CREATE TABLE e (k BIGINT, s STRING);
CREATE VIEW counted AS SELECT count(*) AS n FROM e;
CREATE VIEW counted_twice AS SELECT count(*) AS n, count(1) AS m FROM counted;
CREATE VIEW filtered AS SELECT count(*) AS n FROM e WHERE k > 1 HAVING count(*) <> 1;
