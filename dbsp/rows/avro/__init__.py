"""Messages in Avro as Arrow columns, and Arrow columns as messages."""
