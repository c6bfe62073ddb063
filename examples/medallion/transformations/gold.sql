CREATE MATERIALIZED VIEW gold_revenue_by_month PARTITIONED BY (region) AS
SELECT trunc(o_orderdate, 'month') AS month, nation, sum(revenue) AS revenue, count(*) AS orders, region
FROM silver_order JOIN silver_customer ON o_custkey = c_custkey
GROUP BY trunc(o_orderdate, 'month'), nation, region;

CREATE MATERIALIZED VIEW gold_best_customers AS
SELECT nation, c_custkey, c_name, revenue FROM (
  SELECT nation, c_custkey, c_name, sum(revenue) AS revenue,
         row_number() OVER (PARTITION BY nation ORDER BY sum(revenue) DESC, c_custkey) AS place
  FROM silver_order JOIN silver_customer ON o_custkey = c_custkey
  GROUP BY nation, c_custkey, c_name)
WHERE place <= 10;

CREATE MATERIALIZED VIEW gold_pricing AS
SELECT l_returnflag, l_linestatus, sum(l_quantity) AS quantity, sum(revenue) AS revenue,
       avg(l_quantity) AS average, count(*) AS items
FROM silver_sale GROUP BY l_returnflag, l_linestatus;

CREATE MATERIALIZED VIEW gold_late_by_priority AS
SELECT o_orderpriority, count(*) AS orders FROM silver_order WHERE late_items > 0 GROUP BY o_orderpriority;

CREATE MATERIALIZED VIEW gold_brands AS
SELECT p_brand, sum(revenue) AS revenue, count(DISTINCT l_suppkey) AS suppliers
FROM silver_sale JOIN tpch.part ON l_partkey = p_partkey GROUP BY p_brand;

CREATE MATERIALIZED VIEW gold_suppliers AS
SELECT s_suppkey, s_name, nation, sum(revenue) AS revenue
FROM silver_sale JOIN tpch.supplier ON l_suppkey = s_suppkey JOIN place ON s_nationkey = n_nationkey
GROUP BY s_suppkey, s_name, nation;

CREATE MATERIALIZED VIEW gold_segments AS
SELECT c_mktsegment, region, count(DISTINCT c_custkey) AS customers, sum(revenue) AS revenue
FROM silver_customer LEFT JOIN silver_order ON o_custkey = c_custkey GROUP BY c_mktsegment, region;

CREATE MATERIALIZED VIEW gold_shipping AS
SELECT l_shipmode, year(l_shipdate) AS year, count_if(late) AS late, count(*) AS items
FROM silver_sale GROUP BY l_shipmode, year(l_shipdate);
