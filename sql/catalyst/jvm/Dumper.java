import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;

import org.apache.spark.QueryContext;
import org.apache.spark.SparkThrowable;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.TempResolvedColumn;
import org.apache.spark.sql.catalyst.expressions.*;
import org.apache.spark.sql.catalyst.expressions.aggregate.*;
import org.apache.spark.sql.catalyst.expressions.objects.*;
import org.apache.spark.sql.catalyst.optimizer.Optimizer;
import org.apache.spark.sql.catalyst.plans.logical.*;
import org.apache.spark.sql.catalyst.trees.Origin;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.*;
import org.apache.spark.unsafe.types.CalendarInterval;
import scala.collection.Iterator;

/**
 * Catalyst's plan of one query as JSON. Compiled at run time by the Janino that Spark ships, so the language is
 * Java 7 without generics inference: explicit loops and casts.
 *
 * {"types": [...], "names": [...], "forbidden": [...], "plan": node, null if it calls methods of Java} or {"error": {...}};
 * "shown" where the plan shows texts without their collations: the numbers of the columns' types, with them
 * plan node        {"op", "s", "out": [[name, id, type, nullable, metadata]], "k": children, "o": other fields}
 *                  "parameters" of those that were asked for; if STREAM is said, "streamed", the relations
 *                  that it is said of, and "twice", those of them that are read without it, too
 *                  "constants" of the session that are read, by their functions' names
 * expression node  {"c", "t", "n", "d", "s", "x", "k": children, "o": other fields}; "s": [first, last] source index;
 *                  "x": by which `portable` knows it
 *                  a scalar sub-query: "id", "correlated", "plan"
 */
public class Dumper {
  private final org.apache.spark.sql.classic.SparkSession session;
  private final Optimizer optimizer;
  private String excluded;
  private StringBuilder out;
  private String text;
  private HashMap types;
  private List typeList;
  private Throwable failure;
  private boolean callsJava;
  private Parameters parameters;

  /** excluded: the names of optimiser rules, with commas between. */
  public Dumper(org.apache.spark.sql.classic.SparkSession session, String excluded) {
    this.session = session;
    this.excluded = excluded;
    org.apache.spark.sql.internal.SessionState state = session.sessionState();
    this.optimizer = new EveryRuleExcludable(
        state.catalogManager(), state.catalog(), state.experimentalMethods());
  }

  /** Spark's own optimiser, whose excludedRules setting may name any rule. */
  public static class EveryRuleExcludable extends org.apache.spark.sql.execution.SparkOptimizer {
    public EveryRuleExcludable(
        org.apache.spark.sql.connector.catalog.CatalogManager manager,
        org.apache.spark.sql.catalyst.catalog.SessionCatalog catalog,
        org.apache.spark.sql.ExperimentalMethods methods) {
      super(manager, catalog, methods);
    }
    public scala.collection.immutable.Seq nonExcludableRules() { return scala.collection.immutable.Nil$.MODULE$; }
  }

  /** Parser, analyser and optimiser read the active session's settings. */
  public static class Run extends scala.runtime.AbstractFunction0 {
    private final Dumper dumper;
    private final String text;
    public Run(Dumper dumper, String text) { this.dumper = dumper; this.text = text; }
    public Object apply() {
      try { dumper.query(text); } catch (Throwable error) { dumper.failure = error; }
      return null;
    }
  }

  /** The same, of which some literals become parameters; see Parameters. */
  public void dump(String text, String literals, String words, String path) throws java.io.IOException {
    parameters = new Parameters(text, literals, words);
    try { dump(text, path); } finally { parameters = null; }
  }

  /** Writes the JSON of the query `text` to the file `path`: long strings are slow to pass through the socket. */
  public void dump(String text, String path) throws java.io.IOException {
    start();
    session.withActive(new Run(this, text));
    Throwable failed = failure;
    failure = null;
    if (failed != null) {
      if (!(failed instanceof SparkThrowable || failed instanceof Folded)) throw new RuntimeException(failed);
      start();
      error(failed);
    }
    Files.write(Paths.get(path, new String[0]), out.toString().getBytes(StandardCharsets.UTF_8), new java.nio.file.OpenOption[0]);
  }

  /** A type's DDL as DataType.json. */
  public String columnType(String ddl) {
    start();
    try {
      DataType parsed = session.sessionState().sqlParser().parseDataType(ddl);
      return org.apache.spark.sql.catalyst.util.CharVarcharUtils.replaceCharVarcharWithString(parsed).json();
    } catch (Exception error) {
      if (!(error instanceof SparkThrowable)) throw new RuntimeException(error);
      error(error);
      return out.toString();
    }
  }

  // ---- functions of the program: Spark knows their names and types, and never calls them

  private static final String CONSTANT_ROWS = "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation";

  /** False where Spark has a function of that name. types, result: DataType.json. */
  public boolean registerFunction(String name, List types, String result, boolean aggregate) {
    if (session.catalog().functionExists(name)) return false;
    DataType[] parsed = new DataType[types.size()];
    for (int i = 0; i < parsed.length; i++) parsed[i] = DataType$.MODULE$.fromJson((String) types.get(i));
    // over constant rows Spark would call what only we can
    if (!excluded.endsWith(CONSTANT_ROWS)) excluded = excluded + "," + CONSTANT_ROWS;
    session.sessionState().functionRegistry().createOrReplaceTempFunction(
        name, new Stub(name, parsed, DataType$.MODULE$.fromJson(result), aggregate), "scala_udf");
    return true;
  }

