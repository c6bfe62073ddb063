import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;

import org.apache.spark.sql.catalyst.expressions.*;
import org.apache.spark.sql.catalyst.expressions.aggregate.*;
import org.apache.spark.sql.catalyst.plans.logical.*;
import org.apache.spark.sql.catalyst.trees.CurrentOrigin$;
import org.apache.spark.sql.types.*;
import scala.collection.Iterator;

/**
 * A plan whose columns have no collation: texts are kept as they are, and where Spark compares them by a collation, the
 * plan compares Spark's own keys of it (CollationKey), which are bytes in its order. An expression reads such a column by
 * a CAST to its type.
 *
 *   GROUP BY x           of its key; what is shown of x is that of the group's first row
 *   max(x)               max_by(x, key of x), and so min(x)
 *   count(DISTINCT x), PARTITION BY x, ORDER BY x, a = b of a join        of keys
 */
public class Collations extends scala.runtime.AbstractPartialFunction {
  /** By the number of an expression: what stands for an attribute that had a collation. */
  private final HashMap known = new HashMap();
  /** Equalities are those of a join. */
  private boolean joins;

  public static LogicalPlan plain(LogicalPlan plan) {
    if (!compares(plan)) return plan;
    Collations made = new Collations();
    LogicalPlan plain = made.of(plan);
    // what is shown has the type that it has
    List shown = new ArrayList();
    boolean any = false;
    Iterator it = plan.output().iterator();
    while (it.hasNext()) {
      Attribute one = (Attribute) it.next();
      Expression read = made.read(one);
      any |= read != one;
      shown.add(read == one ? one : alias(read, one));
    }
    return any ? new Project(seq(shown), plain) : plain;
  }

  /** Whether anything in a plan has a collation. */
  private static boolean compares(LogicalPlan plan) {
    Iterator it = plan.expressions().iterator();
    while (it.hasNext()) if (holds((Expression) it.next())) return true;
    it = plan.children().iterator();
    while (it.hasNext()) if (compares((LogicalPlan) it.next())) return true;
    return false;
  }

  private static boolean holds(Expression e) {
    boolean isTyped = !(e instanceof WindowSpecDefinition || e instanceof WindowFrame || e instanceof SpecialFrameBoundary);
    if (isTyped && e.resolved() && has(e.dataType())) return true;
    Iterator it = e.children().iterator();
    while (it.hasNext()) if (holds((Expression) it.next())) return true;
    return false;
  }

  /** Whether it is a text that is compared by a collation. */
  public static boolean has(DataType t) { return t instanceof StringType && !t.equals(DataTypes.StringType); }

  /** Whether it is one, or has one in it. */
  public static boolean within(DataType t) {
    if (t instanceof ArrayType) return within(((ArrayType) t).elementType());
    if (t instanceof MapType) return within(((MapType) t).keyType()) || within(((MapType) t).valueType());
    if (!(t instanceof StructType)) return has(t);
    StructField[] fields = ((StructType) t).fields();
    for (int i = 0; i < fields.length; i++) if (within(fields[i].dataType())) return true;
    return false;
  }

  private LogicalPlan of(LogicalPlan p) {
    List children = new ArrayList();
    boolean changed = false;
    Iterator it = p.children().iterator();
    while (it.hasNext()) {
      LogicalPlan child = (LogicalPlan) it.next();
      LogicalPlan made = of(child);
      changed |= made != child;
      children.add(made);
    }
    LogicalPlan q = changed ? (LogicalPlan) p.withNewChildren(seq(children).toIndexedSeq()) : p;
    if (q instanceof Aggregate) return aggregate((Aggregate) q);
    if (q instanceof Project) return new Project(named(((Project) q).projectList()), ((Project) q).child());
    if (q instanceof Window) {
      Window w = (Window) q;
      return new Window(named(w.windowExpressions()), keys(w.partitionSpec()), fixed(w.orderSpec()), w.child(), w.hint());
    }
    if (q instanceof Expand) return expand((Expand) q);
    joins = q instanceof Join;
    LogicalPlan made = (LogicalPlan) q.transformExpressionsUp(this);
    joins = false;
    return made;
  }

