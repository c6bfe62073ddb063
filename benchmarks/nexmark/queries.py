"""Nexmark queries as programs, in the suite's numbering. TABLES declares their inputs, fed by the caller."""

from __future__ import annotations

TABLES = """
CREATE TABLE person (
  id BIGINT NOT NULL, name STRING, emailAddress STRING, creditCard STRING,
  city STRING, state STRING, dateTime TIMESTAMP, extra STRING
) WITH (append_only = true);
CREATE TABLE auction (
  id BIGINT NOT NULL, itemName STRING, description STRING, initialBid BIGINT, reserve BIGINT,
  dateTime TIMESTAMP, expires TIMESTAMP, seller BIGINT, category BIGINT, extra STRING
) WITH (append_only = true);
CREATE TABLE bid (
  auction BIGINT NOT NULL, bidder BIGINT, price BIGINT, channel STRING, url STRING,
  dateTime TIMESTAMP, extra STRING
) WITH (append_only = true);
"""

QUERIES = {
    # The average closing price of a category: join, maximum per auction, average of the maxima.
    "q4": """
CREATE VIEW q4 AS
SELECT category, avg(final) AS average
FROM (
  SELECT a.id, a.category, max(b.price) AS final
  FROM auction a JOIN bid b ON a.id = b.auction
  WHERE b.dateTime BETWEEN a.dateTime AND a.expires
  GROUP BY a.id, a.category
)
GROUP BY category;
""",
    # Statistics of every auction and day: one group-by, ten aggregates.
    "q17": """
CREATE VIEW q17 AS
SELECT auction, CAST(dateTime AS DATE) AS day, count(*) AS bids,
       count(CASE WHEN price < 10000 THEN 1 END) AS below_100,
       count(CASE WHEN price >= 10000 AND price < 1000000 THEN 1 END) AS below_10000,
       count(CASE WHEN price >= 1000000 THEN 1 END) AS others,
       min(price) AS lowest, max(price) AS highest, avg(price) AS average, sum(price) AS total
FROM bid GROUP BY auction, CAST(dateTime AS DATE);
""",
}


def program(query: str) -> str:
    return TABLES + QUERIES[query]
