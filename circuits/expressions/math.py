"""Elementary functions over DOUBLE: IEEE results, with NULL where Spark gives NULL."""
