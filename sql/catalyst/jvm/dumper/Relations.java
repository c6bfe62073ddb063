package dbsp;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;

import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.catalyst.AliasIdentifier;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.expressions.*;
import org.apache.spark.sql.catalyst.plans.logical.*;
import org.apache.spark.sql.catalyst.trees.TreeNodeTag;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.types.*;
import scala.collection.Iterator;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** What a query's names of relations stand for. Names may have a schema: to Spark each is one name, with dots. */
public class Relations {
  /** What the name of a relation has behind it that stands for another where that isn't read by STREAM. */
  private static final String AS_IT_IS = " as it is";

  private final SparkSession session;
  private final HashMap relations = new HashMap();
  private final HashMap definitions = new HashMap();
  private final HashMap numbers = new HashMap();
  private final TreeSet streamed = new TreeSet();
  private final TreeSet unstreamed = new TreeSet();
  private String[] before = new String[] {""};

  public Relations(SparkSession session) { this.session = session; }

  /**
   * Makes an empty relation visible to later queries; columns: DataType.json. A LogicalRDD stays a leaf and keeps NOT
   * NULL, where an empty LocalRelation would fold the plan away.
   */
  public void register(String name, String columns) {
    StructType schema = (StructType) DataType$.MODULE$.fromJson(columns);
    session.createDataFrame(JavaSparkContext.fromSparkContext(session.sparkContext()).emptyRDD(), schema)
        .createOrReplaceTempView(quoted(name));
    add(name);
  }

  /** Makes a relation's name known. */
  public void add(String name) { relations.put(name.toLowerCase(Locale.ROOT), name); }

  /** before: what a name may leave out, with its dots, the longest first. */
  public void use(List before) { this.before = (String[]) before.toArray(new String[0]); }

  /** Lets later queries read a plan, which isn't analysed, by that name. */
  public void define(String name, LogicalPlan plan) { definitions.put(name, plan); }

  /** Lets later queries name last columns of a relation that `*` leaves out; all: the name of what has them, too. */
  public void number(String name, String all, int size) { numbers.put(name, new Object[] {all, Integer.valueOf(size)}); }

  /** Later queries can't. */
  public void numberNone() { numbers.clear(); }

  /** A parsed plan with the relations that it reads. */
  public LogicalPlan in(LogicalPlan parsed) {
    streamed.clear();
    unstreamed.clear();
    return (LogicalPlan) parsed.transformDownWithSubqueries(new Named(this, new HashSet()));
  }

  /** Of the last plan those that it reads by STREAM. */
  public TreeSet streamed() { return streamed; }

  /** Those of them that it reads without, too. */
  public TreeSet twice() {
    TreeSet twice = new TreeSet(unstreamed);
    twice.retainAll(streamed);
    return twice;
  }

  /** The relation with those columns as its metadata: each use has columns of its own. */
  private LogicalPlan numbered(String name) {
    Object[] all = (Object[]) numbers.get(name);
    LogicalPlan known = table((String) all[0]);
    LogicalPlan leaf = (LogicalPlan) ((LogicalRDD) known.collectLeaves().head()).newInstance();
    Seq columns = leaf.output();
    int size = ((Integer) all[1]).intValue();
    List beside = new ArrayList();
    Iterator it = ((Seq) columns.takeRight(size)).iterator();
    while (it.hasNext()) {
      Attribute one = (Attribute) it.next();
      beside.add(one.withMetadata(
          new MetadataBuilder().withMetadata(one.metadata()).putString("__metadata_col", one.name()).build()));
    }
    Project shown = new Project((Seq) columns.dropRight(size), leaf);
    shown.setTagValue(Project$.MODULE$.hiddenOutputTag(), CollectionConverters.asScala(beside).toList());
    return shown;
  }

  private Object lowered(String lower) {
    Object known = relations.get(lower + AS_IT_IS);
    return known != null ? known : relations.get(lower);
  }

  /** The relation that a query writes as these parts; null where the program has none. */
  private String relation(Seq parts, boolean stream) {
    boolean live = parts.size() > 1 && "live".equalsIgnoreCase((String) parts.apply(0));
    String written = ((Seq) (live ? parts.drop(1) : parts)).mkString(".").toLowerCase(Locale.ROOT);
    for (int i = 0; i < before.length; i++) {
      Object known = stream ? relations.get(before[i] + written) : lowered(before[i] + written);
      if (known != null) (stream ? streamed : unstreamed).add(known);
      if (known != null) return (String) known;
    }
    return null;
  }

