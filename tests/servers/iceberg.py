"""Iceberg tables read by Apache's own library, which knows nothing of pyiceberg."""

from __future__ import annotations

from functools import cache
from typing import Any

from tests.servers.classes import compiled
from tests.servers.jars import iceberg
from tests.servers.missing import missing

_READING = """
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.StaticTableOperations;
import org.apache.iceberg.data.IcebergGenerics;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.hadoop.HadoopFileIO;
import org.apache.iceberg.io.CloseableIterable;

public class Reading implements Function {
  public Object apply(Object place) {
    ClassLoader before = Thread.currentThread().getContextClassLoader();
    Thread.currentThread().setContextClassLoader(Reading.class.getClassLoader()); // of formats
    try {
      return rows((String) place);
    } finally {
      Thread.currentThread().setContextClassLoader(before);
    }
  }

  private List rows(String place) {
    HadoopFileIO files = new HadoopFileIO(new org.apache.hadoop.conf.Configuration());
    BaseTable table = new BaseTable(new StaticTableOperations(place, files), "t");
    List rows = new ArrayList();
    CloseableIterable found = IcebergGenerics.read(table).build();
    java.util.Iterator each = found.iterator();
    while (each.hasNext()) {
      Record record = (Record) each.next();
      List row = new ArrayList();
      for (int i = 0; i < record.size(); i++) {
        row.add(record.get(i) == null ? null : record.get(i).toString());
      }
      rows.add(row);
    }
    return rows;
  }
}
"""


def read(spark: Any, metadata: str) -> list[tuple[str | None, ...]]:
    """The rows of a table, each value spelled, sorted. metadata: the file of its last version. Skips without
    the library, unless it must be there.
    """
    if not iceberg():
        missing("Apache's Iceberg")
    rows = _reading(spark.sparkContext._gateway).apply(metadata)
    return sorted((tuple(row) for row in rows), key=repr)


@cache
def _reading(gateway: Any) -> Any:
    made = compiled(gateway, iceberg(), _READING).getClassLoader().loadClass("Reading")
    return made.getDeclaredConstructors()[0].newInstance(gateway.new_array(gateway.jvm.Object, 0))
