package dbsp;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;

import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.util.CharVarcharUtils;
import org.apache.spark.sql.catalyst.util.package$;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.types.DataType;
import scala.collection.Iterator;

/**
 * Catalyst's plan of one query as JSON.
 *
 * {"types": [...], "names": [...], "forbidden": [...], "plan": node, null if it calls methods of Java} or {"error": {...}}
 *
 * "parameters"         of a query of which they were asked, as Parameters.java tells them
 * "streamed", "twice"  if STREAM is said: the relations that it is said of, and those of them that are read without it, too
 * "constants"          of the session that are read, by their functions' names
 * "shown"              where the plan shows texts without their collations: the numbers of the columns' types, with them
 *
 * Nodes are as Written.java says.
 */
public class Dumper {
  private final SparkSession session;
  private final Optimized optimized;
  private final Relations relations;
  private final Functions functions;
  private final HashMap constants = new HashMap();
  private final List expressions = new ArrayList();

  /** excluded: the names of optimiser rules, with commas between. */
  public Dumper(SparkSession session, String excluded) {
    this.session = session;
    this.optimized = new Optimized(session, excluded);
    this.relations = new Relations(session);
    this.functions = new Functions(session, optimized);
  }

  public Relations relations() { return relations; }

  public Functions functions() { return functions; }

  /** What later queries call the user, and the schema in use, as '' where it isn't known, and its catalog. */
  public void constants(String user, String catalog, String schema) {
    constants.clear();
    constants.put("CurrentUser", user);
    constants.put("CurrentCatalog", catalog);
    if (schema.isEmpty()) return;
    String quoted = package$.MODULE$.quoteIfNeeded(schema);
    constants.put("CurrentDatabase", quoted);
    constants.put("CurrentPath", "system.builtin,system.session,"
        + package$.MODULE$.quoteIfNeeded(catalog) + "." + quoted);
  }

  /** The user, as this JVM has it. */
  public String user() { return org.apache.spark.util.Utils$.MODULE$.getCurrentUserName(); }

  /** A type's DDL as DataType.json. */
  public String columnType(String ddl) {
    try {
      DataType parsed = session.sessionState().sqlParser().parseDataType(ddl);
      return CharVarcharUtils.replaceCharVarcharWithString(parsed).json();
    } catch (Exception error) {
      return Refused.by(error);
    }
  }

  /** Writes the JSON of the query `text` to the file `path`: long strings are slow to pass through the socket. */
  public void dump(String text, String path) throws java.io.IOException { dump(text, (Parameters) null, path); }

  /** The same, of which some literals become parameters; see Parameters. */
  public void dump(String text, String literals, String words, String path) throws java.io.IOException {
    dump(text, new Parameters(text, literals, words), path);
  }

  private void dump(String text, Parameters parameters, String path) throws java.io.IOException {
    String json;
    try {
      json = (String) new Dump(this, text, parameters).in(session);
    } catch (Throwable error) {
      json = Refused.by(error);
    }
    Files.write(Paths.get(path, new String[0]), json.getBytes(StandardCharsets.UTF_8), new OpenOption[0]);
  }

  public static class Dump extends Active {
    private final Dumper dumper;
    private final String text;
    private final Parameters parameters;
    public Dump(Dumper dumper, String text, Parameters parameters) {
      this.dumper = dumper; this.text = text; this.parameters = parameters;
    }
    public Object make() throws Throwable { return dumper.dumped(text, parameters); }
  }

  private String dumped(String text, Parameters parameters) throws Throwable {
    LogicalPlan analyzed = analyzed(text);
    Forbidden forbidden = new Forbidden(analyzed, constants, text);
    Written out = new Written(text, expressions);
    out.raw("{");
    if (!relations.streamed().isEmpty()) {
      out.raw("\"streamed\":").strings(relations.streamed().iterator());
      out.raw(",\"twice\":").strings(relations.twice().iterator()).raw(",");
    }
    List names = new ArrayList();
    Iterator columns = analyzed.output().iterator();
    while (columns.hasNext()) names.add(((Attribute) columns.next()).name());
    out.raw("\"names\":").strings(names.iterator());
    out.raw(",\"forbidden\":").raw(forbidden.json());
    if (!forbidden.readConstants().isEmpty())
      out.raw(",\"constants\":").strings(forbidden.readConstants().iterator());
    LogicalPlan marked = parameters == null ? analyzed : parameters.marked(analyzed);
    if (parameters != null) out.raw(",\"parameters\":").raw(parameters.told());
    out.raw(",\"plan\":");
    // the optimiser computes over constant rows, and would call any method there
    if (forbidden.callsJava()) out.raw("null");
    else out.plan(Collations.plain(optimized.of(Rewritten.of(marked, constants))));
    if (Collated.tells(analyzed.schema())) {
      out.raw(",\"shown\":[");
      columns = analyzed.output().iterator();
      for (boolean first = true; columns.hasNext(); first = false) {
        if (!first) out.raw(",");
        out.raw(Integer.valueOf(out.number(((Attribute) columns.next()).dataType().json())));
      }
      out.raw("]");
    }
    out.raw(",\"types\":");
    out.types();
    return out.raw("}").toString();
  }

  private LogicalPlan analyzed(String text) throws Throwable {
    LogicalPlan parsed = relations.in(session.sessionState().sqlParser().parsePlan(text));
    QueryExecution execution = session.sessionState().executePlan(
        parsed, session.sessionState().executePlan$default$2());
    try {
      execution.assertAnalyzed();
    } catch (Throwable failing) {
      // of a file that options name, which Scala doesn't declare
      if (failing instanceof java.io.IOException) throw new Refused.Folded((Exception) failing);
      throw failing;
    }
    return execution.analyzed();
  }

  /** What Portable.java makes of an expression that has been dumped, by its "x". */
  public String portable(int number) throws Exception {
    return Portable.of((Expression) expressions.get(number), session.conf().get("spark.sql.session.timeZone"));
  }

  // ---- what Spark alone evaluates

  /** Of a query that is about its relations and nothing else {"schema": DataType.json}, of another one
   *  {"outside": what}; or {"error": {...}}. */
  public String evaluable(String text) {
    try {
      LogicalPlan analyzed = (LogicalPlan) new Analysis(this, text).in(session);
      String outside = Outside.of(analyzed);
      if (outside != null) return new Json().raw("{\"outside\":").string(outside).raw("}").toString();
      return "{\"schema\":" + analyzed.schema().json() + "}";
    } catch (Throwable error) {
      return Refused.by(error);
    }
  }

  /** The rows of such a query, whose relations have theirs. */
  public Object rows(String text) throws Throwable {
    LogicalPlan analyzed = (LogicalPlan) new Analysis(this, text).in(session);
    String outside = Outside.of(analyzed);
    if (outside != null) throw new IllegalArgumentException(outside);
    return Dataset$.MODULE$.ofRows(session, analyzed);
  }

  public static class Analysis extends Active {
    private final Dumper dumper;
    private final String text;
    public Analysis(Dumper dumper, String text) { this.dumper = dumper; this.text = text; }
    public Object make() throws Throwable { return dumper.analyzed(text); }
  }
}
