package dbsp;

import org.apache.spark.sql.types.*;

/** Types of texts that Spark compares by a collation. */
public class Collated {
  /** Whether it is a text that is compared by a collation: one of UTF8_BINARY is compared by its bytes, as any. */
  public static boolean has(DataType t) { return t instanceof StringType && told(t) && !t.equals(DataTypes.StringType); }

  private static boolean told(DataType t) { return t.json().startsWith("\"string collate"); }

  /** Whether it is one, or has one in it. */
  public static boolean within(DataType t) {
    if (t instanceof ArrayType) return within(((ArrayType) t).elementType());
    if (t instanceof MapType) return within(((MapType) t).keyType()) || within(((MapType) t).valueType());
    if (!(t instanceof StructType)) return has(t);
    StructField[] fields = ((StructType) t).fields();
    for (int i = 0; i < fields.length; i++) if (within(fields[i].dataType())) return true;
    return false;
  }

  /** The type without collations. */
  public static DataType bare(DataType t) { return without(t, true); }

  /** Whether it says a collation of a text in it. */
  public static boolean tells(DataType t) { return !bare(t).json().equals(t.json()); }

  /** The type without those that compare bytes. */
  public static DataType compared(DataType t) { return without(t, false); }

  private static DataType without(DataType t, boolean any) {
    if (t instanceof StringType) return told(t) && (any || !has(t)) ? DataTypes.StringType : t;
    if (t instanceof ArrayType) return new ArrayType(without(((ArrayType) t).elementType(), any), ((ArrayType) t).containsNull());
    if (t instanceof MapType) {
      MapType map = (MapType) t;
      return new MapType(without(map.keyType(), any), without(map.valueType(), any), map.valueContainsNull());
    }
    if (!(t instanceof StructType)) return t;
    StructField[] fields = ((StructType) t).fields(), made = new StructField[fields.length];
    for (int i = 0; i < fields.length; i++)
      made[i] = new StructField(fields[i].name(), without(fields[i].dataType(), any), fields[i].nullable(), fields[i].metadata());
    return new StructType(made);
  }
}
