package dbsp;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import org.apache.spark.sql.catalyst.expressions.*;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.types.*;
import scala.collection.Iterator;

/** What a view must not contain, of an analysed plan, for whose optimiser it would be a constant; and what it reads and calls. */
public class Forbidden {
  private static final Set CLOCK = new HashSet(Arrays.asList(new Object[] {"CurrentBatchTimestamp"}));
  /** Those that the program says; the zone and Spark's version are constants to the optimiser. */
  private static final Set SESSION = new HashSet(Arrays.asList(new Object[] {
      "CurrentUser", "CurrentDatabase", "CurrentCatalog", "CurrentPath"}));
  private static final String SPECIAL = "special";

  private final Map constants;
  private final Written out;
  private final TreeSet readConstants = new TreeSet();
  private boolean callsJava;
  private boolean first = true;

  /** constants: those of the session that are known, by the classes of their expressions. text: the query's. */
  public Forbidden(LogicalPlan analyzed, Map constants, String text) {
    this.constants = constants;
    this.out = new Written(text, new ArrayList());
    plan(analyzed);
  }

  /** [{"name", "why", "s"}] */
  public String json() { return "[" + out + "]"; }

  /** The names of the functions that read a constant of the session. */
  public TreeSet readConstants() { return readConstants; }

  /** Whether it calls methods of Java. */
  public boolean callsJava() { return callsJava; }

  private void plan(LogicalPlan plan) {
    Iterator expressions = plan.expressions().iterator();
    while (expressions.hasNext()) expression((Expression) expressions.next());
    Iterator children = plan.children().iterator();
    while (children.hasNext()) plan((LogicalPlan) children.next());
  }

  private void expression(Expression e) {
    if (e instanceof PlanExpression) plan((LogicalPlan) ((PlanExpression) e).plan());
    // not for what is random: a replacement has seeds of its own
    if (e instanceof RuntimeReplaceable && e.deterministic()) expression(((RuntimeReplaceable) e).replacement());
    String why = why(e);
    boolean random = !(e instanceof AggregateFunction) && !(e instanceof PlanExpression) && !e.deterministic();
    Iterator children = e.children().iterator();
    while (children.hasNext()) {
      Expression child = (Expression) children.next();
      random = random && child.deterministic();
      expression(child);
    }
    callsJava |= e instanceof CallMethodViaReflection;
    if (why == null && random) why = "is not deterministic";
    if (why == null) return;
    if (!first) out.raw(",");
    first = false;
    out.raw("{\"name\":").string(why == SPECIAL ? e.sql() : e.prettyName()).raw(",\"why\":").string(why);
    out.source(e.origin());
    out.raw("}");
  }

  /** Of the expression itself; null where nothing is said against it. */
  private String why(Expression e) {
    String name = Written.className(e);
    if (CLOCK.contains(name) || e instanceof Cast && takesToday(((Cast) e).child().dataType(), e.dataType())) return "reads the clock";
    if (!SESSION.contains(name)) return isSpecialTime(e) ? SPECIAL : null;
    if (!constants.containsKey(name)) return "depends on the session";
    readConstants.add(e.prettyName());
    return null;
  }

  /** A constant text such as 'today' becomes the day of the compiler's clock, by the rule SpecialDatetimeValues. */
  private static boolean isSpecialTime(Expression e) {
    if (!(e instanceof Cast) || !(e.dataType() instanceof DatetimeType)) return false;
    Expression text = ((Cast) e).child();
    if (!(text.dataType() instanceof StringType) || !text.foldable()) return false;
    Object value;
    try { value = text.eval(null); } catch (RuntimeException failing) { return false; }
    if (value == null) return false;
    String trimmed = value.toString().trim();
    return !trimmed.toLowerCase(Locale.ROOT).startsWith("epoch")
        && org.apache.spark.sql.catalyst.util.DateTimeUtils.convertSpecialTimestamp(
            trimmed, java.time.ZoneOffset.UTC).isDefined();
  }

  /** Whether a cast makes a TIMESTAMP of a TIME, of which the date is today's. */
  private static boolean takesToday(DataType from, DataType to) {
    if (from instanceof ArrayType && to instanceof ArrayType)
      return takesToday(((ArrayType) from).elementType(), ((ArrayType) to).elementType());
    if (from instanceof MapType && to instanceof MapType)
      return takesToday(((MapType) from).keyType(), ((MapType) to).keyType())
          || takesToday(((MapType) from).valueType(), ((MapType) to).valueType());
    if (from instanceof StructType && to instanceof StructType) {
      StructField[] before = ((StructType) from).fields(), after = ((StructType) to).fields();
      for (int i = 0; i < before.length; i++) if (takesToday(before[i].dataType(), after[i].dataType())) return true;
    }
    return from instanceof TimeType && (to instanceof TimestampType || to instanceof TimestampNTZType);
  }
}
