package dbsp;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;

import org.apache.spark.sql.catalyst.analysis.TempResolvedColumn;
import org.apache.spark.sql.catalyst.expressions.*;
import org.apache.spark.sql.catalyst.expressions.aggregate.*;
import org.apache.spark.sql.catalyst.plans.logical.*;
import org.apache.spark.sql.catalyst.trees.Origin;
import org.apache.spark.sql.types.*;
import scala.collection.Iterator;

/**
 * Literals of a query whose value decides nothing of its plan: each becomes a value that the optimiser knows nothing of.
 *
 * A number stands for all literals of one type and value, since the analyser compares expressions that hold them. It
 * is free where each of them is still there as it was written, below nothing but what takes any value of its type;
 * where the analyser has used one up, or a name, a pair of relations or a rank depends on it, it is fixed.
 */
public class Parameters {
  /** Of a BoundReference that is a parameter: LEAST - 2 * number, and one less of the number's negative. */
  public static final int LEAST = -16;

  private static final Set THROUGH = new HashSet(Arrays.asList(new Object[] {
      "Alias", "And", "Or", "Not", "EqualTo", "EqualNullSafe", "LessThan", "LessThanOrEqual", "GreaterThan",
      "GreaterThanOrEqual", "In", "Between", "Add", "Subtract", "Multiply", "Divide", "Remainder", "IntegralDivide",
      "UnaryMinus", "UnaryPositive", "Abs", "CaseWhen", "If", "Coalesce", "Nvl", "IsNull", "IsNotNull", "Cast", "Concat",
      "Upper", "Lower", "Length", "Contains", "StartsWith", "EndsWith", "Like", "Greatest", "Least",
      "With", "CommonExpressionDef", "AggregateExpression", "Sum", "Min", "Max", "Average", "Count"}));

  private final String text;
  private final int[] starts;
  private final int[] stops;
  private final int[] numbers;
  private final String[] types;
  private final Set words = new HashSet();
  private final boolean[] seen;
  private final TreeSet fixed = new TreeSet();
  private final TreeSet sized = new TreeSet();

  /** literals: of each the first and last place in the text, its number and its type, a line each. words: names that are
   *  in the text, in lower case, a line each. */
  public Parameters(String text, String literals, String words) {
    this.text = text;
    String[] lines = literals.split("\n");
    starts = new int[lines.length];
    stops = new int[lines.length];
    numbers = new int[lines.length];
    types = new String[lines.length];
    seen = new boolean[lines.length];
    for (int i = 0; i < lines.length; i++) {
      String[] parts = lines[i].split(" ");
      starts[i] = Integer.parseInt(parts[0]);
      stops[i] = Integer.parseInt(parts[1]);
      numbers[i] = Integer.parseInt(parts[2]);
      types[i] = parts[3];
    }
    this.words.addAll(Arrays.asList(words.split("\n")));
  }

  /** The analysed plan with parameters. */
  public LogicalPlan marked(LogicalPlan analyzed) {
    plan(analyzed, true, true);
    for (int i = 0; i < seen.length; i++) if (!seen[i]) fixed.add(Integer.valueOf(numbers[i]));
    return (LogicalPlan) analyzed.transformAllExpressionsWithSubqueries(new Marks(this));
  }

  /** {"free": numbers, "sized": those of them whose number of digits makes a type} */
  public String told() {
    TreeSet free = new TreeSet();
    for (int i = 0; i < numbers.length; i++) free.add(Integer.valueOf(numbers[i]));
    free.removeAll(fixed);
    sized.retainAll(free);
    return "{\"free\":" + free + ",\"sized\":" + sized + "}";
  }

  public static class Marks extends scala.runtime.AbstractPartialFunction {
    private final Parameters parameters;
    public Marks(Parameters parameters) { this.parameters = parameters; }
    private int mark(Object e) {
      if (!(e instanceof Literal)) return 0;
      int at = parameters.find((Literal) e);
      if (at < 0 || parameters.fixed.contains(Integer.valueOf(parameters.numbers[at]))) return 0;
      return LEAST - 2 * parameters.numbers[at] - (parameters.isNegative((Literal) e, at) ? 1 : 0);
    }
    public boolean isDefinedAt(Object e) { return mark(e) != 0; }
    public Object applyOrElse(Object e, scala.Function1 other) {
      int mark = mark(e);
      if (mark == 0) return other.apply(e);
      // inside of what can't be evaluated, for rules that compute
      Expression reference = new BoundReference(mark, ((Expression) e).dataType(), false);
      return new TempResolvedColumn(reference, scala.collection.immutable.Nil$.MODULE$, false);
    }
  }

