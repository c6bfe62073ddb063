-- What comes, as it comes: each file of the sources once.
CREATE STREAMING TABLE bronze_orders
COMMENT 'orders as they were received'
TBLPROPERTIES ('quality' = 'bronze')
AS SELECT * FROM STREAM(tpch.orders);

CREATE STREAMING TABLE bronze_lineitem
TBLPROPERTIES ('quality' = 'bronze')
AS SELECT * FROM STREAM(tpch.lineitem);

-- A small table that is edited: compared when its files are others.
CREATE MATERIALIZED VIEW bronze_customer
TBLPROPERTIES ('quality' = 'bronze')
AS SELECT c_custkey, c_name, c_nationkey, c_mktsegment FROM tpch.customer;
