CREATE TABLE orders (id BIGINT NOT NULL, customer INT, price DOUBLE, ts TIMESTAMP) WITH (append_only = true);
CREATE TABLE customer (id INT PRIMARY KEY, name STRING, country STRING, score DOUBLE);

-- keys out of ON and WHERE, the rest stays as residual
CREATE VIEW residual AS
SELECT o.id, c.name FROM orders o, customer c
WHERE o.customer = c.id AND c.country <=> 'se' AND o.price > c.score AND o.ts > TIMESTAMP '2024-01-01';

-- NULL matches NULL; -0.0 matches 0.0
CREATE VIEW null_safe AS
SELECT a.id FROM orders a JOIN customer c ON a.price <=> c.score AND a.customer = c.id;

-- IN and EXISTS are joins with the distinct keys
CREATE VIEW semi AS
SELECT id FROM orders WHERE customer IN (SELECT id FROM customer WHERE country = 'se');

-- a correlated sub-query is a join with a group-by
CREATE VIEW correlated AS
SELECT o.id FROM orders o WHERE o.price > (SELECT avg(price) FROM orders i WHERE i.customer = o.customer);

-- one sub-plan twice
CREATE VIEW self AS
WITH big AS (SELECT id, customer FROM orders WHERE price > 10)
SELECT x.id AS one, y.id AS other FROM big x JOIN big y ON x.customer = y.customer;

-- pairs, and rows of either side beside NULLs; conditions of one side only are met before
CREATE VIEW outer_joins AS
SELECT o.id, c.name, e.price FROM orders o LEFT JOIN customer c ON o.customer = c.id AND o.price > 10
FULL JOIN orders e ON e.id = o.id AND e.price > c.score;

-- whether there is a match is a value
CREATE VIEW existence AS
SELECT id FROM orders WHERE price > 10 OR customer NOT IN (SELECT id FROM customer);

-- within a range, in whichever way it is said
CREATE VIEW within_an_hour AS
SELECT a.id AS one, b.id AS other FROM orders a JOIN orders b
ON a.customer = b.customer AND a.ts - b.ts BETWEEN INTERVAL 0 SECONDS AND INTERVAL 1 HOUR;
