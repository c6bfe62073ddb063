package dbsp;

import org.apache.spark.Partition;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.rdd.RDD;
import org.apache.spark.status.api.v1.ExecutorSummary;
import scala.collection.Iterator;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * The same records, in tasks that prefer hosts. Spark lets an RDD say so only where it is made from a list; behind
 * a shuffle it prefers whoever has most of the input. Compiled at run time by the Janino that Spark ships, so the
 * language is Java 7 without generics inference; executors get it as a jar.
 */
public final class Placed extends RDD {
    private static final ClassTag ANY = ClassTag$.MODULE$.AnyRef();

    private final transient String[] hosts;

    private Placed(RDD records, String[] hosts) {
        super(records, ANY);
        this.hosts = hosts;
    }

    public Partition[] getPartitions() {
        return firstParent(ANY).partitions();
    }

    public Iterator compute(Partition partition, TaskContext context) {
        return firstParent(ANY).iterator(partition, context);
    }

    public Seq getPreferredLocations(Partition partition) {
        return (Seq) Nil$.MODULE$.$colon$colon(hosts[partition.index()]);
    }

    /** What the driver asks. */
    public static final class Hosts {
        private final SparkContext context;

        public Hosts(SparkContext context) {
            this.context = context;
        }

        /** A line for each executor that lives: its address and its cores, with a space between. */
        public String executors() {
            StringBuilder lines = new StringBuilder();
            Iterator all = context.statusStore().executorList(true).iterator();
            while (all.hasNext()) {
                ExecutorSummary one = (ExecutorSummary) all.next();
                if (!one.id().equals("driver")) {
                    lines.append(one.hostPort()).append(' ').append(one.totalCores()).append('\n');
                }
            }
            return lines.toString();
        }

        /** hosts: one a partition, with spaces between. */
        public JavaRDD placed(JavaRDD records, String hosts) {
            return new Placed(records.rdd(), hosts.split(" ")).toJavaRDD();
        }
    }
}
