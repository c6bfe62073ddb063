"""Java's regular expressions: RE2 where it means the same, else the standard library's `re`."""
