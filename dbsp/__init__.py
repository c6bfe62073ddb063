"""dbsp: incremental view maintenance for Apache Spark."""
