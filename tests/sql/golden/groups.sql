CREATE TABLE orders (id BIGINT NOT NULL, customer INT, amount DECIMAL(10,2), price DOUBLE, note STRING);

CREATE VIEW expressions AS
SELECT customer + 1 AS next, sum(amount) / count(*) AS mean, max(note) AS last
FROM orders GROUP BY customer + 1 HAVING count(*) > 2;

-- each aggregate is computed once; count of a NOT NULL column is count(*)
CREATE VIEW shared AS
SELECT count(*) AS n, count(id) AS m, sum(id) AS s, sum(id) * 2 AS t, count(note, price) AS both FROM orders;

CREATE VIEW distinct_and_filter AS
SELECT note, count(DISTINCT price) AS prices, sum(amount) FILTER (WHERE price > 1) AS some
FROM orders GROUP BY note;

-- no aggregate: the distinct keys
CREATE VIEW keys_only AS SELECT note FROM orders GROUP BY note;

CREATE VIEW float_keys AS SELECT DISTINCT price, note FROM orders;

CREATE VIEW rolled_up AS SELECT note, customer, count(*) AS n FROM orders GROUP BY ROLLUP (note, customer);

CREATE VIEW having_nothing AS SELECT note FROM orders GROUP BY note HAVING max(price) > 3;