  private LogicalPlan expand(Expand e) {
    List output = new ArrayList();
    Iterator it = e.output().iterator();
    while (it.hasNext()) {
      Attribute one = (Attribute) it.next();
      Attribute text = has(one.dataType()) ? one.withDataType(DataTypes.StringType) : one;
      output.add(text);
      if (text != one && read(one) == one) known.put(Long.valueOf(one.exprId().id()), cast(text, one.dataType()));
    }
    List projections = new ArrayList();
    it = e.projections().iterator();
    while (it.hasNext()) {
      List made = new ArrayList();
      Iterator values = ((scala.collection.immutable.Seq) it.next()).iterator();
      while (values.hasNext()) {
        Expression value = fixed((Expression) values.next());
        made.add(has(value.dataType()) ? text(value) : value);
      }
      projections.add(seq(made));
    }
    return new Expand(seq(projections), seq(output), e.child());
  }

  private LogicalPlan aggregate(Aggregate a) {
    List compared = new ArrayList();
    Iterator it = a.groupingExpressions().iterator();
    while (it.hasNext()) {
      Expression group = (Expression) it.next();
      if (has(group.dataType())) compared.add(group);
    }
    List made = new ArrayList();
    it = a.aggregateExpressions().iterator();
    while (it.hasNext()) {
      NamedExpression e = (NamedExpression) it.next();
      Expression shown = compared.isEmpty() ? (Expression) e : first((Expression) e, compared);
      made.add(shown instanceof NamedExpression ? shown : alias(shown, e));
    }
    return new Aggregate(keys(a.groupingExpressions()), named(seq(made)), a.child(), a.hint());
  }

  /** With the text of a group's first row in the place of what is grouped by. */
  private Expression first(Expression e, List compared) {
    if (e instanceof AggregateExpression) return e;
    for (int i = 0; i < compared.size(); i++) {
      Expression group = (Expression) compared.get(i);
      if (!e.semanticEquals(group)) continue;
      CurrentOrigin$.MODULE$.set(group.origin());
      Expression text = text(group);
      Expression found = cast(new First(text, false).toAggregateExpression(), group.dataType());
      CurrentOrigin$.MODULE$.reset();
      return found;
    }
    if (e.children().isEmpty()) return e;
    List made = new ArrayList();
    Iterator it = e.children().iterator();
    while (it.hasNext()) made.add(first((Expression) it.next(), compared));
    return (Expression) e.withNewChildren(seq(made).toIndexedSeq());
  }

  /** Those of a SELECT: what has a collation is a text, and is read by a CAST from now on. */
  private scala.collection.immutable.Seq named(scala.collection.immutable.Seq expressions) {
    List made = new ArrayList();
    Iterator it = expressions.iterator();
    while (it.hasNext()) {
      Expression e = (Expression) it.next();
      if (e instanceof Attribute) {
        Expression read = read((Attribute) e);
        made.add(read == e ? e : ((Cast) read).child());
        continue;
      }
      Expression fixed = fixed(e);
      if (e instanceof Alias && has(e.dataType()) && !isComputed(((Alias) fixed).child())) {
        Alias given = (Alias) e;
        Expression text = alias(text(((Alias) fixed).child()), given);
        known.put(Long.valueOf(given.exprId().id()), cast(((Alias) text).toAttribute(), e.dataType()));
        made.add(text);
      } else made.add(fixed);
    }
    return seq(made);
  }

  private scala.collection.immutable.Seq keys(scala.collection.immutable.Seq expressions) {
    List made = new ArrayList();
    Iterator it = expressions.iterator();
    while (it.hasNext()) made.add(key(fixed((Expression) it.next())));
    return seq(made);
  }

  private scala.collection.immutable.Seq fixed(scala.collection.immutable.Seq expressions) {
    List made = new ArrayList();
    Iterator it = expressions.iterator();
    while (it.hasNext()) made.add(fixed((Expression) it.next()));
    return seq(made);
  }

  private Expression fixed(Expression e) { return (Expression) e.transformUp(this); }

  private Expression read(Attribute one) {
    Object read = has(one.dataType()) ? known.get(Long.valueOf(one.exprId().id())) : null;
    return read == null ? one : (Expression) read;
  }

  /** What isn't known to follow from texts and keys stays as it is, and is refused for its type. */
  private static boolean isComputed(Expression e) {
    return e instanceof WindowExpression || e instanceof AggregateExpression;
  }

  /** Whether a cast stands between an aggregate and its window. */
  private static boolean isCast(Expression e) {
    return e instanceof Cast && ((Cast) e).child() instanceof AggregateExpression;
  }

