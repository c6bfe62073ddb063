package dbsp;

import org.apache.spark.SparkThrowable;
import org.apache.spark.sql.catalyst.analysis.TempResolvedColumn;
import org.apache.spark.sql.catalyst.expressions.*;
import org.apache.spark.sql.catalyst.optimizer.Optimizer;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.internal.SessionState;
import org.apache.spark.sql.types.*;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;

/** An analysed plan as Spark's optimiser has it, without the rules that were excluded. */
public class Optimized {
  private static final String SETTING = "spark.sql.optimizer.excludedRules";
  private static final String CONSTANT_ROWS = "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation";

  private final SparkSession session;
  private final Optimizer optimizer;
  private String excluded;

  /** excluded: the names of rules, with commas between. */
  public Optimized(SparkSession session, String excluded) {
    this.session = session;
    this.excluded = excluded;
    SessionState state = session.sessionState();
    this.optimizer = new EveryRuleExcludable(state.catalogManager(), state.catalog(), state.experimentalMethods());
  }

  /** Nothing is computed over constant rows from now on. */
  public void keepConstantRows() {
    if (!excluded.endsWith(CONSTANT_ROWS)) excluded = excluded + "," + CONSTANT_ROWS;
  }

  /** The setting holds for our optimiser only: Spark's own would warn of rules it can't exclude. */
  public LogicalPlan of(LogicalPlan analyzed) throws Exception {
    LogicalPlan marked = (LogicalPlan) analyzed.transformAllExpressionsWithSubqueries(
        new ClockMarks(session.conf().get("spark.sql.session.timeZone")));
    session.conf().set(SETTING, excluded);
    try {
      return (LogicalPlan) optimizer.execute(marked);
    } catch (Exception failing) {
      // constants are folded, and what computes them may throw anything
      if (failing instanceof SparkThrowable) throw failing;
      throw new Refused.Folded(failing);
    } finally {
      session.conf().unset(SETTING);
    }
  }

  /** Spark's own optimiser, whose excludedRules setting may name any rule. */
  public static class EveryRuleExcludable extends org.apache.spark.sql.execution.SparkOptimizer {
    public EveryRuleExcludable(
        org.apache.spark.sql.connector.catalog.CatalogManager manager,
        org.apache.spark.sql.catalyst.catalog.SessionCatalog catalog,
        org.apache.spark.sql.ExperimentalMethods methods) {
      super(manager, catalog, methods);
    }
    public Seq nonExcludableRules() { return Nil$.MODULE$; }
  }

  /** What reads the clock becomes a value that the optimiser knows nothing of, else it would be a constant.
   *  A reference says which value, inside of what can't be evaluated, for rules that compute over constant rows. */
  public static class ClockMarks extends scala.runtime.AbstractPartialFunction {
    private final String timezone;
    public ClockMarks(String timezone) { this.timezone = timezone; }
    private static int place(Object e) {
      if (e instanceof CurrentTimestamp || e instanceof Now) return -1;
      if (e instanceof CurrentDate) return -2;
      return e instanceof LocalTimestamp || e instanceof CurrentTime ? -3 : 0;
    }
    public boolean isDefinedAt(Object e) { return place(e) != 0; }
    public Object applyOrElse(Object e, scala.Function1 other) {
      if (place(e) == 0) return other.apply(e);
      DataType type = e instanceof CurrentTime ? DataTypes.TimestampNTZType : ((Expression) e).dataType();
      Expression mark = new TempResolvedColumn(new BoundReference(place(e), type, false), Nil$.MODULE$, false);
      if (!(e instanceof CurrentTime)) return mark;
      return new Cast(mark, ((CurrentTime) e).dataType(), new scala.Some(timezone), EvalMode$.MODULE$.ANSI());
    }
  }
}
