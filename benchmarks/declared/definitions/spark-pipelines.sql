-- What AUTO CDC makes, as queries: Spark writes its targets in formats that take MERGE, of which it has none.
CREATE MATERIALIZED VIEW silver_customer_now AS
SELECT c_custkey, c_mktsegment, c_acctbal FROM (
  SELECT *, row_number() OVER (PARTITION BY c_custkey ORDER BY at DESC) AS place FROM tpch.customer_changes)
WHERE place = 1 AND op <> 'd';

CREATE MATERIALIZED VIEW silver_supplier_history AS
SELECT s_suppkey, s_nationkey, s_acctbal, __START_AT, __END_AT FROM (
  SELECT s_suppkey, s_nationkey, s_acctbal, op, at AS __START_AT,
         lead(at) OVER (PARTITION BY s_suppkey ORDER BY at) AS __END_AT FROM tpch.supplier_changes)
WHERE op <> 'd';
