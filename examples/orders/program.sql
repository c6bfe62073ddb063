-- Keyed tables: an insert of a present key replaces its row, so that a customer who moves takes all their
-- orders along to the other country's turnover.
CREATE TABLE customer (id BIGINT NOT NULL, name STRING, country STRING, PRIMARY KEY (id));
CREATE TABLE orders (id BIGINT NOT NULL, customer BIGINT, amount DECIMAL(10, 2), PRIMARY KEY (id));

CREATE VIEW turnover AS
SELECT c.country, count(*) AS orders, sum(o.amount) AS total
FROM orders o JOIN customer c ON o.customer = c.id
GROUP BY c.country;

CREATE VIEW large_orders AS
SELECT o.id, c.name, o.amount
FROM orders o JOIN customer c ON o.customer = c.id
WHERE o.amount >= 100;
