package dbsp;

import java.util.Iterator;
import java.util.Map;

import org.apache.spark.QueryContext;
import org.apache.spark.SparkThrowable;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.catalyst.trees.SQLQueryContext;

/** {"error": {"condition", "message", "parameters", "index", "text", "line", "column"}}: what Spark says of a text. */
public class Refused {
  /** What is neither Spark's nor of a constant is a fault, and thrown as one. */
  public static String by(Throwable error) {
    if (error instanceof Folded) {
      return new Json().raw("{\"error\":{\"condition\":\"no condition\",\"message\":")
          .string("Spark can't compute a constant: " + error.getMessage())
          .raw(",\"parameters\":{},\"index\":-1}}").toString();
    }
    if (!(error instanceof SparkThrowable)) throw new RuntimeException(error);
    SparkThrowable thrown = (SparkThrowable) error;
    Json out = new Json();
    out.raw("{\"error\":{\"condition\":").string(String.valueOf(thrown.getCondition()));
    out.raw(",\"message\":").string(String.valueOf(error.getMessage()));
    out.raw(",\"parameters\":{");
    Iterator it = thrown.getMessageParameters().entrySet().iterator();
    for (boolean first = true; it.hasNext(); first = false) {
      Map.Entry entry = (Map.Entry) it.next();
      if (!first) out.raw(",");
      out.string((String) entry.getKey()).raw(":").string(String.valueOf(entry.getValue()));
    }
    out.raw("}");
    QueryContext[] contexts = thrown.getQueryContext();
    place(contexts == null || contexts.length == 0 ? null : contexts[0], out);
    if (error instanceof AnalysisException) {
      AnalysisException analysis = (AnalysisException) error;
      if (analysis.line().isDefined()) out.raw(",\"line\":").raw(analysis.line().get());
      if (analysis.startPosition().isDefined()) out.raw(",\"column\":").raw(analysis.startPosition().get());
    }
    return out.raw("}}").toString();
  }

  /** context: null where there is none. */
  private static void place(QueryContext context, Json out) {
    int index = -1;
    if (context != null) {
      try { index = context.startIndex(); } catch (UnsupportedOperationException none) { index = -1; }
    }
    out.raw(",\"index\":").raw(Integer.valueOf(index));
    if (index < 0 || !(context instanceof SQLQueryContext)) return;
    scala.Option whole = ((SQLQueryContext) context).sqlText();
    if (whole.isDefined()) out.raw(",\"text\":").string((String) whole.get());
  }

  /** What Java says of a constant that Spark's optimiser can't compute. */
  public static class Folded extends RuntimeException {
    public Folded(Exception cause) { super(cause.getMessage(), cause); }
  }
}
