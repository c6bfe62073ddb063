package dbsp;

import org.apache.spark.connect.proto.Expression;
import org.apache.spark.connect.proto.PipelineCommand;
import org.apache.spark.connect.proto.Relation;
import org.apache.spark.sql.connect.pipelines.PipelinesHandler$;
import org.apache.spark.sql.connect.planner.SparkConnectPlanner;
import org.apache.spark.sql.connect.service.SessionHolder;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.ParsedStatement;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedWith;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.pipelines.graph.DataflowGraph;

/** What PySpark's pipelines would send to a server, handled where the server would: without one. */
public class Registering extends scala.runtime.AbstractFunction1 {
  private final SparkSession session;
  private final SessionHolder holder;
  private final SparkConnectPlanner planner;

  public Registering(SparkSession session) {
    this.session = session;
    holder = new SessionHolder("dbsp", java.util.UUID.randomUUID().toString(), session);
    planner = new SparkConnectPlanner(holder, scala.Option.empty());
  }

  /** A relation's plan, as it is before it is analysed, or an expression. */
  public Object apply(Object message) {
    if (message instanceof Relation)
      return planner.transformRelation((Relation) message).transformDownWithSubqueries(new Shown());
    return planner.transformExpression((Expression) message);
  }

  public Object plan(byte[] relation) throws Exception { return apply(Relation.parseFrom(relation)); }

  /** A dataset under its own name. Some methods of a DataFrame have the server analyse what they are called of, which
   *  would take the table that an earlier run has left for what the project defines: so the names of datasets are
   *  spelled meanwhile as no relation is. */
  public static class Shown extends scala.runtime.AbstractPartialFunction {
    public boolean isDefinedAt(Object plan) {
      return plan instanceof UnresolvedRelation
          && HIDDEN.equals(((UnresolvedRelation) plan).multipartIdentifier().head());
    }
    public Object applyOrElse(Object plan, scala.Function1 other) {
      if (!isDefinedAt(plan)) return other.apply(plan);
      UnresolvedRelation hidden = (UnresolvedRelation) plan;
      scala.collection.immutable.Seq parts = (scala.collection.immutable.Seq) hidden.multipartIdentifier().tail();
      UnresolvedRelation shown = new UnresolvedRelation(parts, hidden.options(), hidden.isStreaming());
      shown.copyTagsFrom(hidden);
      return shown;
    }
  }

  /** What a text in SQL reads: of each relation "s" or "t", whether it is a stream's or a table's, and the parts of its
   *  name; of one that is no query "c" and what it is. */
  public java.util.List relations(String text) throws Exception {
    java.util.List found = new java.util.ArrayList();
    collect(session.sessionState().sqlParser().parsePlan(text), new java.util.HashSet(), found);
    return found;
  }

  private void collect(LogicalPlan plan, java.util.Set given, java.util.List found) {
    if (plan instanceof Command || plan instanceof ParsedStatement)
      found.add(java.util.Arrays.asList(new Object[] {"c", plan.getClass().getSimpleName()}));
    if (plan instanceof UnresolvedRelation) {
      scala.collection.immutable.Seq parts = ((UnresolvedRelation) plan).multipartIdentifier();
      if (parts.size() == 1 && given.contains(String.valueOf(parts.head()).toLowerCase())) return;
      java.util.List named = new java.util.ArrayList();
      named.add(((UnresolvedRelation) plan).isStreaming() ? "s" : "t");
      for (int i = 0; i < parts.size(); i++) named.add(parts.apply(i));
      found.add(named);
    }
    java.util.Set inner = given;
    if (plan instanceof UnresolvedWith) {
      inner = new java.util.HashSet(given);
      for (scala.collection.Iterator each = plan.innerChildren().iterator(); each.hasNext(); ) {
        Object one = each.next();
        collect((LogicalPlan) one, inner, found);
        if (one instanceof SubqueryAlias) inner.add(((SubqueryAlias) one).alias().toLowerCase());
      }
    }
    for (scala.collection.Iterator each = plan.children().iterator(); each.hasNext(); )
      collect((LogicalPlan) each.next(), inner, found);
    for (scala.collection.Iterator each = plan.subqueries().iterator(); each.hasNext(); )
      collect((LogicalPlan) each.next(), inner, found);
  }

  private static final String HIDDEN = "dbsp hidden";

  /** The graph that commands with its name define. */
  public Object graph(String name) { return holder.dataflowGraphRegistry().getDataflowGraphOrThrow(name); }

  public String create(String catalog, String database, scala.collection.immutable.Map conf) {
    return holder.dataflowGraphRegistry().createDataflowGraph(catalog, database, conf);
  }

  public void handle(byte[] command) throws Exception {
    PipelinesHandler$.MODULE$.handlePipelinesCommand(holder, PipelineCommand.parseFrom(command), null, this, this);
  }

  /**
   * The graph, its flows analysed. Threads that Spark starts for it ask for the active session, which they have
   * from the thread that starts them: one that has none, or another, would have them fail, or analyse by that.
   */
  public DataflowGraph resolve(DataflowGraph graph) {
    scala.Option before = SparkSession.getActiveSession();
    SparkSession.setActiveSession(session);
    try {
      return graph.resolve(false);
    } finally {
      if (before.isDefined()) SparkSession.setActiveSession((SparkSession) before.get());
      else SparkSession.clearActiveSession();
    }
  }
}
