-- Nexmark in Spark SQL, in the suite's numbering. Where the suite leaves ties open (q9, q18, q19), further
-- columns break them, so that there is one answer.

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
  dateTime TIMESTAMP, extra STRING, arrived TIMESTAMP DEFAULT now()
) WITH (append_only = true);
-- The bounded side input of q13.
CREATE TABLE side_input (key BIGINT NOT NULL, value STRING, PRIMARY KEY (key));

-- Pass through.
CREATE VIEW q0 AS SELECT auction, bidder, price, dateTime, extra FROM bid;

-- Dollars to euro.
CREATE VIEW q1 AS SELECT auction, bidder, 0.908 * price AS price, dateTime, extra FROM bid;

-- Bids on a few auctions.
CREATE VIEW q2 AS SELECT auction, price FROM bid WHERE auction % 123 = 0;

-- Who sells in category 10, in three states.
CREATE VIEW q3 AS
SELECT p.name, p.city, p.state, a.id
FROM auction a JOIN person p ON a.seller = p.id
WHERE a.category = 10 AND p.state IN ('OR', 'ID', 'CA');

-- The average closing price of a category: join, maximum per auction, average of the maxima.
CREATE VIEW q4 AS
SELECT category, avg(final) AS average
FROM (
  SELECT a.id, a.category, max(b.price) AS final
  FROM auction a JOIN bid b ON a.id = b.auction
  WHERE b.dateTime BETWEEN a.dateTime AND a.expires
  GROUP BY a.id, a.category
)
GROUP BY category;

-- The auctions with the most bids in the last ten seconds, every two seconds.
CREATE VIEW q5 AS
WITH counts AS (
  SELECT auction, count(*) AS num, window.start AS starts
  FROM bid GROUP BY auction, window(dateTime, '10 seconds', '2 seconds')
)
SELECT c.auction, c.num, c.starts
FROM counts c JOIN (SELECT max(num) AS most, starts FROM counts GROUP BY starts) m
  ON c.starts = m.starts AND c.num >= m.most;

-- The average of the closing prices of a seller's last ten auctions.
CREATE VIEW q6 AS
SELECT seller, id,
       avg(final) OVER (PARTITION BY seller ORDER BY closed, id ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) AS average
FROM (
  SELECT a.id, a.seller, max(b.price) AS final, max(b.dateTime) AS closed
  FROM auction a JOIN bid b ON a.id = b.auction
  WHERE b.dateTime BETWEEN a.dateTime AND a.expires
  GROUP BY a.id, a.seller
);

-- The highest bids of every ten seconds.
CREATE VIEW q7 AS
SELECT b.auction, b.price, b.bidder, b.dateTime, b.extra
FROM bid b JOIN (
  SELECT max(price) AS highest, window.end AS ends FROM bid GROUP BY window(dateTime, '10 seconds')
) m ON b.price = m.highest
WHERE b.dateTime >= m.ends - INTERVAL '10' SECOND AND b.dateTime < m.ends;

-- People who opened an auction within the ten seconds in which they joined.
CREATE VIEW q8 AS
SELECT p.id, p.name, p.starts
FROM (
  SELECT id, name, window.start AS starts FROM person GROUP BY id, name, window(dateTime, '10 seconds')
) p JOIN (
  SELECT seller, window.start AS starts FROM auction GROUP BY seller, window(dateTime, '10 seconds')
) a ON p.id = a.seller AND p.starts = a.starts;

-- The winning bid of every auction.
CREATE VIEW q9 AS
SELECT id, itemName, description, initialBid, reserve, dateTime, expires, seller, category, extra,
       auction, bidder, price, bid_dateTime, bid_extra
FROM (
  SELECT a.*, b.auction, b.bidder, b.price, b.dateTime AS bid_dateTime, b.extra AS bid_extra,
         row_number() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.dateTime, b.bidder, b.extra) AS place
  FROM auction a JOIN bid b ON a.id = b.auction
  WHERE b.dateTime BETWEEN a.dateTime AND a.expires
)
WHERE place <= 1;

-- Bids by day and minute, for a partitioned log.
CREATE VIEW q10 AS
SELECT auction, bidder, price, dateTime, extra,
       date_format(dateTime, 'yyyy-MM-dd') AS day, date_format(dateTime, 'HH:mm') AS minute
FROM bid;

