import org.apache.spark.connect.proto.Expression;
import org.apache.spark.connect.proto.PipelineCommand;
import org.apache.spark.connect.proto.Relation;
import org.apache.spark.sql.connect.pipelines.PipelinesHandler$;
import org.apache.spark.sql.connect.planner.SparkConnectPlanner;
import org.apache.spark.sql.connect.service.SessionHolder;

/** What PySpark's pipelines would send to a server, handled where the server would: without one. */
public class Registering extends scala.runtime.AbstractFunction1 {
  private final SessionHolder holder;
  private final SparkConnectPlanner planner;

  public Registering(org.apache.spark.sql.classic.SparkSession session) {
    holder = new SessionHolder("dbsp", java.util.UUID.randomUUID().toString(), session);
    planner = new SparkConnectPlanner(holder, scala.Option.empty());
  }

  /** A relation's plan, as it is before it is analysed, or an expression. */
  public Object apply(Object message) {
    if (message instanceof Relation) return planner.transformRelation((Relation) message);
    return planner.transformExpression((Expression) message);
  }

  public Object plan(byte[] relation) throws Exception { return apply(Relation.parseFrom(relation)); }

  /** The graph that commands with its name define. */
  public Object graph(String name) { return holder.dataflowGraphRegistry().getDataflowGraphOrThrow(name); }

  public String create(String catalog, String database, scala.collection.immutable.Map conf) {
    return holder.dataflowGraphRegistry().createDataflowGraph(catalog, database, conf);
  }

  public void handle(byte[] command) throws Exception {
    PipelinesHandler$.MODULE$.handlePipelinesCommand(holder, PipelineCommand.parseFrom(command), null, this, this);
  }
}
