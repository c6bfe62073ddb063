"""Messages in Avro as Arrow columns, and Arrow columns as messages."""

from dbsp.rows.avro.reading import Avro
from dbsp.rows.avro.schema import parsed

__all__ = ["Avro", "parsed"]
