package dbsp;

import org.apache.spark.sql.classic.SparkSession;

/** What is done while a session is the active one, whose settings Spark's parser, analyser and optimiser read. */
public abstract class Active extends scala.runtime.AbstractFunction0 {
  private Object made;
  private Throwable failure;

  public abstract Object make() throws Throwable;

  /** A function of Scala says nothing of what it may throw. */
  public Object apply() {
    try { made = make(); } catch (Throwable error) { failure = error; }
    return null;
  }

  /** What it makes there. */
  public Object in(SparkSession session) throws Throwable {
    session.withActive(this);
    if (failure != null) throw failure;
    return made;
  }
}
