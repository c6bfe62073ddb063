package dbsp;

import java.util.ArrayList;
import java.util.List;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.*;
import org.apache.spark.sql.catalyst.plans.logical.*;
import org.apache.spark.sql.types.*;
import scala.collection.Iterator;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;

/**
 * What an analysed plan says with nodes that only Spark evaluates, in others that are maintained.
 *
 * current_schema(), ...          constants, which the program says
 * sql_keywords(), collations()   relations of constants
 * counter_diff(c, s) OVER w      f(c, s, p.c, p.s), where p = lag(if(c IS NULL, NULL, struct(c, s))) IGNORE NULLS OVER w, f Spark's own
 */
public class Rewritten {
  /** constants: by the class of the expression, texts. */
  public static LogicalPlan of(LogicalPlan plan, java.util.Map constants) {
    LogicalPlan made = (LogicalPlan) plan.transformUpWithSubqueries(new Nodes());
    return (LogicalPlan) made.transformAllExpressionsWithSubqueries(new Constants(constants));
  }

  public static class Constants extends scala.runtime.AbstractPartialFunction {
    private final java.util.Map constants;
    public Constants(java.util.Map constants) { this.constants = constants; }
    private Object value(Object e) { return constants.get(e.getClass().getSimpleName()); }
    public boolean isDefinedAt(Object e) { return value(e) != null; }
    public Object applyOrElse(Object e, scala.Function1 other) {
      return value(e) == null ? other.apply(e) : Literal$.MODULE$.apply(value(e));
    }
  }

  public static class Nodes extends scala.runtime.AbstractPartialFunction {
    public boolean isDefinedAt(Object p) {
      if (p instanceof Window) return counts((Window) p);
      return p instanceof Generate && ((Generate) p).child() instanceof OneRowRelation
          && (((Generate) p).generator() instanceof SQLKeywords || ((Generate) p).generator() instanceof org.apache.spark.sql.catalyst.expressions.Collations);
    }
    public Object applyOrElse(Object p, scala.Function1 other) {
      if (!isDefinedAt(p)) return other.apply(p);
      return p instanceof Window ? differences((Window) p) : rows((Generate) p);
    }
  }

  private static LogicalPlan rows(Generate p) {
    List rows = new ArrayList();
    Iterator it = ((scala.collection.IterableOnce) p.generator().eval(null)).iterator();
    while (it.hasNext()) rows.add(((InternalRow) it.next()).copy());
    return new LocalRelation(p.generatorOutput(), seq(rows), false, scala.Option.empty());
  }

  // ---- counter_diff

  /** By its name: of Spark 4.3. */
  private static AggregateWindowFunction counter(Object named) {
    Expression e = named instanceof Alias ? ((Alias) named).child() : null;
    Expression function = e instanceof WindowExpression ? ((WindowExpression) e).windowFunction() : null;
    boolean counts = function instanceof AggregateWindowFunction && function.getClass().getSimpleName().startsWith("CounterDiff");
    return counts ? (AggregateWindowFunction) function : null;
  }

  private static boolean counts(Window p) {
    Iterator it = p.windowExpressions().iterator();
    while (it.hasNext()) if (counter(it.next()) != null) return true;
    return false;
  }

  private static LogicalPlan differences(Window p) {
    List computed = new ArrayList(), shown = new ArrayList();
    Iterator it = p.child().output().iterator();
    while (it.hasNext()) shown.add(it.next());
    it = p.windowExpressions().iterator();
    while (it.hasNext()) {
      NamedExpression named = (NamedExpression) it.next();
      AggregateWindowFunction function = counter(named);
      if (function == null) {
        computed.add(named);
        shown.add(named.toAttribute());
        continue;
      }
      Alias alias = (Alias) named;
      Alias before = alias(before(function, ((WindowExpression) alias.child()).windowSpec()), "before", NamedExpression$.MODULE$.newExprId(), alias);
      computed.add(before);
      shown.add(alias(difference(function, before.toAttribute()), alias.name(), alias.exprId(), alias));
    }
    return new Project(seq(shown), new Window(seq(computed), p.partitionSpec(), p.orderSpec(), p.child(), p.hint()));
  }

  private static Alias alias(Expression e, String name, ExprId id, Alias of) {
    Alias made = new Alias(e, name, id, Nil$.MODULE$, scala.Option.empty(), Nil$.MODULE$);
    made.copyTagsFrom(of);
    return made;
  }

  /** The counter, and its start if there is one, of the row before of which the counter is known. */
  private static Expression before(AggregateWindowFunction function, WindowSpecDefinition over) {
    List fields = new ArrayList();
    Iterator it = function.children().iterator();
    while (it.hasNext()) {
      fields.add(Literal$.MODULE$.apply("_" + fields.size()));
      fields.add(it.next());
    }
    Expression known = new CreateNamedStruct(seq(fields));
    Expression counted = new If(new IsNull((Expression) function.children().head()), Literal$.MODULE$.create(null, known.dataType()), known);
    Lag lag = new Lag(counted, Literal$.MODULE$.apply(Integer.valueOf(1)), Literal$.MODULE$.create(null, known.dataType()), true);
    return new WindowExpression(lag, new WindowSpecDefinition(over.partitionSpec(), over.orderSpec(), lag.frame()));
  }

  /** Spark's expression of what it holds: the last row's, then this row's, of the counter, then of the start. */
  private static Expression difference(AggregateWindowFunction function, Attribute before) {
    java.util.Map held = new java.util.HashMap();
    Iterator buffers = function.aggBufferAttributes().iterator();
    for (int i = 0; buffers.hasNext(); i++) {
      Expression value = new GetStructField(before, i, scala.Option.empty());
      held.put(((Attribute) buffers.next()).exprId(), value);
      held.put(((Attribute) buffers.next()).exprId(), function.children().apply(i));
    }
    return (Expression) function.evaluateExpression().transform(new Held(held));
  }

  public static class Held extends scala.runtime.AbstractPartialFunction {
    private final java.util.Map held;
    public Held(java.util.Map held) { this.held = held; }
    public boolean isDefinedAt(Object e) { return e instanceof Attribute && held.containsKey(((Attribute) e).exprId()); }
    public Object applyOrElse(Object e, scala.Function1 other) {
      return isDefinedAt(e) ? held.get(((Attribute) e).exprId()) : other.apply(e);
    }
  }

  private static Seq seq(List items) { return scala.jdk.javaapi.CollectionConverters.asScala(items).toList(); }
}
