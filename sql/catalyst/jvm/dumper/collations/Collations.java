package dbsp;

import java.util.ArrayList;
import java.util.List;

import org.apache.spark.sql.catalyst.expressions.*;
import org.apache.spark.sql.catalyst.expressions.aggregate.*;
import org.apache.spark.sql.catalyst.plans.logical.*;
import org.apache.spark.sql.catalyst.trees.CurrentOrigin$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.types.*;
import scala.collection.Iterator;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;

/**
 * A plan whose columns have no collation: texts are kept as they are, and where Spark compares them by a collation, the
 * plan compares Spark's own keys of it (CollationKey), which are bytes in its order. An expression reads such a column by
 * a CAST to its type. A struct, an array or a map of such texts is kept and read so, too; a key of it is one of keys.
 *
 *   GROUP BY x           of its key; what is shown of x is any_value(x), of equal texts
 *   DISTINCT             GROUP BY of all columns; UNION, INTERSECT and EXCEPT are made of it and of joins
 *   max(x)               max_by(x, key of x), and so min(x)
 *   count(DISTINCT x), PARTITION BY x, ORDER BY x, a = b of a join        of keys
 *
 * What isn't known to follow from texts and keys keeps its type, and is refused for it.
 */
public class Collations extends scala.runtime.AbstractPartialFunction {
  /** Equalities are those of a join. */
  private boolean joins;

  public static LogicalPlan plain(LogicalPlan plan) { return compares(plan) ? new Collations().of(plan) : plan; }

  /** Whether anything in a plan has a collation. */
  private static boolean compares(LogicalPlan plan) {
    if (holds(plan.output())) return true;
    Iterator it = plan.expressions().iterator();
    while (it.hasNext()) if (holds((Expression) it.next())) return true;
    it = plan.children().iterator();
    while (it.hasNext()) if (compares((LogicalPlan) it.next())) return true;
    return false;
  }

  private static boolean holds(Seq output) {
    Iterator it = output.iterator();
    while (it.hasNext()) if (Collated.within(((Attribute) it.next()).dataType())) return true;
    return false;
  }

  private static boolean holds(Expression e) {
    boolean isTyped = !(e instanceof WindowSpecDefinition || e instanceof WindowFrame || e instanceof SpecialFrameBoundary);
    if (e instanceof Collate || isTyped && e.resolved() && Collated.within(e.dataType())) return true;
    if (e instanceof ScalarSubquery && compares((LogicalPlan) ((ScalarSubquery) e).plan())) return true;
    Iterator it = e.children().iterator();
    while (it.hasNext()) if (holds((Expression) it.next())) return true;
    return false;
  }

  private LogicalPlan of(LogicalPlan p) {
    boolean compared = holds(p.output());
    if (compared && p instanceof Distinct) p = new Aggregate(p.output(), p.output(), ((Distinct) p).child(), scala.Option.empty());
    if (compared && p instanceof Intersect && !((Intersect) p).isAll())
      return of(org.apache.spark.sql.catalyst.optimizer.ReplaceIntersectWithSemiJoin$.MODULE$.apply(p));
    if (compared && p instanceof Except && !((Except) p).isAll())
      return of(org.apache.spark.sql.catalyst.optimizer.ReplaceExceptWithAntiJoin$.MODULE$.apply(p));
    List children = new ArrayList();
    boolean changed = false;
    Iterator it = p.children().iterator();
    while (it.hasNext()) {
      LogicalPlan child = (LogicalPlan) it.next();
      LogicalPlan made = of(child);
      // rows of EXCEPT ALL and INTERSECT ALL have the type that they are counted by
      if (compared && (p instanceof Intersect || p instanceof Except)) made = typed(child.output(), made);
      changed |= made != child;
      children.add(made);
    }
    LogicalPlan q = changed ? (LogicalPlan) p.withNewChildren(Keyed.seq(children).toIndexedSeq()) : p;
    if (q instanceof LeafNode) return compared ? leaf(q) : q;
    if (q instanceof Aggregate) return aggregate((Aggregate) q);
    if (q instanceof Project) return new Project(named(((Project) q).projectList()), ((Project) q).child());
    if (q instanceof Window) {
      Window w = (Window) q;
      return new Window(named(w.windowExpressions()), keys(w.partitionSpec()), fixed(w.orderSpec()), w.child(), w.hint());
    }
    if (q instanceof Expand) return expand((Expand) q);
    if (q instanceof Generate) return generate((Generate) q);
    joins = q instanceof Join || q instanceof AsOfJoin;
    LogicalPlan made = (LogicalPlan) q.transformExpressionsUp(this);
    joins = false;
    return made;
  }

