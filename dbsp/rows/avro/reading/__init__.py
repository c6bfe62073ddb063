"""Messages in Avro as Arrow columns."""
