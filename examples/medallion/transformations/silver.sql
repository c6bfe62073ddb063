CREATE TEMPORARY VIEW place AS
SELECT n_nationkey, n_name AS nation, r_name AS region
FROM tpch.nation JOIN tpch.region ON n_regionkey = r_regionkey;

CREATE MATERIALIZED VIEW silver_customer AS
SELECT c.*, nation, region FROM bronze_customer c JOIN place ON c_nationkey = n_nationkey;

CREATE MATERIALIZED VIEW silver_sale AS
SELECT l_orderkey, l_partkey, l_suppkey, l_shipdate, l_returnflag, l_linestatus, l_quantity, l_shipmode,
       l_extendedprice * (1 - l_discount) AS revenue, l_receiptdate > l_commitdate AS late
FROM bronze_lineitem WHERE l_quantity > 0;

CREATE MATERIALIZED VIEW silver_order AS
SELECT o_orderkey, o_custkey, o_orderdate, o_orderpriority, count(*) AS items, sum(revenue) AS revenue,
       count_if(late) AS late_items
FROM bronze_orders JOIN silver_sale ON o_orderkey = l_orderkey
GROUP BY o_orderkey, o_custkey, o_orderdate, o_orderpriority;