  private LogicalPlan typed(Seq output, LogicalPlan plain) {
    List made = new ArrayList();
    Iterator it = output.iterator();
    while (it.hasNext()) {
      Attribute one = (Attribute) it.next();
      made.add(Collated.within(one.dataType()) ? Keyed.alias(Keyed.read(one), one) : one);
    }
    return new Project(Keyed.seq(made), plain);
  }

  private static LogicalPlan leaf(LogicalPlan p) {
    if (p instanceof LogicalRDD) {
      LogicalRDD r = (LogicalRDD) p;
      return new LogicalRDD(
          Keyed.texts(r.output()), r.rdd(), r.outputPartitioning(), r.outputOrdering(), r.isStreaming(), r.stream(),
          (SparkSession) r.otherCopyArgs().head(), scala.Option.empty(), scala.Option.empty(), false);
    }
    if (p instanceof LocalRelation) {
      LocalRelation r = (LocalRelation) p;
      return new LocalRelation(Keyed.texts(r.output()), r.data(), r.isStreaming(), r.stream());
    }
    if (!(p instanceof UnionLoopRef)) return p;
    return new UnionLoopRef(((UnionLoopRef) p).loopId(), Keyed.texts(p.output()), ((UnionLoopRef) p).accumulated());
  }

  private LogicalPlan expand(Expand e) {
    List projections = new ArrayList();
    Iterator it = e.projections().iterator();
    while (it.hasNext()) {
      List made = new ArrayList();
      Iterator values = ((Seq) it.next()).iterator();
      while (values.hasNext()) made.add(Keyed.text(fixed((Expression) values.next())));
      projections.add(Keyed.seq(made));
    }
    return new Expand(Keyed.seq(projections), Keyed.texts(e.output()), e.child());
  }

  private LogicalPlan generate(Generate g) {
    Expression generator = fixed((Expression) g.generator());
    boolean chooses = generator instanceof ExplodeBase || generator instanceof Inline || generator instanceof Stack;
    if (chooses) generator = ofTexts(generator);
    return new Generate((Generator) generator, g.unrequiredChildIndex(), g.outer(), g.qualifier(), Keyed.texts(g.generatorOutput()), g.child());
  }

  private LogicalPlan aggregate(Aggregate a) {
    List compared = new ArrayList();
    Iterator it = a.groupingExpressions().iterator();
    while (it.hasNext()) {
      Expression group = (Expression) it.next();
      if (Collated.within(group.dataType())) compared.add(group);
    }
    List made = new ArrayList();
    it = a.aggregateExpressions().iterator();
    while (it.hasNext()) {
      NamedExpression e = (NamedExpression) it.next();
      Expression shown = compared.isEmpty() ? (Expression) e : first((Expression) e, compared);
      made.add(shown instanceof NamedExpression ? shown : Keyed.alias(shown, e));
    }
    return new Aggregate(keys(a.groupingExpressions()), named(Keyed.seq(made)), a.child(), a.hint());
  }

  /** With a text of the group in the place of what is grouped by. */
  private Expression first(Expression e, List compared) {
    if (e instanceof AggregateExpression) return e;
    for (int i = 0; i < compared.size(); i++) {
      Expression group = (Expression) compared.get(i);
      if (!e.semanticEquals(group)) continue;
      CurrentOrigin$.MODULE$.set(group.origin());
      Expression text = Keyed.text(group);
      Expression found = Keyed.cast(new AnyValue(text, false).toAggregateExpression(), group.dataType());
      CurrentOrigin$.MODULE$.reset();
      return found;
    }
    if (e.children().isEmpty()) return e;
    List made = new ArrayList();
    Iterator it = e.children().iterator();
    while (it.hasNext()) made.add(first((Expression) it.next(), compared));
    return (Expression) e.withNewChildren(Keyed.seq(made).toIndexedSeq());
  }