  // ---- which are free

  /** whole: not only conditions. */
  private void plan(LogicalPlan p, boolean free, boolean whole) {
    String op = name(p);
    if (op.equals("UnionLoop") || op.equals("Pivot")) free = false;
    if (p instanceof Filter) {
      Filter filter = (Filter) p;
      condition(filter.condition(), free && !has(filter.child(), "Window"), has(filter.child(), "Join"));
    } else if (p instanceof Aggregate) {
      each(((Aggregate) p).groupingExpressions().iterator(), false);
      each(((Aggregate) p).aggregateExpressions().iterator(), free && whole);
    } else {
      each(p.expressions().iterator(), free && whole && p instanceof Project);
    }
    Iterator children = p.children().iterator();
    while (children.hasNext()) plan((LogicalPlan) children.next(), free, whole);
  }

  /** joined: a part that compares columns may become a condition of a join, whose constants say how it is searched. */
  private void condition(Expression e, boolean free, boolean joined) {
    if (e instanceof And) {
      condition(((And) e).left(), free, joined);
      condition(((And) e).right(), free, joined);
    } else expression(e, free && !(joined && e.references().size() > 1));
  }

  private static boolean has(LogicalPlan p, String op) {
    if (name(p).equals(op)) return true;
    Iterator children = p.children().iterator();
    while (children.hasNext()) if (has((LogicalPlan) children.next(), op)) return true;
    return false;
  }

  private void each(Iterator expressions, boolean free) {
    while (expressions.hasNext()) expression((Expression) expressions.next(), free);
  }

  private void expression(Expression e, boolean free) {
    if (e instanceof Literal) {
      int at = find((Literal) e);
      if (at >= 0) seen[at] = true;
      if (at >= 0 && !free) fixed.add(Integer.valueOf(numbers[at]));
      return;
    }
    if (e instanceof PlanExpression) {
      boolean correlated = !e.children().isEmpty();
      plan((LogicalPlan) ((PlanExpression) e).plan(), true, !correlated);
    }
    boolean inside = free && THROUGH.contains(name(e)) && !(e instanceof Alias && isMade((Alias) e));
    Iterator children = e.children().iterator();
    while (children.hasNext()) {
      Expression child = (Expression) children.next();
      if (child instanceof Literal && e instanceof Cast && e.dataType() instanceof DecimalType && child.dataType() instanceof IntegralType) {
        int at = find((Literal) child);
        if (at >= 0) sized.add(Integer.valueOf(numbers[at]));
      }
      expression(child, inside && !(child instanceof Literal && e instanceof AggregateFunction));
    }
    // what it holds beside its children
    if (e instanceof scala.Product) {
      scala.Product product = (scala.Product) e;
      for (int i = 0; i < product.productArity(); i++) {
        Object part = product.productElement(i);
        if (part instanceof scala.Some) part = ((scala.Some) part).value();
        if (part instanceof Expression && !e.children().contains(part) && !(e instanceof RuntimeReplaceable)) expression((Expression) part, false);
      }
    }
  }

  /** Whether Spark has named the column after what it is. */
  private boolean isMade(Alias e) {
    if (!words.contains(e.name().toLowerCase(java.util.Locale.ROOT))) return true;
    return e.child() instanceof Literal && e.name().equals(String.valueOf(((Literal) e.child()).value()));
  }

  // ---- where they stand

  private int find(Literal e) {
    Origin o = e.origin();
    if (!o.startIndex().isDefined() || !o.stopIndex().isDefined() || e.value() == null) return -1;
    if (o.sqlText().isDefined() && !o.sqlText().get().equals(text)) return -1;
    int start = ((Integer) o.startIndex().get()).intValue();
    int stop = ((Integer) o.stopIndex().get()).intValue();
    for (int i = 0; i < starts.length; i++)
      if (stops[i] == stop && (starts[i] == start || isMinus(start, starts[i])))
        return types[i].equals(e.dataType().simpleString()) ? i : -1;
    return -1;
  }

  private boolean isNegative(Literal e, int at) {
    return ((Integer) e.origin().startIndex().get()).intValue() < starts[at];
  }

  /** Whether a minus, and space, is all from there to the literal. */
  private boolean isMinus(int start, int literal) {
    if (start >= literal) return false;
    int from = text.offsetByCodePoints(0, start);
    return text.substring(from, text.offsetByCodePoints(from, literal - start)).trim().equals("-");
  }

  private static String name(Object o) {
    String n = o.getClass().getName();
    n = n.substring(n.lastIndexOf('.') + 1);
    return n.substring(n.lastIndexOf('$') + 1);
  }
}
