package dbsp;

import org.apache.spark.sql.catalyst.expressions.*;
import org.apache.spark.sql.catalyst.plans.logical.*;
import org.apache.spark.sql.execution.LogicalRDD;
import scala.collection.Iterator;

/**
 * Whether a query is about its relations and nothing else, of whoever asks it: it changes nothing, and neither reads
 * files and catalogues nor calls programs and methods of this machine.
 */
public class Outside {
  /** What an analysed query does besides; null: nothing. */
  public static String of(LogicalPlan plan) {
    if (plan instanceof Command || plan instanceof ScriptTransformation) return name(plan);
    if (plan instanceof LeafNode && !(plan instanceof LogicalRDD || plan instanceof OneRowRelation
        || plan instanceof LocalRelation || plan instanceof Range || plan instanceof CTERelationRef
        || plan instanceof UnionLoopRef)) return name(plan);
    Iterator expressions = plan.expressions().iterator();
    while (expressions.hasNext()) {
      String found = of((Expression) expressions.next());
      if (found != null) return found;
    }
    // of WITH the definitions are no children
    Iterator inner = plan.innerChildren().iterator();
    while (inner.hasNext()) {
      Object one = inner.next();
      String found = one instanceof LogicalPlan ? of((LogicalPlan) one) : null;
      if (found != null) return found;
    }
    Iterator children = plan.children().iterator();
    while (children.hasNext()) {
      String found = of((LogicalPlan) children.next());
      if (found != null) return found;
    }
    return null;
  }

  private static String of(Expression e) {
    String name = name(e);
    // Avro's and Protobuf's read schemas from where they are told
    if (e instanceof CallMethodViaReflection || e instanceof UserDefinedExpression
        || name.contains("Avro") || name.contains("Protobuf")) return name;
    if (e instanceof PlanExpression && ((PlanExpression) e).plan() instanceof LogicalPlan) {
      String found = of((LogicalPlan) ((PlanExpression) e).plan());
      if (found != null) return found;
    }
    if (e instanceof RuntimeReplaceable) {
      String found = of(((RuntimeReplaceable) e).replacement());
      if (found != null) return found;
    }
    Iterator children = e.children().iterator();
    while (children.hasNext()) {
      String found = of((Expression) children.next());
      if (found != null) return found;
    }
    return null;
  }

  private static String name(Object node) { return node.getClass().getSimpleName(); }
}
