-- Those of Nexmark's queries that DuckDB doesn't read in Spark's spelling, in its own.

-- query q5:
WITH panes AS (
  SELECT auction, count(*) AS num, time_bucket(INTERVAL '2 seconds', dateTime) AS pane
  FROM bid GROUP BY auction, pane
), counts AS (
  SELECT auction, sum(num) AS num, pane - to_seconds(2 * shift) AS starts
  FROM panes, range(5) AS shifts(shift) GROUP BY auction, starts
)
SELECT c.auction, c.num, c.starts
FROM counts c JOIN (SELECT max(num) AS most, starts FROM counts GROUP BY starts) m
  ON c.starts = m.starts AND c.num >= m.most

-- query q7:
SELECT b.auction, b.price, b.bidder, b.dateTime, b.extra
FROM bid b JOIN (
  SELECT max(price) AS highest, time_bucket(INTERVAL '10 seconds', dateTime) + INTERVAL '10 seconds' AS ends
  FROM bid GROUP BY ends
) m ON b.price = m.highest
WHERE b.dateTime >= m.ends - INTERVAL '10' SECOND AND b.dateTime < m.ends

-- query q15:
SELECT strftime(dateTime, '%Y-%m-%d') AS day, count(*) AS total_bids,
       count(*) FILTER (WHERE price < 10000) AS rank1_bids,
       count(*) FILTER (WHERE price >= 10000 AND price < 1000000) AS rank2_bids,
       count(*) FILTER (WHERE price >= 1000000) AS rank3_bids,
       count(DISTINCT bidder) AS total_bidders,
       count(DISTINCT bidder) FILTER (WHERE price < 10000) AS rank1_bidders,
       count(DISTINCT bidder) FILTER (WHERE price >= 10000 AND price < 1000000) AS rank2_bidders,
       count(DISTINCT bidder) FILTER (WHERE price >= 1000000) AS rank3_bidders,
       count(DISTINCT auction) AS total_auctions,
       count(DISTINCT auction) FILTER (WHERE price < 10000) AS rank1_auctions,
       count(DISTINCT auction) FILTER (WHERE price >= 10000 AND price < 1000000) AS rank2_auctions,
       count(DISTINCT auction) FILTER (WHERE price >= 1000000) AS rank3_auctions
FROM bid GROUP BY day
