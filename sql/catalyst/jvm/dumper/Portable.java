package dbsp;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.apache.spark.sql.catalyst.expressions.*;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction;
import org.apache.spark.sql.catalyst.expressions.aggregate.ImperativeAggregate;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.catalyst.trees.CurrentOrigin$;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.types.*;
import scala.collection.Iterator;

/**
 * An expression without its plan, which a process that has nothing but Spark's jars can evaluate: its arguments are
 * BoundReferences. What can't be an argument, for its type or because it is of a lambda, is part of the expression.
 */
public class Portable {
  /** Of each argument its place: numbers of children, from the expression down. */
  private final List places = new ArrayList();
  private final Set bound = new HashSet();

  /** JSON: {"arguments": [[...], ...], "serialized": base64, "jar": base64 of its place or ""}, or {"why": "..."} where it can't leave its plan. */
  public static String of(Expression e, String timezone) throws Exception {
    // what a function reads once must be a constant
    if (holdsParameter(e)) return "{\"why\":\"a parameter\"}";
    Portable made = new Portable();
    Expression bare = made.children(e, "", true);
    String why = e instanceof AggregateFunction ? ofAggregate((AggregateFunction) bare) : reason(bare, false);
    if (why != null) return "{\"why\":\"" + why + "\"}";
    return "{\"arguments\":" + made.places + ",\"serialized\":\""
        + base64(serialized(bare, timezone)) + "\",\"jar\":\"" + base64(jar(bare).getBytes("UTF-8")) + "\"}";
  }

  private static String base64(byte[] bytes) { return java.util.Base64.getEncoder().encodeToString(bytes); }

  private Expression children(Expression e, String place, boolean always) {
    if (e.children().isEmpty()) return e;
    if (e instanceof LambdaFunction) {
      Iterator variables = ((LambdaFunction) e).arguments().iterator();
      while (variables.hasNext()) bound.add(Long.valueOf(((NamedExpression) variables.next()).exprId().id()));
    }
    List made = new ArrayList();
    Iterator it = e.children().iterator();
    for (int i = 0; it.hasNext(); i++) {
      String there = place.isEmpty() ? "" + i : place + "," + i;
      made.add(part((Expression) it.next(), there, always && isAlwaysEvaluated(e, i)));
    }
    return (Expression) e.withNewChildren(scala.jdk.javaapi.CollectionConverters.asScala(made).toIndexedSeq());
  }

  /** always: whether it has a value for each row. An argument is evaluated for all, and might fail for one. */
  private Expression part(Expression e, String place, boolean always) {
    if (e.foldable() || e instanceof NamedLambdaVariable && isBound(e)) return e;
    boolean inside = e instanceof LambdaFunction || holdsBound(e) || !canBeGiven(e.dataType()) || isPassing(e)
        || !always && reason(e, true) == null && !(e instanceof NamedExpression);
    if (inside) return children(e, place, always);
    places.add("[" + place + "]");
    return new BoundReference(places.size() - 1, e.dataType(), e.nullable());
  }

  private static boolean isAlwaysEvaluated(Expression e, int child) {
    if (e instanceof LambdaFunction || e instanceof TryEval) return false; // or not with its error
    boolean chooses = e instanceof If || e instanceof CaseWhen || e instanceof Coalesce || e instanceof And || e instanceof Or;
    return child == 0 || !chooses;
  }

  /** A variant that is made here and read here only. */
  private static boolean isPassing(Expression e) {
    return e.dataType() instanceof VariantType && !e.children().isEmpty() && reason(e, true) == null;
  }

  private boolean isBound(Expression e) { return bound.contains(Long.valueOf(((NamedExpression) e).exprId().id())); }

  private boolean holdsBound(Expression e) {
    if (e instanceof NamedLambdaVariable) return isBound(e);
    Iterator it = e.children().iterator();
    while (it.hasNext()) if (holdsBound((Expression) it.next())) return true;
    return false;
  }

  private static boolean holdsParameter(Expression e) {
    if (e instanceof BoundReference) return ((BoundReference) e).ordinal() <= Parameters.LEAST;
    Iterator it = e.children().iterator();
    while (it.hasNext()) if (holdsParameter((Expression) it.next())) return true;
    return false;
  }

  /** Whether Python has arrays of it. */
  public static boolean canBeGiven(DataType t) {
    if (t instanceof ArrayType) return canBeGiven(((ArrayType) t).elementType());
    if (t instanceof MapType) return canBeGiven(((MapType) t).keyType()) && canBeGiven(((MapType) t).valueType());
    if (t instanceof StructType) {
      StructField[] fields = ((StructType) t).fields();
      for (int i = 0; i < fields.length; i++) if (!canBeGiven(fields[i].dataType())) return false;
      return fields.length > 0;
    }
    if (t instanceof StringType) return t.equals(DataTypes.StringType);
    return t instanceof NumericType || t instanceof BooleanType || t instanceof BinaryType || t instanceof DateType
        || t instanceof TimestampType || t instanceof TimestampNTZType || t instanceof DayTimeIntervalType
        || t instanceof YearMonthIntervalType || t instanceof TimeType || t instanceof VariantType;
  }

  /** An aggregate function by itself: Evaluator.java gives it the rows of a group. */
  private static String ofAggregate(AggregateFunction e) {
    if (isRandom(e)) return "what it keeps of its rows, which is random";
    if (!(e instanceof ImperativeAggregate)) return e.prettyName();
    Iterator it = e.children().iterator();
    while (it.hasNext()) {
      String why = reason((Expression) it.next(), false);
      if (why != null) return why;
    }
    return null;
  }

