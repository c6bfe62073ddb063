-- Customers and orders as Debezium writes them to Kafka, joined into a table of Postgres, which is always right.
--
--   BROKER=localhost:9092 POSTGRES=postgresql://me@localhost/shop dbsp run replica.sql
--
-- dbsp.toml beside it says which connector Spark fetches. changes.jsonl has messages to try it with.
CREATE TABLE customer (id BIGINT, name STRING, country STRING, PRIMARY KEY (id))
USING kafka OPTIONS (
  `kafka.bootstrap.servers` '${BROKER}', subscribe 'shop.customer', startingOffsets 'earliest'
) WITH (format = 'json', changelog = 'debezium');

CREATE TABLE orders (id BIGINT, customer BIGINT, cents BIGINT, PRIMARY KEY (id))
USING kafka OPTIONS (
  `kafka.bootstrap.servers` '${BROKER}', subscribe 'shop.orders', startingOffsets 'earliest'
) WITH (format = 'json', changelog = 'debezium');

CREATE TABLE turnover (country STRING, orders BIGINT, cents BIGINT, PRIMARY KEY (country))
USING postgres OPTIONS (url '${POSTGRES}');

INSERT INTO turnover
SELECT c.country, count(*), sum(o.cents)
FROM orders o JOIN customer c ON o.customer = c.id
WHERE c.country IS NOT NULL
GROUP BY c.country;
