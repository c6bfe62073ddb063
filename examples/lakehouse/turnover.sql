-- Orders in Postgres and prices in CSV files that people edit, joined into a Delta table, which is always right.
--
--   ORDERS='jdbc:postgresql://localhost/shop?user=me' dbsp run turnover.sql --every 10s
--
-- dbsp.toml beside it says which driver Spark fetches. Neither source says what changed in it: at every step it is
-- read anew and compared, and the Delta table gets a commit with what came of that, if anything did.
CREATE TABLE orders (id BIGINT, product STRING, amount INT, PRIMARY KEY (id))
USING jdbc OPTIONS (url '${ORDERS}', dbtable 'orders', driver 'org.postgresql.Driver')
WITH (snapshot = 'every step');

CREATE TABLE prices (product STRING, cents BIGINT, PRIMARY KEY (product))
USING csv OPTIONS (path 'prices', header 'true')
WITH (snapshot = 'every step');

CREATE TABLE turnover (product STRING, orders BIGINT, amount BIGINT, cents BIGINT, PRIMARY KEY (product))
USING delta OPTIONS (path 'turnover');

INSERT INTO turnover
SELECT o.product, count(*), sum(o.amount), sum(o.amount * p.cents)
FROM orders o LEFT JOIN prices p ON o.product = p.product
WHERE o.product IS NOT NULL
GROUP BY o.product;
