"""A program with each kind of operator, and pipelines of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from dbsp.pipeline.pipeline import Pipeline

PROGRAM = """
CREATE TABLE sale (id BIGINT PRIMARY KEY, shop BIGINT, amount BIGINT, tags ARRAY<STRING>);
CREATE TABLE shop (id BIGINT PRIMARY KEY, name STRING);
CREATE TABLE edge (a BIGINT, b BIGINT);
CREATE TABLE price (shop BIGINT, at TIMESTAMP, price BIGINT);
CREATE TABLE visit (shop BIGINT, at TIMESTAMP) WITH (append_only = true);
CREATE TABLE reading (sensor BIGINT, at TIMESTAMP LATENESS INTERVAL 1 HOUR, x BIGINT NOT NULL)
  WITH (append_only = true);

CREATE VIEW big AS SELECT * FROM sale WHERE amount > 10;
CREATE LOCAL VIEW named AS SELECT s.id, s.amount, x.name FROM big s JOIN shop x ON s.shop = x.id;
CREATE VIEW turnover AS SELECT name, sum(amount) AS total, count(*) AS n FROM named GROUP BY name;
CREATE VIEW rich AS SELECT name FROM turnover WHERE total > 50;
CREATE VIEW best AS SELECT id, shop, r FROM
  (SELECT *, row_number() OVER (PARTITION BY shop ORDER BY amount DESC) AS r FROM sale) WHERE r <= 2;
CREATE VIEW share AS SELECT id, shop, amount, sum(amount) OVER (PARTITION BY shop) AS of FROM sale;
CREATE VIEW tagged AS SELECT id, tag FROM sale LATERAL VIEW explode(tags) t AS tag;
CREATE VIEW cube AS SELECT shop, amount, count(*) AS n FROM sale GROUP BY CUBE (shop, amount);
CREATE VIEW idle AS SELECT name FROM shop x WHERE NOT EXISTS (SELECT * FROM sale s WHERE s.shop = x.id);
CREATE VIEW busy AS SELECT name FROM shop x WHERE EXISTS (SELECT * FROM sale s WHERE s.shop = x.id);
CREATE VIEW every AS SELECT x.name, s.id FROM shop x LEFT JOIN sale s ON s.shop = x.id;
CREATE VIEW both AS SELECT id FROM shop INTERSECT SELECT shop FROM sale;
CREATE VIEW unsold AS SELECT id FROM shop EXCEPT SELECT shop FROM sale;
CREATE RECURSIVE VIEW reach (a BIGINT, b BIGINT) AS
  SELECT a, b FROM edge UNION SELECT r.a, e.b FROM reach r JOIN edge e ON r.b = e.a;
CREATE VIEW far AS WITH RECURSIVE t(a, b, n) AS (
  SELECT a, b, 1 FROM edge UNION ALL SELECT t.a, e.b, n + 1 FROM t JOIN edge e ON t.b = e.a WHERE n < 5)
  SELECT * FROM t;
CREATE VIEW priced AS SELECT s.shop, s.at, p.price FROM price s ASOF JOIN price p
  MATCH_CONDITION (s.at > p.at) ON s.shop = p.shop;
CREATE VIEW visits AS SELECT shop + 1 AS next FROM visit;
CREATE VIEW hourly AS SELECT window.start AS start, sensor, median(x) AS x FROM reading
  GROUP BY window(at, '1 hour'), sensor;
"""


def at(hour: int) -> datetime:
    return datetime(2024, 1, 1, hour, tzinfo=UTC)


@contextmanager
def shops(state: Path | None = None) -> Iterator[Pipeline]:
    """After two steps."""
    with Pipeline(sql=PROGRAM, runner="inline", state=state) as p:
        p.insert("shop", [(1, "Ada"), (2, "Bo"), (3, "Cy")])
        p.insert("sale", [(i, 1 + i % 2, i * 3, ["even", "x"] if i % 2 == 0 else ["x"]) for i in range(12)])
        p.insert("edge", [(1, 2), (2, 3), (3, 1), (3, 4), (7, 8)])
        p.insert("price", [(1, at(1), 10), (1, at(2), 20), (2, at(1), 30)])
        p.insert("visit", [(1, at(1))])
        p.insert("reading", [(1, at(1), 5), (1, at(1), 6)])
        p.step()
        p.insert("sale", [(100, 2, 99, None)])
        p.insert("reading", [(1, at(20), 7)])
        p.step()
        yield p
