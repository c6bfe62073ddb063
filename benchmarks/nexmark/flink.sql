-- The queries in Flink's SQL, over `person`, `auction` and `bid` with a watermark on dateTime.

-- query q0:
SELECT auction, bidder, price, `dateTime`, extra FROM bid

-- query q3:
SELECT p.name, p.city, p.state, a.id
FROM auction a JOIN person p ON a.seller = p.id
WHERE a.category = 10 AND p.state IN ('OR', 'ID', 'CA')

-- query q4:
SELECT category, AVG(final)
FROM (
  SELECT a.id, a.category, MAX(b.price) AS final
  FROM auction a JOIN bid b ON a.id = b.auction
  WHERE b.`dateTime` BETWEEN a.`dateTime` AND a.expires
  GROUP BY a.id, a.category
)
GROUP BY category

-- query q5:
WITH counts AS (
  SELECT auction, COUNT(*) AS num, window_start AS starts, window_end AS ends
  FROM TABLE(HOP(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
  GROUP BY auction, window_start, window_end
)
SELECT c.auction, c.num, c.starts
FROM counts c JOIN (SELECT MAX(num) AS most, starts, ends FROM counts GROUP BY starts, ends) m
  ON c.starts = m.starts AND c.ends = m.ends AND c.num >= m.most

-- query q7:
SELECT b.auction, b.price, b.bidder, b.`dateTime`, b.extra
FROM bid b JOIN (
  SELECT MAX(price) AS highest, window_end AS ends
  FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND))
  GROUP BY window_start, window_end
) m ON b.price = m.highest
WHERE b.`dateTime` BETWEEN m.ends - INTERVAL '10' SECOND AND m.ends

-- query q9:
SELECT id, itemName, description, initialBid, reserve, `dateTime`, expires, seller, category, extra,
       auction, bidder, price, bid_dateTime, bid_extra
FROM (
  SELECT a.*, b.auction, b.bidder, b.price, b.`dateTime` AS bid_dateTime, b.extra AS bid_extra,
         ROW_NUMBER() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.`dateTime`) AS place
  FROM auction a JOIN bid b ON a.id = b.auction
  WHERE b.`dateTime` BETWEEN a.`dateTime` AND a.expires
)
WHERE place <= 1

-- query q15:
SELECT DATE_FORMAT(`dateTime`, 'yyyy-MM-dd') AS `day`, COUNT(*),
       COUNT(*) FILTER (WHERE price < 10000),
       COUNT(*) FILTER (WHERE price >= 10000 AND price < 1000000),
       COUNT(*) FILTER (WHERE price >= 1000000),
       COUNT(DISTINCT bidder),
       COUNT(DISTINCT bidder) FILTER (WHERE price < 10000),
       COUNT(DISTINCT bidder) FILTER (WHERE price >= 10000 AND price < 1000000),
       COUNT(DISTINCT bidder) FILTER (WHERE price >= 1000000),
       COUNT(DISTINCT auction),
       COUNT(DISTINCT auction) FILTER (WHERE price < 10000),
       COUNT(DISTINCT auction) FILTER (WHERE price >= 10000 AND price < 1000000),
       COUNT(DISTINCT auction) FILTER (WHERE price >= 1000000)
FROM bid GROUP BY DATE_FORMAT(`dateTime`, 'yyyy-MM-dd')

-- query q17:
SELECT auction, DATE_FORMAT(`dateTime`, 'yyyy-MM-dd') AS `day`, COUNT(*),
       COUNT(*) FILTER (WHERE price < 10000),
       COUNT(*) FILTER (WHERE price >= 10000 AND price < 1000000),
       COUNT(*) FILTER (WHERE price >= 1000000),
       MIN(price), MAX(price), AVG(price), SUM(price)
FROM bid GROUP BY auction, DATE_FORMAT(`dateTime`, 'yyyy-MM-dd')

-- query q18:
SELECT auction, bidder, price, channel, url, `dateTime`, extra
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY bidder, auction ORDER BY `dateTime` DESC) AS place FROM bid
)
WHERE place <= 1

-- query q19:
SELECT *
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC) AS place FROM bid)
WHERE place <= 10

-- query q20:
SELECT b.auction, b.bidder, b.price, b.channel, b.url, b.`dateTime` AS bid_dateTime, b.extra AS bid_extra,
       a.itemName, a.description, a.initialBid, a.reserve, a.`dateTime`, a.expires, a.seller, a.category, a.extra
FROM bid b JOIN auction a ON b.auction = a.id
WHERE a.category = 10