-- How many bids a user made in each session of activity.
CREATE VIEW q11 AS
SELECT bidder, count(*) AS bids, session_window.start AS starts, session_window.end AS ends
FROM bid GROUP BY bidder, session_window(dateTime, '10 seconds');

-- Bids of a bidder in each ten seconds of processing time: the step clock, when the bid arrived.
CREATE VIEW q12 AS
SELECT bidder, count(*) AS bids, window.start AS starts, window.end AS ends
FROM bid GROUP BY bidder, window(arrived, '10 seconds');

-- Joined with a bounded side input.
CREATE VIEW q13 AS
SELECT b.auction, b.bidder, b.price, b.dateTime, s.value
FROM bid b JOIN side_input s ON b.auction % 10000 = s.key;

-- Filter and compute.
CREATE VIEW q14 AS
SELECT auction, bidder, 0.908 * price AS price,
       CASE WHEN hour(dateTime) >= 8 AND hour(dateTime) <= 18 THEN 'dayTime'
            WHEN hour(dateTime) <= 6 OR hour(dateTime) >= 20 THEN 'nightTime'
            ELSE 'otherTime' END AS bidTimeType,
       dateTime, extra, length(extra) - length(replace(extra, 'c', '')) AS c_counts
FROM bid
WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000;

-- Statistics of a day, distinct bidders and auctions by price among them.
CREATE VIEW q15 AS
SELECT date_format(dateTime, 'yyyy-MM-dd') AS day, count(*) AS total_bids,
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
FROM bid GROUP BY date_format(dateTime, 'yyyy-MM-dd');

-- The same by channel.
CREATE VIEW q16 AS
SELECT channel, date_format(dateTime, 'yyyy-MM-dd') AS day, max(date_format(dateTime, 'HH:mm')) AS minute,
       count(*) AS total_bids,
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
FROM bid GROUP BY channel, date_format(dateTime, 'yyyy-MM-dd');

-- Statistics of every auction and day: one group-by, eight aggregates.
CREATE VIEW q17 AS
SELECT auction, CAST(dateTime AS DATE) AS day, count(*) AS bids,
       count(CASE WHEN price < 10000 THEN 1 END) AS below_100,
       count(CASE WHEN price >= 10000 AND price < 1000000 THEN 1 END) AS below_10000,
       count(CASE WHEN price >= 1000000 THEN 1 END) AS others,
       min(price) AS lowest, max(price) AS highest, avg(price) AS average, sum(price) AS total
FROM bid GROUP BY auction, CAST(dateTime AS DATE);

-- Everyone's last bid on every auction.
CREATE VIEW q18 AS
SELECT auction, bidder, price, channel, url, dateTime, extra
FROM (
  SELECT *, row_number() OVER (PARTITION BY bidder, auction ORDER BY dateTime DESC, price DESC, extra) AS place
  FROM bid
)
WHERE place <= 1;

-- The ten highest bids on every auction.
CREATE VIEW q19 AS
SELECT auction, bidder, price, channel, url, dateTime, extra, place
FROM (
  SELECT *, row_number() OVER (PARTITION BY auction ORDER BY price DESC, dateTime, bidder, extra) AS place
  FROM bid
)
WHERE place <= 10;

-- Bids with their auctions, of category 10.
CREATE VIEW q20 AS
SELECT b.auction, b.bidder, b.price, b.channel, b.url, b.dateTime AS bid_dateTime, b.extra AS bid_extra,
       a.itemName, a.description, a.initialBid, a.reserve, a.dateTime, a.expires, a.seller, a.category, a.extra
FROM bid b JOIN auction a ON b.auction = a.id
WHERE a.category = 10;

-- The channel's number, from its name or its URL.
CREATE VIEW q21 AS
SELECT auction, bidder, price, channel,
       CASE lower(channel) WHEN 'apple' THEN '0' WHEN 'google' THEN '1' WHEN 'facebook' THEN '2'
            WHEN 'baidu' THEN '3' ELSE regexp_extract(url, '(&|^)channel_id=([^&]*)', 2) END AS channel_id
FROM bid
WHERE regexp_extract(url, '(&|^)channel_id=([^&]*)', 2) <> ''
   OR lower(channel) IN ('apple', 'google', 'facebook', 'baidu');

-- The parts of a URL.
CREATE VIEW q22 AS
SELECT auction, bidder, price, channel,
       split_part(url, '/', 4) AS dir1, split_part(url, '/', 5) AS dir2, split_part(url, '/', 6) AS dir3
FROM bid;