  /** Makes a function that is written in SQL known to later queries, which the analyser inlines. text: CREATE TEMPORARY
   *  FUNCTION. The empty text, or the JSON of what is wrong. */
  public String createFunction(String text) {
    start();
    session.withActive(new Define(this, text));
    Throwable failed = failure;
    failure = null;
    if (failed == null) return "";
    if (!(failed instanceof SparkThrowable)) throw new RuntimeException(failed);
    error(failed);
    return out.toString();
  }

  public static class Define extends scala.runtime.AbstractFunction0 {
    private final Dumper dumper;
    private final String text;
    public Define(Dumper dumper, String text) { this.dumper = dumper; this.text = text; }
    public Object apply() {
      try { dumper.session.sql(text); } catch (Throwable error) { dumper.failure = error; }
      return null;
    }
  }

  /** Whether a call of that name is one of a function of Spark's, or of one that was made known. */
  public boolean hasFunction(String name) { return session.catalog().functionExists(name); }

  /** The expression of a call: ScalaAggregator(arguments), or ScalaUDF(struct of the arguments). Functions of Scala
   *  differ by how many arguments they have; so ours has one, and each argument stands below a ScalaUDF of its
   *  own, without a name, for the analyser to coerce it. */
  public static class Stub extends scala.runtime.AbstractFunction1 {
    private final String name;
    private final DataType[] types;
    private final DataType result;
    private final boolean aggregate;
    public Stub(String name, DataType[] types, DataType result, boolean aggregate) {
      this.name = name; this.types = types; this.result = result; this.aggregate = aggregate;
    }
    public Object apply(Object arguments) {
      scala.collection.immutable.Seq given = (scala.collection.immutable.Seq) arguments;
      if (given.size() != types.length) {
        // Scala throws what is checked in Java
        return new scala.util.Failure(org.apache.spark.sql.errors.QueryCompilationErrors$.MODULE$.wrongNumArgsError(
            name, one(Integer.valueOf(types.length)), given.size(), "", "", "")).get();
      }
      if (aggregate) {
        StructType row = new StructType();
        for (int i = 0; i < types.length; i++) row = row.add("_" + i, types[i]);
        return new org.apache.spark.sql.execution.aggregate.ScalaAggregator(
            given, new Never(encoder(result)), encoder(row), encoder(row), true, true, 0, 0, new scala.Some(name));
      }
      List coerced = new ArrayList();
      for (int i = 0; i < types.length; i++) {
        coerced.add(Literal$.MODULE$.apply("_" + i));
        coerced.add(udf("", types[i], given.apply(i), one(new scala.Some(encoder(types[i])))));
      }
      return udf(name, result, new CreateNamedStruct(scala.jdk.javaapi.CollectionConverters.asScala(coerced).toList()),
          scala.collection.immutable.Nil$.MODULE$);
    }
    private ScalaUDF udf(String name, DataType type, Object argument, scala.collection.immutable.Seq encoders) {
      return new ScalaUDF(this, type, one(argument), encoders, scala.Option.empty(), new scala.Some(name), true, true);
    }
    private static scala.collection.immutable.Seq one(Object item) {
      return (scala.collection.immutable.Seq) scala.collection.immutable.Nil$.MODULE$.$colon$colon(item);
    }
    private static org.apache.spark.sql.catalyst.encoders.ExpressionEncoder encoder(DataType type) {
      return org.apache.spark.sql.catalyst.encoders.ExpressionEncoder$.MODULE$.apply(
          org.apache.spark.sql.catalyst.encoders.RowEncoder$.MODULE$.encoderForDataType(type, true));
    }
  }

  /** An aggregate that has a type. */
  public static class Never extends org.apache.spark.sql.expressions.Aggregator {
    private final org.apache.spark.sql.Encoder encoder;
    public Never(org.apache.spark.sql.Encoder encoder) { this.encoder = encoder; }
    public Object zero() { return null; }
    public Object reduce(Object buffer, Object row) { return null; }
    public Object merge(Object buffer, Object other) { return null; }
    public Object finish(Object buffer) { return null; }
    public org.apache.spark.sql.Encoder bufferEncoder() { return encoder; }
    public org.apache.spark.sql.Encoder outputEncoder() { return encoder; }
  }

  private void start() { out = new StringBuilder(); types = new HashMap(); typeList = new ArrayList(); }

  // ---- relations whose names have a schema: to Spark each is one name, with dots

  private String[] before = new String[] {""};
  private final HashMap relations = new HashMap();

  /**
   * Makes an empty relation visible to later queries; columns: DataType.json. A LogicalRDD stays a leaf and keeps NOT
   * NULL, where an empty LocalRelation would fold the plan away.
   */
  public void register(String name, String columns) {
    StructType schema = (StructType) DataType$.MODULE$.fromJson(columns);
    org.apache.spark.api.java.JavaRDD empty =
        org.apache.spark.api.java.JavaSparkContext.fromSparkContext(session.sparkContext()).emptyRDD();
    session.createDataFrame(empty, schema).createOrReplaceTempView("`" + name.replace("`", "``") + "`");
    relation(name);
  }

  /** Makes a relation's name known. */
  public void relation(String name) { relations.put(name.toLowerCase(java.util.Locale.ROOT), name); }

  /** before: what a name may leave out, with its dots, the longest first. */
  public void use(List before) { this.before = (String[]) before.toArray(new String[0]); }

  private final HashMap constants = new HashMap();
  private final java.util.TreeSet readConstants = new java.util.TreeSet();

