-- Orders per hour and product, and over the last three hours, every hour. Rows may come in any order.
CREATE TABLE orders (rowtime TIMESTAMP, product BIGINT, units BIGINT) WITH (append_only = true);

CREATE VIEW hourly AS
SELECT window.end AS ends, product, count(*) AS orders, sum(units) AS units
FROM orders GROUP BY window(rowtime, '1 hour'), product;

CREATE VIEW last_three_hours AS
SELECT window.end AS ends, count(*) AS orders, sum(units) AS units
FROM orders GROUP BY window(rowtime, '3 hours', '1 hour');
