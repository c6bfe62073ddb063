import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.ObjectInputStream;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;
import org.apache.spark.SparkThrowable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Generator;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection$;
import org.apache.spark.sql.catalyst.expressions.aggregate.ImperativeAggregate;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.execution.arrow.ArrowWriter;
import org.apache.spark.sql.internal.SQLConf$;
import org.apache.spark.sql.types.*;
import org.apache.spark.sql.vectorized.ArrowColumnVector;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/**
 * Expressions of Spark over Arrow batches, from standard input to standard output. Compiled when it starts by the
 * Janino that Spark ships, so the language is Java 7 without generics inference.
 *
 * asked      int number, int size, size bytes: the expression serialized, before it its time zone and the jar that it
 *            needs beside Spark's (0 bytes of one that is known by the number); an Arrow stream of one batch, whose
 *            columns are its BoundReferences; of an
 *            aggregate function these and two BOOLEANs more: whether the row is one of its group, and the group's last
 * answered   int size, size bytes: an Arrow stream of one column; or -1, int row, and two texts: condition, message
 */
public class Evaluator {
  private static final RootAllocator MEMORY = new RootAllocator();
  private static final int KNOWN = 256;

  /** One expression, ready to run. */
  private static final class Known {
    final String timezone;
    final ClassLoader loader;
    final UnsafeProjection input; // rows as executors have them: in Arrow's arrays expressions miss NULLs
    final UnsafeProjection projection; // of an aggregate function or a generator, of its result
    final ArrowWriter writer;
    final ImperativeAggregate aggregate; // or null
    final Generator generator; // or null

    Known(byte[] bytes) throws Exception {
      Reading in = new Reading(bytes);
      timezone = in.readUTF();
      loader = in.loader = loader(in.readUTF());
      configure(timezone, loader);
      Expression expression = (Expression) in.readObject();
      TreeMap arguments = new TreeMap();
      arguments(expression, arguments);
      input = UnsafeProjection$.MODULE$.create(
          scala.jdk.javaapi.CollectionConverters.asScala(new ArrayList(arguments.values())).toList());
      input.initialize(0);
      aggregate = expression instanceof ImperativeAggregate ? (ImperativeAggregate) expression : null;
      generator = expression instanceof Generator ? (Generator) expression : null;
      projection = UnsafeProjection$.MODULE$.create(
          aggregate == null && generator == null ? expression : new BoundReference(0, expression.dataType(), true));
      projection.initialize(0);
      StructType schema = new StructType().add("value", stored(expression.dataType()), true);
      writer = ArrowWriter.create(schema, "UTC", false, false);
    }
  }

  private static final class Reading extends ObjectInputStream {
    ClassLoader loader = Expression.class.getClassLoader();
    Reading(byte[] bytes) throws Exception { super(new ByteArrayInputStream(bytes)); }
    protected Class resolveClass(java.io.ObjectStreamClass described) throws java.io.IOException, ClassNotFoundException {
      try { return Class.forName(described.getName(), false, loader); }
      catch (ClassNotFoundException primitive) { return super.resolveClass(described); }
    }
  }

  private static final Map LOADERS = new java.util.HashMap();

  /** Of Spark's classes and a jar's: where it was when the program was compiled, else, as executors have it, here. */
  private static ClassLoader loader(String jar) throws Exception {
    if (jar.isEmpty()) return Expression.class.getClassLoader();
    java.io.File file = new java.io.File(jar);
    if (!file.exists()) file = new java.io.File(file.getName());
    if (!file.exists() && Expression.class.getClassLoader().getResource("org/apache/spark/sql/avro/AvroDataToCatalyst.class") == null)
      throw new java.io.FileNotFoundException(jar + " isn't on this machine: put it among Spark's jars");
    ClassLoader known = (ClassLoader) LOADERS.get(file);
    if (known == null) {
      known = new java.net.URLClassLoader(new java.net.URL[] {file.toURI().toURL()}, Expression.class.getClassLoader());
      LOADERS.put(file, known);
    }
    return known;
  }

  /** What a generator makes of a row, as one value. */
  private static InternalRow list(Generator generator, InternalRow row) {
    ArrayList made = new ArrayList();
    scala.collection.Iterator it = ((scala.collection.IterableOnce) generator.eval(row)).iterator();
    while (it.hasNext()) made.add(((InternalRow) it.next()).copy());
    return new GenericInternalRow(new Object[] {new GenericArrayData(made.toArray())});
  }

  private static InternalRow begun(ImperativeAggregate aggregate) {
    InternalRow buffer = new GenericInternalRow(aggregate.aggBufferSchema().length());
    aggregate.initialize(buffer);
    return buffer;
  }

  private static void arguments(Expression e, Map found) {
    if (e instanceof BoundReference) {
      BoundReference argument = (BoundReference) e;
      found.put(Integer.valueOf(argument.ordinal()), new BoundReference(argument.ordinal(), argument.dataType(), true));
    }
    scala.collection.Iterator it = e.children().iterator();
    while (it.hasNext()) arguments((Expression) it.next(), found);
  }

  /** Code that is generated sees the context's classes. */
  private static void configure(String timezone, ClassLoader loader) {
    Thread.currentThread().setContextClassLoader(loader);
    SQLConf$.MODULE$.get().setConfString("spark.sql.session.timeZone", timezone);
  }