  /** What later queries call the user, and the schema in use, as '' where it isn't known, and its catalog. */
  public void constants(String user, String catalog, String schema) {
    constants.clear();
    constants.put("CurrentUser", user);
    constants.put("CurrentCatalog", catalog);
    if (schema.isEmpty()) return;
    String quoted = org.apache.spark.sql.catalyst.util.package$.MODULE$.quoteIfNeeded(schema);
    constants.put("CurrentDatabase", quoted);
    constants.put("CurrentPath", "system.builtin,system.session,"
        + org.apache.spark.sql.catalyst.util.package$.MODULE$.quoteIfNeeded(catalog) + "." + quoted);
  }

  /** The user, as this JVM has it. */
  public String user() { return org.apache.spark.util.Utils$.MODULE$.getCurrentUserName(); }

  private final HashMap definitions = new HashMap();

  /** Lets later queries read a plan, which isn't analysed, by that name. */
  public void define(String name, LogicalPlan plan) { definitions.put(name, plan); }

  private final HashMap numbered = new HashMap();

  /** Lets later queries name last columns of a relation that `*` leaves out; all: the name of what has them, too. */
  public void number(String name, String all, int size) { numbered.put(name, new Object[] {all, Integer.valueOf(size)}); }

  /** Later queries can't. */
  public void numberNone() { numbered.clear(); }

  /** The relation with those columns as its metadata: each use has columns of its own. */
  private LogicalPlan numbered(String name) {
    Object[] all = (Object[]) numbered.get(name);
    LogicalPlan known = session.table("`" + ((String) all[0]).replace("`", "``") + "`").queryExecution().analyzed();
    LogicalPlan leaf = (LogicalPlan) ((org.apache.spark.sql.execution.LogicalRDD) known.collectLeaves().head()).newInstance();
    scala.collection.immutable.Seq columns = leaf.output();
    int size = ((Integer) all[1]).intValue();
    List beside = new ArrayList();
    Iterator it = ((scala.collection.immutable.Seq) columns.takeRight(size)).iterator();
    while (it.hasNext()) {
      Attribute one = (Attribute) it.next();
      beside.add(one.withMetadata(
          new MetadataBuilder().withMetadata(one.metadata()).putString("__metadata_col", one.name()).build()));
    }
    Project shown = new Project((scala.collection.immutable.Seq) columns.dropRight(size), leaf);
    shown.setTagValue(Project$.MODULE$.hiddenOutputTag(), scala.jdk.javaapi.CollectionConverters.asScala(beside).toList());
    return shown;
  }

  /** What the name of a relation has behind it that stands for another where that isn't read by STREAM. */
  private static final String AS_IT_IS = " as it is";

  /** The relations that the query reads by STREAM. */
  private final java.util.TreeSet streamed = new java.util.TreeSet();
  /** Those that it reads without. */
  private final java.util.TreeSet unstreamed = new java.util.TreeSet();

  private Object lowered(String lower) {
    Object known = relations.get(lower + AS_IT_IS);
    return known != null ? known : relations.get(lower);
  }

  /** The relation that a query writes as these parts; null where the program has none. */
  private String relation(scala.collection.immutable.Seq parts, boolean stream) {
    boolean live = parts.size() > 1 && "live".equalsIgnoreCase((String) parts.apply(0));
    String written = ((scala.collection.immutable.Seq) (live ? parts.drop(1) : parts)).mkString(".").toLowerCase(java.util.Locale.ROOT);
    for (int i = 0; i < before.length; i++) {
      Object known = stream ? relations.get(before[i] + written) : lowered(before[i] + written);
      if (known != null) (stream ? streamed : unstreamed).add(known);
      if (known != null) return (String) known;
    }
    return null;
  }

  /** Relations under the names that Spark has them by; their columns may still be called by the schema's. */
  public static class Relations extends scala.runtime.AbstractPartialFunction {
    /** Of what is in place of a name: it is passed once more, on the way down. */
    private static final org.apache.spark.sql.catalyst.trees.TreeNodeTag FOUND =
        new org.apache.spark.sql.catalyst.trees.TreeNodeTag("dbsp relation");
    private final Dumper dumper;
    private final java.util.Set ctes;
    public Relations(Dumper dumper, java.util.Set ctes) { this.dumper = dumper; this.ctes = ctes; }
    public boolean isDefinedAt(Object p) {
      return p instanceof UnresolvedWith || p instanceof org.apache.spark.sql.catalyst.analysis.UnresolvedRelation
          || p instanceof SubqueryAlias && dumper.analysed((SubqueryAlias) p) != null;
    }
    public Object applyOrElse(Object p, scala.Function1 other) {
      if (p instanceof UnresolvedWith) {
        UnresolvedWith with = (UnresolvedWith) p;
        List items = new ArrayList();
        Iterator it = with.cteRelations().iterator();
        while (it.hasNext()) {
          scala.Tuple3 one = (scala.Tuple3) it.next();
          ctes.add(((String) one._1()).toLowerCase(java.util.Locale.ROOT));
          items.add(new scala.Tuple3(one._1(), ((LogicalPlan) one._2()).transformDownWithSubqueries(this), one._3()));
        }
        return with.copy(with.child(),
            scala.jdk.javaapi.CollectionConverters.asScala(items).toList(), with.allowRecursion());
      }
      if (p instanceof SubqueryAlias) {
        LogicalPlan read = dumper.analysed((SubqueryAlias) p);
        return read == null ? other.apply(p) : read;
      }
      if (!(p instanceof org.apache.spark.sql.catalyst.analysis.UnresolvedRelation)) return other.apply(p);
      org.apache.spark.sql.catalyst.analysis.UnresolvedRelation relation =
          (org.apache.spark.sql.catalyst.analysis.UnresolvedRelation) p;
      if (relation.getTagValue(FOUND).isDefined()) return other.apply(p);
      scala.collection.immutable.Seq parts = relation.multipartIdentifier();
      String last = (String) parts.last();
      if (parts.size() == 1 && ctes.contains(last.toLowerCase(java.util.Locale.ROOT))) return p;
      LogicalPlan defined = parts.size() == 1 ? (LogicalPlan) dumper.definitions.get(last) : null;
      if (defined != null) return defined.transformDownWithSubqueries(new Relations(dumper, new java.util.HashSet()));
      // STREAM says that a query reads what is new, which every view does
      String name = dumper.relation(parts, relation.isStreaming());
      if (name == null) return p;
      if (dumper.numbered.containsKey(name))
        return new SubqueryAlias(new org.apache.spark.sql.catalyst.AliasIdentifier(last, before(name, parts)), dumper.numbered(name));
      LogicalPlan known = new org.apache.spark.sql.catalyst.analysis.UnresolvedRelation(
          (scala.collection.immutable.Seq) scala.collection.immutable.Nil$.MODULE$.$colon$colon(name), relation.options(), false);
      known.setTagValue(FOUND, Boolean.TRUE);
      if (name.equalsIgnoreCase(last)) return known;
      // columns may be called by all of the name, though the query has left out what is in use
      return new SubqueryAlias(new org.apache.spark.sql.catalyst.AliasIdentifier(last, before(name, parts)), known);
    }
  }