  /** Why it can't leave its plan. columns: whether it may read any. */
  private static String reason(Expression e, boolean columns) {
    if (e instanceof LambdaFunction) return reason(((LambdaFunction) e).function(), columns);
    if (columns && e instanceof AttributeReference) return null;
    if (e instanceof NamedLambdaVariable) return null; // of a lambda that is around it
    if (e instanceof BoundReference) return ((BoundReference) e).ordinal() < 0 ? "the clock" : null;
    if (e instanceof ScalaUDF || e instanceof ApplyFunctionExpression) return "functions that are registered in Spark";
    if (isRandom(e)) return "what is random, though Spark calls it deterministic";
    if (e instanceof CallMethodViaReflection) return "methods of Java";
    if (isAvro(e)) {
      if (readsFromAddress((scala.Product) e)) return "avroSchemaUrl, since what lies there may change; write the schema";
    } else if (!e.getClass().getName().startsWith("org.apache.spark.sql.catalyst.")) return "functions of other jars than Spark's";
    if (e instanceof AttributeReference) return "a column of type " + e.dataType().sql().replace("\"", "");
    if (e instanceof PlanExpression) return "sub-queries";
    if (e instanceof AggregateExpression) {
      String name = ((AggregateExpression) e).aggregateFunction().prettyName();
      if (!Collated.within(e.dataType())) return name + "()";
      return name + "() along a collation; CAST what it is given, as " + name + "(CAST(x AS STRING))";
    }
    if (e instanceof AggregateFunction || e instanceof Unevaluable) return e.prettyName();
    Iterator it = e.children().iterator();
    while (it.hasNext()) {
      String why = reason((Expression) it.next(), columns);
      if (why != null) return why;
    }
    return null;
  }

  // ---- Avro's functions: Spark's, in a jar of their own

  private static boolean isAvro(Expression e) { return e.getClass().getName().startsWith("org.apache.spark.sql.avro."); }

  private static boolean readsFromAddress(scala.Product e) {
    for (int i = 0; i < e.productArity(); i++) {
      if (!(e.productElement(i) instanceof scala.collection.Map)) continue;
      Iterator keys = ((scala.collection.Map) e.productElement(i)).keysIterator();
      while (keys.hasNext()) if ("avroSchemaUrl".equalsIgnoreCase((String) keys.next())) return true;
    }
    return false;
  }

  /** The jar that an expression needs beside Spark's own; '' where there is none. */
  private static String jar(Expression e) throws Exception {
    if (isAvro(e)) {
      java.io.File jar = place(e.getClass());
      return jar.getParentFile().equals(place(Expression.class).getParentFile()) ? "" : jar.getPath();
    }
    Iterator it = e.children().iterator();
    while (it.hasNext()) {
      String found = jar((Expression) it.next());
      if (!found.isEmpty()) return found;
    }
    return "";
  }

  private static java.io.File place(Class of) throws Exception {
    return new java.io.File(of.getProtectionDomain().getCodeSource().getLocation().toURI());
  }

  /** A cipher that begins with random bytes: without a vector, but by ECB; and sketches that drop what they like. */
  private static boolean isRandom(Expression e) {
    if (className(e).matches("Kll.*(Merge|Agg).*")) return true;
    if (!(e instanceof StaticInvoke) || !((StaticInvoke) e).functionName().equals("aesEncrypt")) return false;
    scala.collection.immutable.Seq given = ((StaticInvoke) e).arguments();
    return !"ECB".equalsIgnoreCase(constant(given.apply(2))) && constant(given.apply(4)).isEmpty();
  }

  private static String className(Expression e) { return e.getClass().getSimpleName(); }

  private static String constant(Object e) {
    Object value = e instanceof Literal ? ((Literal) e).value() : null;
    if (value instanceof byte[]) return ((byte[]) value).length > 0 ? "bytes" : "";
    return value == null ? "" : value.toString();
  }

  // ---- bytes: of a copy, in which no place of the query's text is left

  private static byte[] serialized(Expression e, String timezone) throws Exception {
    ByteArrayOutputStream copied = new ByteArrayOutputStream();
    ObjectOutputStream out = new ObjectOutputStream(copied);
    out.writeObject(e);
    out.close();
    Expression copy = (Expression) new Reading(copied.toByteArray()).readObject();
    forget(copy);
    ByteArrayOutputStream made = new ByteArrayOutputStream();
    out = new ObjectOutputStream(made);
    out.writeUTF(timezone);
    out.writeUTF(jar(e));
    out.writeObject(copy);
    out.close();
    return made.toByteArray();
  }

  private static class Reading extends ObjectInputStream {
    Reading(byte[] bytes) throws Exception { super(new ByteArrayInputStream(bytes)); }
    protected Class resolveClass(ObjectStreamClass described) throws java.io.IOException, ClassNotFoundException {
      // with the jars that the session was given
      try { return Class.forName(described.getName(), false, Thread.currentThread().getContextClassLoader()); }
      catch (ClassNotFoundException primitive) { return super.resolveClass(described); }
    }
  }

  private static void forget(Expression e) throws Exception {
    if (e.getClass().getName().endsWith("$")) return; // an object of Scala's is everybody's
    java.lang.reflect.Field origin = TreeNode.class.getDeclaredField("origin");
    origin.setAccessible(true);
    origin.set(e, CurrentOrigin$.MODULE$.get()); // of nothing, as no query is being read
    if (e instanceof SupportQueryContext) ((SupportQueryContext) e).queryContext_$eq(scala.Option.empty());
    Iterator it = e.children().iterator();
    while (it.hasNext()) forget((Expression) it.next());
  }
}