  /** The type with INT in place of INTERVAL YEAR TO MONTH, of which pyarrow has no arrays; the same bytes. */
  private static DataType stored(DataType t) {
    if (t instanceof YearMonthIntervalType) return DataTypes.IntegerType;
    if (t instanceof ArrayType) return new ArrayType(stored(((ArrayType) t).elementType()), true);
    if (t instanceof MapType)
      return new MapType(stored(((MapType) t).keyType()), stored(((MapType) t).valueType()), true);
    if (!(t instanceof StructType)) return t;
    StructType made = new StructType();
    StructField[] fields = ((StructType) t).fields();
    for (int i = 0; i < fields.length; i++) made = made.add(fields[i].name(), stored(fields[i].dataType()), true);
    return made;
  }

  public static void main(String[] arguments) throws Exception {
    DataInputStream in = new DataInputStream(new BufferedInputStream(System.in, 1 << 16));
    DataOutputStream out = new DataOutputStream(new BufferedOutputStream(System.out, 1 << 16));
    System.setOut(System.err); // whatever else is printed is no answer
    watch();
    LinkedHashMap known = new LinkedHashMap(16, 0.75f, true);
    while (true) {
      int number;
      try { number = in.readInt(); } catch (EOFException ended) { return; }
      byte[] bytes = new byte[in.readInt()];
      in.readFully(bytes);
      ArrowStreamReader rows = new ArrowStreamReader(in, MEMORY);
      try {
        rows.loadNextBatch();
        answer(known, Integer.valueOf(number), bytes, rows, out);
        rows.loadNextBatch(); // the stream's end
      } finally {
        rows.close(false);
      }
      out.flush();
    }
  }

  /** Ends with the parent, also while an expression is evaluated. */
  private static void watch() {
    final long parent = parent();
    Thread watching = new Thread() {
      public void run() {
        while (parent() == parent) {
          try { Thread.sleep(1000); } catch (InterruptedException ended) { return; }
        }
        Runtime.getRuntime().halt(1);
      }
    };
    watching.setDaemon(true);
    watching.start();
  }

  /** Its number, -1 where there is none. By reflection: this language calls no static method of an interface. */
  private static long parent() {
    try {
      Object self = ProcessHandle.class.getMethod("current", new Class[0]).invoke(null, new Object[0]);
      java.util.Optional parent = ((ProcessHandle) self).parent();
      return parent.isPresent() ? ((ProcessHandle) parent.get()).pid() : -1;
    } catch (ReflectiveOperationException never) {
      throw new RuntimeException(never);
    }
  }

  /** The one that was asked for the longest ago goes, as process.py expects. */
  private static void keep(LinkedHashMap known, Integer number, Known one) {
    known.put(number, one);
    if (known.size() <= KNOWN) return;
    Iterator eldest = known.values().iterator();
    ((Known) eldest.next()).writer.root().close();
    eldest.remove();
  }

  private static void answer(LinkedHashMap known, Integer number, byte[] bytes, ArrowStreamReader rows, DataOutputStream out)
      throws Exception {
    int row = -1;
    try {
      if (bytes.length > 0) keep(known, number, new Known(bytes));
      row = 0; // it is known from now on
      Known one = (Known) known.get(number);
      configure(one.timezone, one.loader);
      List vectors = rows.getVectorSchemaRoot().getFieldVectors();
      ColumnVector[] columns = new ColumnVector[vectors.size()];
      for (int i = 0; i < columns.length; i++) columns[i] = new ArrowColumnVector((FieldVector) vectors.get(i));
      one.writer.reset();
      Iterator each = new ColumnarBatch(columns, rows.getVectorSchemaRoot().getRowCount()).rowIterator();
      InternalRow group = null;
      for (row = 0; each.hasNext(); row++) {
        InternalRow given = (InternalRow) each.next();
        if (one.generator != null) {
          one.writer.write(one.projection.apply(list(one.generator, one.input.apply(given).copy())));
          continue;
        }
        if (one.aggregate == null) {
          one.writer.write(one.projection.apply(one.input.apply(given)));
          continue;
        }
        if (group == null) group = begun(one.aggregate);
        if (given.getBoolean(columns.length - 2)) one.aggregate.update(group, one.input.apply(given).copy());
        if (!given.getBoolean(columns.length - 1)) continue;
        one.writer.write(one.projection.apply(new GenericInternalRow(new Object[] {one.aggregate.eval(group)})));
        group = null;
      }
      one.writer.finish();
      ByteArrayOutputStream made = new ByteArrayOutputStream();
      ArrowStreamWriter stream = new ArrowStreamWriter(one.writer.root(), null, made);
      stream.writeBatch();
      stream.end();
      out.writeInt(made.size());
      made.writeTo(out);
    } catch (Throwable thrown) {
      if (thrown instanceof Error && !(thrown instanceof SparkThrowable)) throw (Error) thrown;
      out.writeInt(-1);
      out.writeInt(row);
      boolean named = thrown instanceof SparkThrowable && ((SparkThrowable) thrown).getCondition() != null;
      text(out, named ? ((SparkThrowable) thrown).getCondition() : "");
      text(out, named ? thrown.getMessage() : String.valueOf(thrown));
    }
  }

  private static void text(DataOutputStream out, String text) throws Exception {
    byte[] bytes = text.getBytes("UTF-8");
    out.writeInt(bytes.length);
    out.write(bytes);
  }
}