  /** A relation in place of a table that has been found already, whose columns are known by their numbers; or null.
   *  Spark analyses parts of a plan that it is given when it has it from a DataFrame. */
  private LogicalPlan analysed(SubqueryAlias alias) {
    LogicalPlan child = alias.child();
    if (!(child instanceof LeafNode) || child instanceof org.apache.spark.sql.execution.LogicalRDD || !child.resolved()) return null;
    String written = alias.identifier().qualifier().mkString(".") + "." + alias.identifier().name();
    Object name = lowered(written.toLowerCase(java.util.Locale.ROOT));
    if (name == null) return null;
    LogicalPlan relation = session.table("`" + ((String) name).replace("`", "``") + "`").queryExecution().analyzed();
    List columns = new ArrayList();
    Iterator own = relation.output().iterator();
    Iterator known = alias.output().iterator();
    while (own.hasNext() && known.hasNext()) {
      Attribute column = (Attribute) known.next();
      columns.add(new Alias((Attribute) own.next(), column.name(), column.exprId(),
          scala.collection.immutable.Nil$.MODULE$, scala.Option.empty(), scala.collection.immutable.Nil$.MODULE$));
    }
    return new SubqueryAlias(alias.identifier(),
        new Project(scala.jdk.javaapi.CollectionConverters.asScala(columns).toList(), relation));
  }

  /** What stands before the last part of a relation's name. */
  private static scala.collection.immutable.Seq before(String name, scala.collection.immutable.Seq parts) {
    String last = "." + parts.last();
    if (!name.toLowerCase(java.util.Locale.ROOT).endsWith(last.toLowerCase(java.util.Locale.ROOT)))
      return (scala.collection.immutable.Seq) parts.dropRight(1);
    String[] qualifier = name.substring(0, name.length() - last.length()).split("\\.");
    return scala.jdk.javaapi.CollectionConverters.asScala(java.util.Arrays.asList(qualifier)).toList();
  }

  // ---- what Spark alone evaluates

  /** Of a query that is about its relations and nothing else {"names": [...], "schema": DataType.json}, of another one
   *  {"outside": what}; or {"error": {...}}. */
  public String evaluable(String text) {
    start();
    Analyse analyse = new Analyse(this, text);
    session.withActive(analyse);
    if (analyse.failure != null) {
      if (!(analyse.failure instanceof SparkThrowable)) throw new RuntimeException(analyse.failure);
      error(analyse.failure);
      return out.toString();
    }
    String outside = Outside.of(analyse.analyzed);
    if (outside != null) { out.append("{\"outside\":"); string(outside); return out.append('}').toString(); }
    return out.append("{\"schema\":").append(analyse.analyzed.schema().json()).append('}').toString();
  }

  /** The rows of such a query, whose relations have theirs. */
  public Object rows(String text) throws Throwable {
    Analyse analyse = new Analyse(this, text);
    session.withActive(analyse);
    if (analyse.failure != null) throw analyse.failure;
    String outside = Outside.of(analyse.analyzed);
    if (outside != null) throw new IllegalArgumentException(outside);
    return org.apache.spark.sql.classic.Dataset$.MODULE$.ofRows(session, analyse.analyzed);
  }

  public static class Analyse extends scala.runtime.AbstractFunction0 {
    private final Dumper dumper;
    private final String text;
    Throwable failure;
    LogicalPlan analyzed;
    public Analyse(Dumper dumper, String text) { this.dumper = dumper; this.text = text; }
    public Object apply() {
      try { analyzed = dumper.analyzed(text); } catch (Throwable error) { failure = error; }
      return null;
    }
  }

