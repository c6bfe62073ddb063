CREATE MATERIALIZED VIEW gold_balances AS
SELECT c_mktsegment, count(*) AS customers, sum(c_acctbal) AS balance
FROM silver_customer_now GROUP BY c_mktsegment;

CREATE MATERIALIZED VIEW gold_supplier_versions AS
SELECT s_nationkey, count(*) AS versions, count(__END_AT) AS ended, max(s_acctbal) AS most
FROM silver_supplier_history GROUP BY s_nationkey;