  /** An expression whose parts compare nothing by a collation any more. */
  private Expression bare(Expression e) {
    if (e instanceof AttributeReference) return read((Attribute) e);
    if (e instanceof SortOrder && has(((SortOrder) e).child().dataType())) {
      SortOrder by = (SortOrder) e;
      return new SortOrder(key(by.child()), by.direction(), by.nullOrdering(), scala.collection.immutable.Nil$.MODULE$);
    }
    if (e instanceof WindowExpression && isCast(((WindowExpression) e).windowFunction())) {
      // the window is of the aggregate, and the cast of what it gives
      WindowExpression w = (WindowExpression) e;
      Cast of = (Cast) w.windowFunction();
      return cast(new WindowExpression(of.child(), w.windowSpec()), of.dataType());
    }
    if (e instanceof WindowSpecDefinition) {
      WindowSpecDefinition w = (WindowSpecDefinition) e;
      return new WindowSpecDefinition(keys(w.partitionSpec()), w.orderSpec(), w.frameSpecification());
    }
    if (joins && e instanceof EqualTo && has(((EqualTo) e).left().dataType()))
      return new EqualTo(key(((EqualTo) e).left()), key(((EqualTo) e).right()));
    if (joins && e instanceof EqualNullSafe && has(((EqualNullSafe) e).left().dataType()))
      return new EqualNullSafe(key(((EqualNullSafe) e).left()), key(((EqualNullSafe) e).right()));
    return e instanceof AggregateExpression ? aggregated((AggregateExpression) e) : e;
  }

  private Expression aggregated(AggregateExpression e) {
    AggregateFunction f = e.aggregateFunction();
    Expression value = f.children().isEmpty() ? null : (Expression) f.children().head();
    if (f instanceof Count) return with(e, new Count(keys(f.children())), e.isDistinct());
    if (f instanceof MaxBy && has(((MaxBy) f).orderingExpr().dataType()))
      return with(e, new MaxBy(((MaxBy) f).valueExpr(), key(((MaxBy) f).orderingExpr())), e.isDistinct());
    if (f instanceof MinBy && has(((MinBy) f).orderingExpr().dataType()))
      return with(e, new MinBy(((MinBy) f).valueExpr(), key(((MinBy) f).orderingExpr())), e.isDistinct());
    if (value == null || !has(value.dataType())) return e;
    Expression text = text(value);
    AggregateFunction made = null;
    if (f instanceof Max) made = new MaxBy(text, key(value));
    else if (f instanceof Min) made = new MinBy(text, key(value));
    else if (f instanceof First) made = new First(text, ((First) f).ignoreNulls());
    else if (f instanceof Last) made = new Last(text, ((Last) f).ignoreNulls());
    return made == null ? e : cast(with(e, made, false), value.dataType());
  }

  private static AggregateExpression with(AggregateExpression e, AggregateFunction f, boolean distinct) {
    return new AggregateExpression(f, e.mode(), distinct, e.filter(), e.resultId());
  }

  private static Expression key(Expression e) { return has(e.dataType()) ? new CollationKey(e) : e; }

  private static Expression cast(Expression e, DataType t) {
    return new Cast(e, t, scala.Option.empty(), EvalMode$.MODULE$.LEGACY());
  }

  /** An expression that has a collation as a text without. What casts a text to it is that text. */
  private static Expression text(Expression e) {
    boolean casts = e instanceof Cast && ((Cast) e).child().dataType().equals(DataTypes.StringType);
    return casts ? ((Cast) e).child() : cast(e, DataTypes.StringType);
  }

  private static Alias alias(Expression e, NamedExpression of) {
    return new Alias(e, of.name(), of.exprId(), of.qualifier(), scala.Option.empty(), scala.collection.immutable.Nil$.MODULE$);
  }

  private static scala.collection.immutable.Seq seq(List items) {
    return scala.jdk.javaapi.CollectionConverters.asScala(items).toList();
  }

  public boolean isDefinedAt(Object e) { return bare((Expression) e) != e; }

  public Object applyOrElse(Object e, scala.Function1 other) {
    Expression old = (Expression) e;
    CurrentOrigin$.MODULE$.set(old.origin());
    Expression made = bare(old);
    CurrentOrigin$.MODULE$.reset();
    return made == old ? other.apply(e) : made;
  }
}