  /** Those of a SELECT: what has a collation is a text, and is read by a CAST from now on. */
  private Seq named(Seq expressions) {
    List made = new ArrayList();
    Iterator it = expressions.iterator();
    while (it.hasNext()) {
      Expression e = (Expression) it.next();
      if (e instanceof Attribute) {
        made.add(Keyed.text((Attribute) e));
        continue;
      }
      Expression fixed = fixed(e);
      boolean any = e instanceof Alias && Collated.within(e.dataType()) && !(((Alias) fixed).child() instanceof WindowExpression);
      CurrentOrigin$.MODULE$.set(any ? ((Alias) e).child().origin() : e.origin());
      made.add(any ? Keyed.alias(Keyed.text(((Alias) fixed).child()), (Alias) e) : fixed);
      CurrentOrigin$.MODULE$.reset();
    }
    return Keyed.seq(made);
  }

  private Seq keys(Seq expressions) {
    List made = new ArrayList();
    Iterator it = expressions.iterator();
    while (it.hasNext()) made.add(Keyed.key(fixed((Expression) it.next())));
    return Keyed.seq(made);
  }

  private Seq fixed(Seq expressions) {
    List made = new ArrayList();
    Iterator it = expressions.iterator();
    while (it.hasNext()) made.add(fixed((Expression) it.next()));
    return Keyed.seq(made);
  }

  private Expression fixed(Expression e) { return (Expression) e.transformUp(this); }

  /** Whether a cast stands between a function and its window. */
  private static boolean isCast(Expression e) {
    if (!(e instanceof Cast)) return false;
    Expression of = ((Cast) e).child();
    return of instanceof AggregateExpression || of instanceof WindowFunction;
  }

  /** Whether it only passes on what it is given, or asks whether it is there. */
  private static boolean passes(Expression e) {
    return e instanceof GetStructField || e instanceof GetArrayItem || e instanceof CreateNamedStruct || e instanceof CreateArray
        || e instanceof Coalesce || e instanceof If || e instanceof CaseWhen || e instanceof IsNull || e instanceof IsNotNull
        || e instanceof Size || e instanceof FrameLessOffsetWindowFunction || e instanceof NthValue;
  }

  /** An expression whose parts compare nothing by a collation any more. */
  private Expression bare(Expression e) {
    if (e instanceof AttributeReference) return Keyed.read((Attribute) e);
    if (e instanceof ScalarSubquery) return subquery((ScalarSubquery) e);
    if (e instanceof Collate && !Collated.within(e.dataType())) return Keyed.text((Expression) e.children().head());
    // what reads a text by its type, to make that text of it
    if (e instanceof Cast && !Collated.within(e.dataType()) && Collated.within(((Cast) e).child().dataType()) && Keyed.isRead(((Cast) e).child(), e.dataType()))
      return Keyed.text(((Cast) e).child());
    if (e instanceof SortOrder && Collated.within(((SortOrder) e).child().dataType())) {
      SortOrder by = (SortOrder) e;
      return new SortOrder(Keyed.key(by.child()), by.direction(), by.nullOrdering(), Nil$.MODULE$);
    }
    if (e instanceof WindowExpression && isCast(((WindowExpression) e).windowFunction())) {
      // the window is of the function, and the cast of what it gives
      WindowExpression w = (WindowExpression) e;
      Cast of = (Cast) w.windowFunction();
      return Keyed.cast(new WindowExpression(of.child(), w.windowSpec()), of.dataType());
    }
    if (e instanceof WindowSpecDefinition) {
      WindowSpecDefinition w = (WindowSpecDefinition) e;
      return new WindowSpecDefinition(keys(w.partitionSpec()), w.orderSpec(), w.frameSpecification());
    }
    if (joins && e instanceof EqualTo && Collated.within(((EqualTo) e).left().dataType()))
      return new EqualTo(Keyed.key(((EqualTo) e).left()), Keyed.key(((EqualTo) e).right()));
    if (joins && e instanceof EqualNullSafe && Collated.within(((EqualNullSafe) e).left().dataType()))
      return new EqualNullSafe(Keyed.key(((EqualNullSafe) e).left()), Keyed.key(((EqualNullSafe) e).right()));
    if (passes(e)) {
      Expression made = ofTexts(e);
      return made == e ? e : Collated.within(e.dataType()) ? Keyed.cast(made, e.dataType()) : made;
    }
    return e instanceof AggregateExpression ? aggregated((AggregateExpression) e) : e;
  }

