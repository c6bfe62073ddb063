import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import org.antlr.v4.runtime.CharStreams;
import org.antlr.v4.runtime.CommonTokenStream;
import org.antlr.v4.runtime.ParserRuleContext;
import org.antlr.v4.runtime.tree.ParseTree;
import org.antlr.v4.runtime.tree.TerminalNode;
import org.apache.spark.sql.catalyst.parser.SqlBaseLexer;
import org.apache.spark.sql.catalyst.parser.SqlBaseParser;
import org.apache.spark.sql.catalyst.parser.UpperCaseCharStream;

/** Spark's grammar as its parser's classes have it: a class a rule, or a labelled alternative of one, and in it a
 * method for each rule and each word that may stand there. */
public class Grammar {
  /** A line each: a class, the rule that it is an alternative of (or -), and what may stand in it. */
  public static String known() {
    StringBuilder out = new StringBuilder();
    Class[] classes = SqlBaseParser.class.getDeclaredClasses();
    for (int i = 0; i < classes.length; i++) {
      if (!ParserRuleContext.class.isAssignableFrom(classes[i])) continue;
      Class above = classes[i].getSuperclass();
      out.append(name(classes[i])).append(' ').append(above == ParserRuleContext.class ? "-" : name(above));
      Method[] methods = classes[i].getDeclaredMethods();
      for (int m = 0; m < methods.length; m++) {
        Class given = methods[m].getReturnType();
        boolean part = ParseTree.class.isAssignableFrom(given) || given == java.util.List.class;
        if (part && Modifier.isPublic(methods[m].getModifiers())) out.append(' ').append(methods[m].getName());
      }
      out.append('\n');
    }
    return out.toString();
  }

  /** A line for each node of the text's tree: its class, and what stands in it. Of a wrong text an empty one. */
  public static String read(String text) {
    SqlBaseLexer lexer = new SqlBaseLexer(new UpperCaseCharStream(CharStreams.fromString(text)));
    lexer.removeErrorListeners();
    SqlBaseParser parser = new SqlBaseParser(new CommonTokenStream(lexer));
    parser.removeErrorListeners();
    ParserRuleContext tree = parser.compoundOrSingleStatement();
    StringBuilder out = new StringBuilder();
    if (parser.getNumberOfSyntaxErrors() == 0) walk(tree, out);
    return out.toString();
  }

  private static void walk(ParserRuleContext node, StringBuilder out) {
    out.append(name(node.getClass()));
    for (int i = 0; i < node.getChildCount(); i++) {
      ParseTree child = node.getChild(i);
      out.append(' ').append(child instanceof TerminalNode
        ? SqlBaseParser.VOCABULARY.getSymbolicName(((TerminalNode) child).getSymbol().getType())
        : SqlBaseParser.ruleNames[((ParserRuleContext) child).getRuleIndex()]);
    }
    out.append('\n');
    for (int i = 0; i < node.getChildCount(); i++) {
      if (node.getChild(i) instanceof ParserRuleContext) walk((ParserRuleContext) node.getChild(i), out);
    }
  }

  private static String name(Class of) {
    String simple = of.getSimpleName();
    return simple.substring(0, simple.length() - "Context".length());
  }
}
