package dbsp;

import java.util.ArrayList;
import java.util.List;

import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder;
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder$;
import org.apache.spark.sql.catalyst.expressions.*;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.*;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;

/** Functions of the program: Spark knows their names and types, and never calls them. */
public class Functions {
  private final SparkSession session;
  private final Optimized optimized;

  public Functions(SparkSession session, Optimized optimized) {
    this.session = session;
    this.optimized = optimized;
  }

  /** Whether a call of that name is one of a function of Spark's, or of one that was made known. */
  public boolean has(String name) { return session.catalog().functionExists(name); }

  /** False where Spark has a function of that name. types, result: DataType.json. */
  public boolean register(String name, List types, String result, boolean aggregate) {
    if (has(name)) return false;
    DataType[] parsed = new DataType[types.size()];
    for (int i = 0; i < parsed.length; i++) parsed[i] = DataType$.MODULE$.fromJson((String) types.get(i));
    optimized.keepConstantRows(); // over them Spark would call what only we can
    session.sessionState().functionRegistry().createOrReplaceTempFunction(
        name, new Stub(name, parsed, DataType$.MODULE$.fromJson(result), aggregate), "scala_udf");
    return true;
  }

  /** Makes a function that is written in SQL known to later queries, which the analyser inlines. text: CREATE TEMPORARY
   *  FUNCTION. The empty text, or the JSON of what is wrong. */
  public String create(String text) {
    try {
      new Definition(session, text).in(session);
      return "";
    } catch (Throwable error) {
      return Refused.by(error);
    }
  }

  public static class Definition extends Active {
    private final SparkSession session;
    private final String text;
    public Definition(SparkSession session, String text) { this.session = session; this.text = text; }
    public Object make() { return session.sql(text); }
  }

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
      Seq given = (Seq) arguments;
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
      Expression row = new CreateNamedStruct(scala.jdk.javaapi.CollectionConverters.asScala(coerced).toList());
      return udf(name, result, row, Nil$.MODULE$);
    }
    private ScalaUDF udf(String name, DataType type, Object argument, Seq encoders) {
      return new ScalaUDF(this, type, one(argument), encoders, scala.Option.empty(), new scala.Some(name), true, true);
    }
    private static Seq one(Object item) { return (Seq) Nil$.MODULE$.$colon$colon(item); }
    private static ExpressionEncoder encoder(DataType type) {
      return ExpressionEncoder$.MODULE$.apply(
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
}