  private static Expression subquery(ScalarSubquery e) {
    LogicalPlan of = (LogicalPlan) e.plan();
    if (!compares(of)) return e;
    Expression made = (Expression) e.withNewPlan(plain(of));
    return Collated.within(e.dataType()) ? Keyed.cast(made, e.dataType()) : made;
  }

  /** Of texts where it is of what has a collation. */
  private static Expression ofTexts(Expression e) {
    List made = new ArrayList();
    boolean any = false;
    Iterator it = e.children().iterator();
    while (it.hasNext()) {
      Expression child = (Expression) it.next();
      any |= Collated.within(child.dataType());
      made.add(Keyed.text(child));
    }
    return any ? (Expression) e.withNewChildren(Keyed.seq(made).toIndexedSeq()) : e;
  }

  private Expression aggregated(AggregateExpression e) {
    AggregateFunction f = e.aggregateFunction();
    Expression value = f.children().isEmpty() ? null : (Expression) f.children().head();
    if (f instanceof Count) return with(e, new Count(keys(f.children())), e.isDistinct());
    if (f instanceof HyperLogLogPlusPlus) {
      HyperLogLogPlusPlus h = (HyperLogLogPlusPlus) f;
      return with(e, new HyperLogLogPlusPlus(Keyed.key(h.child()), h.relativeSD(), 0, 0), e.isDistinct());
    }
    if (f instanceof MaxBy || f instanceof MinBy || f instanceof MaxMinByK) {
      List made = new ArrayList();
      for (int i = 0; i < f.children().size(); i++) {
        Expression child = (Expression) f.children().apply(i);
        made.add(i == 1 ? Keyed.key(child) : Keyed.text(child));
      }
      return typed(e, (AggregateFunction) f.withNewChildren(Keyed.seq(made).toIndexedSeq()), e.isDistinct());
    }
    if (f instanceof PivotFirst && Collated.has(value.dataType()) && Keyed.isKeyed(value.dataType())) return with(e, pivoted((PivotFirst) f), false);
    if (value == null || !Collated.within(value.dataType())) return e;
    if (f instanceof Max) return typed(e, new MaxBy(Keyed.text(value), Keyed.key(value)), false);
    if (f instanceof Min) return typed(e, new MinBy(Keyed.text(value), Keyed.key(value)), false);
    if (f instanceof CollectList && e.isDistinct()) return new ArrayDistinct(typed(e, (AggregateFunction) ofTexts(f), false));
    boolean keeps = f instanceof First || f instanceof Last || f instanceof CollectList || f instanceof ListAgg && !e.isDistinct();
    return keeps ? typed(e, (AggregateFunction) ofTexts(f), false) : e;
  }

  private static PivotFirst pivoted(PivotFirst f) {
    List made = new ArrayList();
    Iterator it = f.pivotColumnValues().iterator();
    while (it.hasNext()) made.add(new CollationKey(new Literal(it.next(), f.pivotColumn().dataType())).eval(null));
    return new PivotFirst(Keyed.key(f.pivotColumn()), f.valueColumn(), Keyed.seq(made), 0, 0);
  }

  /** Another function in an aggregate's place, of its type. */
  private static Expression typed(AggregateExpression e, AggregateFunction f, boolean distinct) {
    AggregateExpression made = with(e, f, distinct);
    return Collated.within(e.dataType()) ? Keyed.cast(made, e.dataType()) : made;
  }

  private static AggregateExpression with(AggregateExpression e, AggregateFunction f, boolean distinct) {
    return new AggregateExpression(f, e.mode(), distinct, e.filter(), e.resultId());
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
