package dbsp;

import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder;
import org.apache.spark.sql.catalyst.expressions.*;
import org.apache.spark.sql.catalyst.expressions.aggregate.PivotFirst;
import org.apache.spark.sql.catalyst.plans.logical.*;
import org.apache.spark.sql.catalyst.trees.Origin;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.expressions.Aggregator;
import org.apache.spark.sql.types.*;
import org.apache.spark.unsafe.types.CalendarInterval;
import org.apache.spark.unsafe.types.UTF8String;
import org.apache.spark.unsafe.types.VariantVal;
import scala.collection.Iterator;

/**
 * Plans and expressions as JSON, types by numbers.
 *
 * plan node        {"op", "s", "out": [[name, id, type, nullable, metadata]], "k": children, "o": other fields}
 * expression node  {"c", "t", "n", "d", "s", "x", "k": children, "o": other fields}; "s": [first, last] source index;
 *                  "x": its place in `expressions`
 *                  a scalar sub-query: "id", "correlated", "plan"
 */
public class Written extends Json {
  private final String text;
  private final List expressions;
  private final HashMap types = new HashMap();
  private final List typeList = new ArrayList();

  /** text: the query's. expressions: gets those that have children. */
  public Written(String text, List expressions) {
    this.text = text;
    this.expressions = expressions;
  }

  // ---- plans

  public void plan(LogicalPlan p) {
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
      if (v instanceof ExpressionEncoder || v instanceof Aggregator) continue;
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
      if (v instanceof ExpressionEncoder) return true;
    }
    return false;
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
    else if (v instanceof byte[]) string(Base64.getEncoder().encodeToString((byte[]) v));
    else if (v instanceof CalendarInterval) {
      CalendarInterval c = (CalendarInterval) v;
      out.append("[" + c.months + "," + c.days + "," + c.microseconds + "]");
    } else if (v instanceof VariantVal) {
      VariantVal variant = (VariantVal) v;
      Base64.Encoder encoder = Base64.getEncoder();
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
    } else if (v instanceof UTF8String && !((UTF8String) v).isValid()) {
      out.append("{\"bytes\":");
      string(Base64.getEncoder().encodeToString(((UTF8String) v).getBytes()));
      out.append('}');
    } else if (t instanceof ObjectType) string(simpleName(v.getClass()));
    else string(v.toString());
  }

  private int type(DataType t) {
    return number(t == null || t instanceof ObjectType ? "\"object\"" : Collated.compared(t).json());
  }

  public int number(String json) {
    Object known = types.get(json);
    if (known != null) return ((Integer) known).intValue();
    types.put(json, Integer.valueOf(typeList.size()));
    typeList.add(json);
    return typeList.size() - 1;
  }

  /** Those that have numbers, in their order. */
  public void types() {
    out.append('[');
    for (int i = 0; i < typeList.size(); i++) { if (i > 0) out.append(','); out.append((String) typeList.get(i)); }
    out.append(']');
  }

  /** Of what stands in the query itself, not in the body of a function that it calls. */
  public void source(Origin o) {
    if (o.sqlText().isDefined() && !o.sqlText().get().equals(text)) return;
    if (o.startIndex().isDefined() && o.stopIndex().isDefined())
      out.append(",\"s\":[").append(o.startIndex().get()).append(',').append(o.stopIndex().get()).append(']');
  }

  public static String className(Object o) { return simpleName(o.getClass()); }

  private static String simpleName(Class c) {
    String n = c.getName();
    n = n.substring(n.lastIndexOf('.') + 1);
    if (n.endsWith("$")) n = n.substring(0, n.length() - 1);
    return n.substring(n.lastIndexOf('$') + 1);
  }
}
