CREATE STREAMING TABLE silver_customer_now FLOW AUTO CDC FROM STREAM(tpch.customer_changes)
KEYS (c_custkey) APPLY AS DELETE WHEN op = 'd' SEQUENCE BY at COLUMNS * EXCEPT (op, at);

CREATE STREAMING TABLE silver_supplier_history FLOW AUTO CDC FROM STREAM(tpch.supplier_changes)
KEYS (s_suppkey) APPLY AS DELETE WHEN op = 'd' SEQUENCE BY at COLUMNS * EXCEPT (op, at) STORED AS SCD TYPE 2;
