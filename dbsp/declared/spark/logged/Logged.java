package dbsp;

import java.util.EnumSet;
import java.util.Set;
import java.util.function.Function;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.connector.catalog.DelegatingCatalogExtension;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** The session's catalogue, in which tables with a log have the columns that their log says: for analysis alone. */
public class Logged extends DelegatingCatalogExtension {
  /** Of a namespace and a name, with a line's end between, the table's schema in JSON; null of any other table. */
  public static Function schemas;

  public Table loadTable(Identifier name) throws NoSuchTableException {
    String schema = name.namespace().length == 1 ? (String) schemas.apply(name.namespace()[0] + "\n" + name.name()) : null;
    return schema == null ? super.loadTable(name) : new Columns(name.toString(), (StructType) DataType.fromJson(schema));
  }

  /** A catalogue of its own, whose tables all have a log. */
  public static class Elsewhere implements TableCatalog {
    private String name;

    public void initialize(String name, CaseInsensitiveStringMap options) { this.name = name; }
    public String name() { return name; }
    public Identifier[] listTables(String[] namespace) { return new Identifier[0]; }

    public Table loadTable(Identifier table) throws NoSuchTableException {
      String schema = (String) schemas.apply(name + "\n" + String.join(".", table.namespace()) + "\n" + table.name());
      if (schema == null) throw new NoSuchTableException(table);
      return new Columns(name + "." + table, (StructType) DataType.fromJson(schema));
    }

    public Table alterTable(Identifier table, TableChange... changes) { throw only(); }
    public boolean dropTable(Identifier table) { throw only(); }
    public void renameTable(Identifier table, Identifier other) { throw only(); }
    private RuntimeException only() {
      return new UnsupportedOperationException("not supported yet: to write in " + name + ", a catalogue that is read");
    }
  }

  public static class Columns implements Table, SupportsRead {
    private final String name;
    private final StructType schema;

    public Columns(String name, StructType schema) {
      this.name = name;
      this.schema = schema;
    }

    public String name() { return name; }
    public StructType schema() { return schema; }
    public Set capabilities() { return EnumSet.of(TableCapability.BATCH_READ, TableCapability.MICRO_BATCH_READ); }
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
      throw new UnsupportedOperationException(
          "not supported yet: to have Spark read " + name + ", a table with a log, without the jar of its format");
    }
  }
}
