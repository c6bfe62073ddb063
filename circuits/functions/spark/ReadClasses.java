import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;

/**
 * Reads the classes of a list, as -XX:DumpLoadedClassList writes one, from standard input, so that its JVM has them when
 * it ends. Compiled when it starts by the Janino that Spark ships.
 */
public class ReadClasses {
  public static void main(String[] args) throws IOException {
    ClassLoader loader = ClassLoader.getSystemClassLoader();
    BufferedReader list = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
    for (String line = list.readLine(); line != null; line = list.readLine()) {
      if (line.startsWith("#") || line.startsWith("@")) continue; // remarks, and what isn't a class
      try {
        Class.forName(line.split(" ")[0].replace('/', '.'), false, loader);
      } catch (Throwable e) {
        // one that the other JVM has made itself
      }
    }
  }
}
