"""Arrow columns as messages in Avro."""