  private LogicalPlan analyzed(String text) throws Throwable {
    LogicalPlan parsed = (LogicalPlan) session.sessionState().sqlParser().parsePlan(text)
        .transformDownWithSubqueries(new Relations(this, new java.util.HashSet()));
    org.apache.spark.sql.execution.QueryExecution execution = session.sessionState().executePlan(
        parsed, session.sessionState().executePlan$default$2());
    try {
      execution.assertAnalyzed();
    } catch (Throwable failing) {
      // of a file that options name, which Scala doesn't declare
      if (failing instanceof java.io.IOException) throw new Folded((Exception) failing);
      throw failing;
    }
    return execution.analyzed();
  }

  private void strings(java.util.Iterator it) {
    for (boolean first = true; it.hasNext(); first = false) { if (!first) out.append(','); string((String) it.next()); }
  }

  private void query(String text) throws Throwable {
    this.text = text;
    streamed.clear();
    unstreamed.clear();
    LogicalPlan analyzed = analyzed(text);
    out.append('{');
    if (!streamed.isEmpty()) {
      unstreamed.retainAll(streamed);
      out.append("\"streamed\":[");
      strings(streamed.iterator());
      out.append("],\"twice\":[");
      strings(unstreamed.iterator());
      out.append("],");
    }
    out.append("\"names\":[");
    Iterator it = analyzed.output().iterator();
    for (boolean first = true; it.hasNext(); first = false) { if (!first) out.append(','); string(((Attribute) it.next()).name()); }
    out.append("],\"forbidden\":[");
    callsJava = false;
    readConstants.clear();
    forbidden(analyzed, new boolean[] {true});
    if (!readConstants.isEmpty()) {
      out.append("],\"constants\":[");
      strings(readConstants.iterator());
    }
    if (parameters != null) {
      analyzed = parameters.marked(analyzed);
      out.append("],\"parameters\":").append(parameters.told()).append(",\"plan\":");
    } else out.append("],\"plan\":");
    // the optimiser computes over constant rows, and would call any method there
    if (!callsJava)
      plan(Collations.plain(optimized((LogicalPlan) Rewritten.of(analyzed, constants)
          .transformAllExpressionsWithSubqueries(new ClockMarks(session.conf().get("spark.sql.session.timeZone"))))));
    else out.append("null");
    if (Collations.tells(analyzed.schema())) {
      out.append(",\"shown\":[");
      Iterator columns = analyzed.output().iterator();
      for (boolean first = true; columns.hasNext(); first = false) {
        if (!first) out.append(',');
        out.append(number(((Attribute) columns.next()).dataType().json()));
      }
      out.append(']');
    }
    out.append(",\"types\":[");
    for (int i = 0; i < typeList.size(); i++) { if (i > 0) out.append(','); out.append((String) typeList.get(i)); }
    out.append("]}");
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
      Expression mark = new TempResolvedColumn(
          new BoundReference(place(e), type, false), scala.collection.immutable.Nil$.MODULE$, false);
      if (!(e instanceof CurrentTime)) return mark;
      return new Cast(mark, ((CurrentTime) e).dataType(), new scala.Some(timezone), EvalMode$.MODULE$.ANSI());
    }
  }

  /** The setting holds for our optimiser only: Spark's own would warn of rules it can't exclude. */
  private LogicalPlan optimized(LogicalPlan analyzed) throws Exception {
    session.conf().set("spark.sql.optimizer.excludedRules", excluded);
    try {
      return (LogicalPlan) optimizer.execute(analyzed);
    } catch (Exception failing) {
      // constants are folded, and what computes them may throw anything
      if (failing instanceof SparkThrowable) throw failing;
      throw new Folded(failing);
    } finally {
      session.conf().unset("spark.sql.optimizer.excludedRules");
    }
  }

  /** What Java says of a constant that Spark's optimiser can't compute. */
  public static class Folded extends RuntimeException {
    public Folded(Exception cause) { super(cause.getMessage(), cause); }
  }

  private void error(Throwable error) {
    if (!(error instanceof SparkThrowable)) {
      out.append("{\"error\":{\"condition\":\"no condition\",\"message\":");
      string("Spark can't compute a constant: " + error.getMessage());
      out.append(",\"parameters\":{},\"index\":-1}}");
      return;
    }
    SparkThrowable thrown = (SparkThrowable) error;
    out.append("{\"error\":{\"condition\":"); string(String.valueOf(thrown.getCondition()));
    out.append(",\"message\":"); string(String.valueOf(error.getMessage()));
    out.append(",\"parameters\":{");
    boolean first = true;
    java.util.Iterator it = thrown.getMessageParameters().entrySet().iterator();
    while (it.hasNext()) {
      java.util.Map.Entry entry = (java.util.Map.Entry) it.next();
      if (!first) out.append(',');
      first = false;
      string((String) entry.getKey()); out.append(':'); string(String.valueOf(entry.getValue()));
    }
    out.append("},\"index\":");
    int index = -1;
    QueryContext[] contexts = thrown.getQueryContext();
    if (contexts != null && contexts.length > 0) {
      try { index = contexts[0].startIndex(); } catch (UnsupportedOperationException none) { index = -1; }
    }
    out.append(index);
    if (index >= 0 && contexts[0] instanceof org.apache.spark.sql.catalyst.trees.SQLQueryContext) {
      scala.Option whole = ((org.apache.spark.sql.catalyst.trees.SQLQueryContext) contexts[0]).sqlText();
      if (whole.isDefined()) { out.append(",\"text\":"); string((String) whole.get()); }
    }
    if (error instanceof AnalysisException) {
      AnalysisException analysis = (AnalysisException) error;
      if (analysis.line().isDefined()) out.append(",\"line\":").append(analysis.line().get());
      if (analysis.startPosition().isDefined()) out.append(",\"column\":").append(analysis.startPosition().get());
    }
    out.append("}}");
  }

  // ---- what a view must not contain: found before the optimiser folds it to a constant

  private static final java.util.Set CLOCK = new java.util.HashSet(java.util.Arrays.asList(new Object[] {
      "CurrentBatchTimestamp"}));
  /** Those that the program says; the zone and Spark's version are constants to the optimiser. */
  private static final java.util.Set SESSION = new java.util.HashSet(java.util.Arrays.asList(new Object[] {
      "CurrentUser", "CurrentDatabase", "CurrentCatalog", "CurrentPath"}));

  private static final String SPECIAL = "special";

  /** A constant text such as 'today' becomes the day of the compiler's clock, by the rule SpecialDatetimeValues. */
  private static boolean isSpecialTime(Expression e) {
    if (!(e instanceof Cast) || !(e.dataType() instanceof DatetimeType)) return false;
    Expression text = ((Cast) e).child();
    if (!(text.dataType() instanceof StringType) || !text.foldable()) return false;
    Object value;
    try { value = text.eval(null); } catch (RuntimeException failing) { return false; }
    if (value == null) return false;
    String trimmed = value.toString().trim();
    return !trimmed.toLowerCase(java.util.Locale.ROOT).startsWith("epoch")
        && org.apache.spark.sql.catalyst.util.DateTimeUtils.convertSpecialTimestamp(
            trimmed, java.time.ZoneOffset.UTC).isDefined();
  }

  private void forbidden(LogicalPlan plan, boolean[] first) {
    Iterator expressions = plan.expressions().iterator();
    while (expressions.hasNext()) forbidden((Expression) expressions.next(), first);
    Iterator children = plan.children().iterator();
    while (children.hasNext()) forbidden((LogicalPlan) children.next(), first);
  }

  private void forbidden(Expression e, boolean[] first) {
    if (e instanceof PlanExpression) forbidden((LogicalPlan) ((PlanExpression) e).plan(), first);
    // not for what is random: a replacement has seeds of its own
    if (e instanceof RuntimeReplaceable && e.deterministic()) forbidden(((RuntimeReplaceable) e).replacement(), first);
    String name = className(e);
    String why = null;
    if (CLOCK.contains(name) || e instanceof Cast && takesToday(((Cast) e).child().dataType(), e.dataType())) why = "reads the clock";
    else if (SESSION.contains(name)) {
      if (constants.containsKey(name)) readConstants.add(e.prettyName());
      else why = "depends on the session";
    }
    else if (isSpecialTime(e)) why = SPECIAL;
    boolean random = !(e instanceof AggregateFunction) && !(e instanceof PlanExpression) && !e.deterministic();
    Iterator children = e.children().iterator();
    while (children.hasNext()) {
      Expression child = (Expression) children.next();
      random = random && child.deterministic();
      forbidden(child, first);
    }
    callsJava |= e instanceof CallMethodViaReflection;
    if (why == null && random) why = "is not deterministic";
    if (why != null) {
      if (!first[0]) out.append(',');
      first[0] = false;
      out.append("{\"name\":"); string(why == SPECIAL ? e.sql() : e.prettyName());
      out.append(",\"why\":"); string(why);
      source(e.origin());
      out.append('}');
    }
  }

  /** Whether a cast makes a TIMESTAMP of a TIME, of which the date is today's. */
  private static boolean takesToday(DataType from, DataType to) {
    if (from instanceof ArrayType && to instanceof ArrayType)
      return takesToday(((ArrayType) from).elementType(), ((ArrayType) to).elementType());
    if (from instanceof MapType && to instanceof MapType)
      return takesToday(((MapType) from).keyType(), ((MapType) to).keyType())
          || takesToday(((MapType) from).valueType(), ((MapType) to).valueType());
    if (from instanceof StructType && to instanceof StructType) {
      StructField[] before = ((StructType) from).fields(), after = ((StructType) to).fields();
      for (int i = 0; i < before.length; i++) if (takesToday(before[i].dataType(), after[i].dataType())) return true;
    }
    return from instanceof TimeType && (to instanceof TimestampType || to instanceof TimestampNTZType);
  }

  // ---- plans

  private void plan(LogicalPlan p) {
    out.append("{\"op\":"); string(className(p));
    source(p.origin());
    out.append(",\"out\":[");
    Iterator it = p.output().iterator();
    for (boolean first = true; it.hasNext(); first = false) {
      Attribute a = (Attribute) it.next();
      if (!first) out.append(',');
      out.append('['); string(a.name());
      out.append(',').append(a.exprId().id()).append(',').append(type(a.dataType())).append(',').append(a.nullable());
      out.append(',').append(a.metadata().json()).append(']');
    }
    out.append("],\"k\":[");
    it = p.children().iterator();
    for (boolean first = true; it.hasNext(); first = false) { if (!first) out.append(','); plan((LogicalPlan) it.next()); }
    out.append("],\"o\":{");
    if (p instanceof LocalRelation) {
      out.append("\"rows\":[");
      it = ((LocalRelation) p).data().iterator();
      StructType schema = p.schema();
      for (boolean first = true; it.hasNext(); first = false) { if (!first) out.append(','); literal(it.next(), schema); }
      out.append(']');
    } else if (!(p instanceof LeafNode) || p instanceof Range) {
      fields((scala.Product) p);
    }
    out.append("}}");
  }

  private void fields(scala.Product product) {
    boolean first = true;
    for (int i = 0; i < product.productArity(); i++) {
      Object v = product.productElement(i);
      if (v instanceof LogicalPlan) continue;
      if (!first) out.append(',');
      first = false;
      string(product.productElementName(i)); out.append(':'); value(v, 0);
    }
  }

  // ---- expressions

  private void expression(Expression e) {
    String name = className(e);
    if (e instanceof BoundReference && ((BoundReference) e).ordinal() <= Parameters.LEAST) name = "Parameter";
    out.append("{\"c\":"); string(name);
    DataType dataType = null;
    boolean nullable = true;
    // a window's specification, for one, is an expression without a value
    try { dataType = e.dataType(); nullable = e.nullable(); } catch (Exception none) { dataType = null; }
    out.append(",\"t\":").append(type(dataType));
    out.append(",\"n\":").append(nullable).append(",\"d\":").append(e.deterministic());
    // an object of Scala's has the place of the JVM's first query with it
    if (!e.getClass().getName().endsWith("$")) source(e.origin());
    if (e instanceof NamedExpression) {
      NamedExpression named = (NamedExpression) e;
      out.append(",\"id\":").append(named.exprId().id());
      out.append(",\"name\":"); string(named.name());
      out.append(",\"m\":").append(named.metadata().json());
    }
    if (e instanceof ScalarSubquery) {
      ScalarSubquery subquery = (ScalarSubquery) e;
      out.append(",\"id\":").append(subquery.exprId().id());
      out.append(",\"correlated\":").append(!subquery.children().isEmpty());
      out.append(",\"plan\":");
      plan((LogicalPlan) subquery.plan());
    } else if (e instanceof Literal) {
      out.append(",\"v\":");
      literal(((Literal) e).value(), e.dataType());
      if (e.dataType() instanceof ObjectType && ((Literal) e).value() instanceof scala.Product) {
        out.append(",\"o\":{");
        evaluator((scala.Product) ((Literal) e).value());
        out.append('}');
      }
    } else if (!(e instanceof PlanExpression) && !(e instanceof AttributeReference)) {
      out.append(",\"pretty\":"); string(e.prettyName());
      if (!e.children().isEmpty()) {
        out.append(",\"x\":").append(expressions.size());
        expressions.add(e);
      }
      out.append(",\"k\":[");
      Iterator it = e.children().iterator();
      for (boolean first = true; it.hasNext(); first = false) { if (!first) out.append(','); expression((Expression) it.next()); }
      out.append("],\"o\":{");
      if (e instanceof scala.Product) options(e, (scala.Product) e);
      out.append('}');
    }
    out.append('}');
  }

  /** Constructor parameters that are neither expressions nor types; constants only if they are no children
   *  (what element_at gives beyond the end, for split_part). */
  private void options(Expression e, scala.Product product) {
    boolean first = true;
    for (int i = 0; i < product.productArity(); i++) {
      Object v = product.productElement(i);
      if (v instanceof scala.Some) v = ((scala.Some) v).value();
      if (v instanceof Literal && !e.children().contains(v)) {
        if (!first) out.append(',');
        first = false;
        string(product.productElementName(i)); out.append(':'); literal(((Literal) v).value(), ((Literal) v).dataType());
        continue;
      }
      if (v == null || v instanceof scala.None$ || v instanceof Expression || v instanceof DataType) continue;
      if (v instanceof org.apache.spark.sql.catalyst.encoders.ExpressionEncoder) continue;
      if (v instanceof ExprId || v instanceof Metadata || v instanceof Origin) continue;
      if (v instanceof scala.collection.Iterable && holdsTrees((scala.collection.Iterable) v)) continue;
      if (!first) out.append(',');
      first = false;
      string(product.productElementName(i)); out.append(':');
      if (e instanceof PivotFirst && v instanceof scala.collection.Iterable) pivoted((PivotFirst) e);
      else value(v, 0);
    }
  }

  private void pivoted(PivotFirst e) {
    out.append('[');
    Iterator it = e.pivotColumnValues().iterator();
    for (boolean first = true; it.hasNext(); first = false) {
      if (!first) out.append(',');
      literal(it.next(), e.pivotColumn().dataType());
    }
    out.append(']');
  }

  /** What an Invoke calls a method of: its parameters, types left out. */
  private void evaluator(scala.Product product) {
    boolean first = true;
    for (int i = 0; i < product.productArity(); i++) {
      Object v = product.productElement(i);
      if (v instanceof DataType) continue;
      if (!first) out.append(',');
      first = false;
      string(product.productElementName(i)); out.append(':'); value(v, 0);
    }
  }

  private static boolean holdsTrees(scala.collection.Iterable values) {
    Iterator it = values.iterator();
    while (it.hasNext()) {
      Object v = it.next();
      if (v instanceof scala.Product2) v = ((scala.Product2) v)._1();
      if (v instanceof scala.Some) v = ((scala.Some) v).value();
      if (v instanceof TreeNode || v instanceof DataType) return true;
      if (v instanceof org.apache.spark.sql.catalyst.encoders.ExpressionEncoder) return true;
    }
    return false;
  }

  private final List expressions = new ArrayList();

  /** What Portable.java makes of an expression that has been dumped, by its "x". */
  public String portable(int number) throws Exception {
    return Portable.of((Expression) expressions.get(number), session.conf().get("spark.sql.session.timeZone"));
  }

  // ---- values

  private void value(Object v, int depth) {
    if (v instanceof scala.Some) v = ((scala.Some) v).value();
    if (v == null || v instanceof scala.None$ || v instanceof LogicalPlan) out.append("null");
    else if (v instanceof Expression) expression((Expression) v);
    else if (v instanceof Boolean || v instanceof Integer || v instanceof Long || v instanceof Short || v instanceof Byte) out.append(v.toString());
    else if (v instanceof DataType) out.append(type((DataType) v));
    else if (v instanceof ExprId) out.append(((ExprId) v).id());
    else if (v instanceof Metadata) out.append(((Metadata) v).json());
    else if (v instanceof Class) string(simpleName((Class) v));
    else if (v instanceof scala.collection.Iterable) {
      out.append('[');
      Iterator it = ((scala.collection.Iterable) v).iterator();
      for (boolean first = true; it.hasNext(); first = false) { if (!first) out.append(','); value(it.next(), depth + 1); }
      out.append(']');
    } else if (v instanceof scala.Enumeration.Value || v instanceof Enum || v instanceof String) string(v.toString());
    else if (v instanceof scala.Product && ((scala.Product) v).productArity() > 0 && depth < 6) {
      scala.Product product = (scala.Product) v;
      out.append("{\"class\":"); string(className(v));
      for (int i = 0; i < product.productArity(); i++) {
        out.append(','); string(product.productElementName(i)); out.append(':'); value(product.productElement(i), depth + 1);
      }
      out.append('}');
    } else if (v instanceof scala.Product) string(className(v));
    else string(v.toString());
  }

  /** Internal values: days, microseconds, unscaled text; binary as base64, a variant as the two of it; a map as {"keys", "values"}. */
  private void literal(Object v, DataType t) {
    if (v == null) out.append("null");
    else if (v instanceof Boolean || v instanceof Integer || v instanceof Long || v instanceof Short || v instanceof Byte) out.append(v.toString());
    else if (v instanceof byte[]) string(java.util.Base64.getEncoder().encodeToString((byte[]) v));
    else if (v instanceof CalendarInterval) {
      CalendarInterval c = (CalendarInterval) v;
      out.append("[" + c.months + "," + c.days + "," + c.microseconds + "]");
    } else if (v instanceof org.apache.spark.unsafe.types.VariantVal) {
      org.apache.spark.unsafe.types.VariantVal variant = (org.apache.spark.unsafe.types.VariantVal) v;
      java.util.Base64.Encoder encoder = java.util.Base64.getEncoder();
      out.append('[');
      string(encoder.encodeToString(variant.getValue())); out.append(',');
      string(encoder.encodeToString(variant.getMetadata())); out.append(']');
    } else if (v instanceof ArrayData && t instanceof ArrayType) {
      ArrayData a = (ArrayData) v;
      DataType e = ((ArrayType) t).elementType();
      out.append('[');
      for (int i = 0; i < a.numElements(); i++) { if (i > 0) out.append(','); literal(a.isNullAt(i) ? null : a.get(i, e), e); }
      out.append(']');
    } else if (v instanceof MapData && t instanceof MapType) {
      MapData m = (MapData) v;
      MapType mt = (MapType) t;
      out.append("{\"keys\":"); literal(m.keyArray(), DataTypes.createArrayType(mt.keyType()));
      out.append(",\"values\":"); literal(m.valueArray(), DataTypes.createArrayType(mt.valueType()));
      out.append('}');
    } else if (v instanceof InternalRow && t instanceof StructType) {
      InternalRow r = (InternalRow) v;
      StructField[] fs = ((StructType) t).fields();
      out.append('[');
      for (int i = 0; i < fs.length; i++) { if (i > 0) out.append(','); literal(r.isNullAt(i) ? null : r.get(i, fs[i].dataType()), fs[i].dataType()); }
      out.append(']');
    } else if (v instanceof org.apache.spark.unsafe.types.UTF8String && !((org.apache.spark.unsafe.types.UTF8String) v).isValid()) {
      out.append("{\"bytes\":");
      string(java.util.Base64.getEncoder().encodeToString(((org.apache.spark.unsafe.types.UTF8String) v).getBytes()));
      out.append('}');
    } else if (t instanceof ObjectType) string(simpleName(v.getClass()));
    else string(v.toString());
  }

  private int type(DataType t) {
    return number(t == null || t instanceof ObjectType ? "\"object\"" : Collations.compared(t).json());
  }

  private int number(String json) {
    Object known = types.get(json);
    if (known != null) return ((Integer) known).intValue();
    types.put(json, Integer.valueOf(typeList.size()));
    typeList.add(json);
    return typeList.size() - 1;
  }

  /** Of what stands in the query itself, not in the body of a function that it calls. */
  private void source(Origin o) {
    if (o.sqlText().isDefined() && !o.sqlText().get().equals(text)) return;
    if (o.startIndex().isDefined() && o.stopIndex().isDefined())
      out.append(",\"s\":[").append(o.startIndex().get()).append(',').append(o.stopIndex().get()).append(']');
  }

  private static String className(Object o) { return simpleName(o.getClass()); }

  private static String simpleName(Class c) {
    String n = c.getName();
    n = n.substring(n.lastIndexOf('.') + 1);
    if (n.endsWith("$")) n = n.substring(0, n.length() - 1);
    return n.substring(n.lastIndexOf('$') + 1);
  }

  private void string(String s) {
    out.append('"');
    for (int i = 0; i < s.length(); i++) {
      char c = s.charAt(i);
      if (c == '"' || c == '\\') out.append('\\').append(c);
      else if (c < 32 || (c >= 0xD800 && c <= 0xDFFF)) out.append(String.format("\\u%04x", new Object[] {Integer.valueOf(c)}));
      else out.append(c);
    }
    out.append('"');
  }
}
