-- An auction site (Nexmark): people open auctions, people bid on auctions.
-- DATA is a directory as `python -m benchmarks.nexmark.generate --out` writes it; each step takes one file
-- of every table, so that the tables stay abreast.

CREATE TABLE person (
  id BIGINT NOT NULL, name STRING, emailAddress STRING, creditCard STRING,
  city STRING, state STRING, dateTime TIMESTAMP, extra STRING
) USING parquet OPTIONS (path '${DATA}/person', maxFilesPerTrigger '1') WITH (append_only = true);

CREATE TABLE auction (
  id BIGINT NOT NULL, itemName STRING, description STRING, initialBid BIGINT, reserve BIGINT,
  dateTime TIMESTAMP, expires TIMESTAMP, seller BIGINT, category BIGINT, extra STRING
) USING parquet OPTIONS (path '${DATA}/auction', maxFilesPerTrigger '1') WITH (append_only = true);

CREATE TABLE bid (
  auction BIGINT NOT NULL, bidder BIGINT, price BIGINT, channel STRING, url STRING,
  dateTime TIMESTAMP, extra STRING
) USING parquet OPTIONS (path '${DATA}/bid', maxFilesPerTrigger '1') WITH (append_only = true);

-- Projection: every bid in euro.
CREATE VIEW bids_in_euro AS
SELECT auction, bidder, 0.908 * price AS euro, dateTime FROM bid;

-- Filter: the bids on a few auctions.
CREATE VIEW bids_of_interest AS
SELECT auction, bidder, price, dateTime FROM bid WHERE auction % 123 = 0;

-- Join: who sells in category 10, in three states.
CREATE VIEW local_sellers AS
SELECT p.name, p.city, p.state, a.id AS auction
FROM auction a JOIN person p ON a.seller = p.id
WHERE a.category = 10 AND p.state IN ('OR', 'ID', 'CA');

-- Join and group: what bidders of each state offer.
CREATE VIEW offers_by_state AS
SELECT p.state, count(*) AS bids, sum(b.price) AS total, max(b.price) AS highest
FROM bid b JOIN person p ON b.bidder = p.id
GROUP BY p.state;

-- Two aggregations, one over the other: the closing price of every auction, and its average by category. A
-- late higher bid moves one auction's price, which leaves one average and comes back to it.
CREATE LOCAL VIEW closing_prices AS
SELECT a.id AS auction, a.category, max(b.price) AS price
FROM auction a JOIN bid b ON a.id = b.auction
WHERE b.dateTime BETWEEN a.dateTime AND a.expires
GROUP BY a.id, a.category;

CREATE VIEW average_closing_price AS
SELECT category, count(*) AS auctions, avg(price) AS average FROM closing_prices GROUP BY category;

-- Tumbling windows: bids in every ten seconds.
CREATE VIEW bids_per_10_seconds AS
SELECT window.start AS starts, count(*) AS bids, avg(price) AS average
FROM bid GROUP BY window(dateTime, '10 seconds');

-- Hopping windows: bids on every auction in the last ten seconds, every two seconds.
CREATE VIEW hot_auctions AS
SELECT window.start AS starts, auction, count(*) AS bids
FROM bid GROUP BY window(dateTime, '10 seconds', '2 seconds'), auction;

-- Maximum per window joined back: the highest bids of every ten seconds, ties included.
CREATE LOCAL VIEW windowed_bids AS
SELECT window(dateTime, '10 seconds').start AS starts, auction, bidder, price, dateTime FROM bid;

CREATE VIEW highest_bids AS
SELECT b.starts, b.auction, b.bidder, b.price, b.dateTime
FROM windowed_bids b JOIN
     (SELECT starts, max(price) AS highest FROM windowed_bids GROUP BY starts) m
  ON b.starts = m.starts AND b.price = m.highest;

-- Distinct: everyone who has ever bid or sold.
CREATE VIEW users AS
SELECT bidder AS person FROM bid UNION SELECT seller FROM auction;

-- One group-by with several aggregates: every auction, day by day.
CREATE VIEW auction_statistics AS
SELECT auction, CAST(dateTime AS DATE) AS day, count(*) AS bids,
       count(CASE WHEN price < 10000 THEN 1 END) AS below_100,
       count(CASE WHEN price >= 10000 AND price < 1000000 THEN 1 END) AS below_10000,
       min(price) AS lowest, max(price) AS highest, avg(price) AS average, sum(price) AS total
FROM bid GROUP BY auction, CAST(dateTime AS DATE);
