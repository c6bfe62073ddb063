package dbsp;

/** JSON as it is written, a part after the other. */
public class Json {
  protected final StringBuilder out = new StringBuilder();

  public Json raw(Object json) {
    out.append(json);
    return this;
  }

  public Json string(String s) {
    out.append('"');
    for (int i = 0; i < s.length(); i++) {
      char c = s.charAt(i);
      if (c == '"' || c == '\\') out.append('\\').append(c);
      else if (c < 32 || (c >= 0xD800 && c <= 0xDFFF)) out.append(String.format("\\u%04x", new Object[] {Integer.valueOf(c)}));
      else out.append(c);
    }
    out.append('"');
    return this;
  }

  public Json strings(java.util.Iterator it) {
    out.append('[');
    for (boolean first = true; it.hasNext(); first = false) { if (!first) out.append(','); string((String) it.next()); }
    out.append(']');
    return this;
  }

  public String toString() { return out.toString(); }
}