  /** Relations under the names that Spark has them by; their columns may still be called by the schema's. */
  public static class Named extends scala.runtime.AbstractPartialFunction {
    /** Of what is in place of a name: it is passed once more, on the way down. */
    private static final TreeNodeTag FOUND = new TreeNodeTag("dbsp relation");
    private final Relations known;
    private final Set ctes;
    public Named(Relations known, Set ctes) { this.known = known; this.ctes = ctes; }
    public boolean isDefinedAt(Object p) {
      return p instanceof UnresolvedWith || p instanceof UnresolvedRelation
          || p instanceof SubqueryAlias && known.analysed((SubqueryAlias) p) != null;
    }
    public Object applyOrElse(Object p, scala.Function1 other) {
      if (p instanceof UnresolvedWith) {
        UnresolvedWith with = (UnresolvedWith) p;
        List items = new ArrayList();
        Iterator it = with.cteRelations().iterator();
        while (it.hasNext()) {
          scala.Tuple3 one = (scala.Tuple3) it.next();
          ctes.add(((String) one._1()).toLowerCase(Locale.ROOT));
          items.add(new scala.Tuple3(one._1(), ((LogicalPlan) one._2()).transformDownWithSubqueries(this), one._3()));
        }
        return with.copy(with.child(), CollectionConverters.asScala(items).toList(), with.allowRecursion());
      }
      if (p instanceof SubqueryAlias) {
        LogicalPlan read = known.analysed((SubqueryAlias) p);
        return read == null ? other.apply(p) : read;
      }
      if (!(p instanceof UnresolvedRelation)) return other.apply(p);
      UnresolvedRelation relation = (UnresolvedRelation) p;
      if (relation.getTagValue(FOUND).isDefined()) return other.apply(p);
      Seq parts = relation.multipartIdentifier();
      String last = (String) parts.last();
      if (parts.size() == 1 && ctes.contains(last.toLowerCase(Locale.ROOT))) return p;
      LogicalPlan defined = parts.size() == 1 ? (LogicalPlan) known.definitions.get(last) : null;
      if (defined != null) return defined.transformDownWithSubqueries(new Named(known, new HashSet()));
      // STREAM says that a query reads what is new, which every view does
      String name = known.relation(parts, relation.isStreaming());
      if (name == null) return p;
      if (known.numbers.containsKey(name))
        return new SubqueryAlias(new AliasIdentifier(last, qualifier(name, parts)), known.numbered(name));
      LogicalPlan found = new UnresolvedRelation((Seq) Nil$.MODULE$.$colon$colon(name), relation.options(), false);
      found.setTagValue(FOUND, Boolean.TRUE);
      if (name.equalsIgnoreCase(last)) return found;
      // columns may be called by all of the name, though the query has left out what is in use
      return new SubqueryAlias(new AliasIdentifier(last, qualifier(name, parts)), found);
    }
  }

  /** A relation in place of a table that has been found already, whose columns are known by their numbers; or null.
   *  Spark analyses parts of a plan that it is given when it has it from a DataFrame. */
  private LogicalPlan analysed(SubqueryAlias alias) {
    LogicalPlan child = alias.child();
    if (!(child instanceof LeafNode) || child instanceof LogicalRDD || !child.resolved()) return null;
    String written = alias.identifier().qualifier().mkString(".") + "." + alias.identifier().name();
    Object name = lowered(written.toLowerCase(Locale.ROOT));
    if (name == null) return null;
    LogicalPlan relation = table((String) name);
    List columns = new ArrayList();
    Iterator own = relation.output().iterator();
    Iterator known = alias.output().iterator();
    while (own.hasNext() && known.hasNext()) {
      Attribute column = (Attribute) known.next();
      columns.add(new Alias((Attribute) own.next(), column.name(), column.exprId(),
          Nil$.MODULE$, scala.Option.empty(), Nil$.MODULE$));
    }
    return new SubqueryAlias(alias.identifier(),
        new Project(CollectionConverters.asScala(columns).toList(), relation));
  }

  /** What stands before the last part of a relation's name. */
  private static Seq qualifier(String name, Seq parts) {
    String last = "." + parts.last();
    if (!name.toLowerCase(Locale.ROOT).endsWith(last.toLowerCase(Locale.ROOT)))
      return (Seq) parts.dropRight(1);
    String[] above = name.substring(0, name.length() - last.length()).split("\\.");
    return CollectionConverters.asScala(Arrays.asList(above)).toList();
  }

  private LogicalPlan table(String name) { return session.table(quoted(name)).queryExecution().analyzed(); }

  private static String quoted(String name) { return "`" + name.replace("`", "``") + "`"; }
}
