package dbsp;

import java.util.ArrayList;
import java.util.List;

import org.apache.spark.sql.catalyst.expressions.*;
import org.apache.spark.sql.types.*;
import scala.collection.Iterator;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;

/** What stands for a text that has a collation: the text without it, Spark's key of it, and the CAST to its type. */
public class Keyed {
  public static Expression read(Attribute one) { return Collated.within(one.dataType()) ? cast(text(one), one.dataType()) : one; }

  public static Attribute text(Attribute one) { return Collated.within(one.dataType()) ? one.withDataType(Collated.bare(one.dataType())) : one; }

  public static Seq texts(Seq attributes) {
    List made = new ArrayList();
    Iterator it = attributes.iterator();
    while (it.hasNext()) made.add(text((Attribute) it.next()));
    return seq(made);
  }

  /** Not where case tells and accents don't: ICU's keys make 'ß' equal to 'ss' there, and its comparison doesn't. */
  public static boolean isKeyed(DataType t) { return !t.json().contains("_AI") || t.json().contains("_CI"); }

  /** What has its order, and is compared by bytes; a map has none. */
  public static Expression key(Expression e) {
    if (Collated.has(e.dataType())) return isKeyed(e.dataType()) ? new CollationKey(e) : e;
    if (!Collated.within(e.dataType()) || e.dataType() instanceof MapType) return e;
    if (e.dataType() instanceof ArrayType) {
      ArrayType of = (ArrayType) e.dataType();
      NamedLambdaVariable element = new NamedLambdaVariable("x", of.elementType(), of.containsNull(),
          NamedExpression$.MODULE$.newExprId(), new java.util.concurrent.atomic.AtomicReference());
      return new ArrayTransform(e, new LambdaFunction(key(element), seq(java.util.Collections.singletonList(element)), false));
    }
    StructField[] fields = ((StructType) e.dataType()).fields();
    List made = new ArrayList();
    for (int i = 0; i < fields.length; i++) {
      made.add(Literal$.MODULE$.apply(fields[i].name()));
      made.add(key(new GetStructField(e, i, scala.Option.empty())));
    }
    Expression keys = new CreateNamedStruct(seq(made));
    return new If(new IsNull(e), new Literal(null, keys.dataType()), keys);
  }

  public static Expression cast(Expression e, DataType t) {
    return new Cast(e, t, scala.Option.empty(), EvalMode$.MODULE$.LEGACY());
  }

  /** An expression without its collations. What casts a text to it is that text. */
  public static Expression text(Expression e) {
    if (!Collated.within(e.dataType())) return e;
    DataType t = Collated.bare(e.dataType());
    if (e instanceof Literal) return new Literal(((Literal) e).value(), t);
    return isRead(e, t) ? ((Cast) e).child() : cast(e, t);
  }

  /** Whether it casts what has that type, which is without collations. */
  public static boolean isRead(Expression e, DataType t) {
    if (!(e instanceof Cast)) return false;
    DataType of = ((Cast) e).child().dataType();
    return of.equals(t) && !Collated.within(of);
  }

  public static Alias alias(Expression e, NamedExpression of) {
    return new Alias(e, of.name(), of.exprId(), of.qualifier(), scala.Option.empty(), Nil$.MODULE$);
  }

  public static Seq seq(List items) {
    return scala.jdk.javaapi.CollectionConverters.asScala(items).toList();
  }
}
