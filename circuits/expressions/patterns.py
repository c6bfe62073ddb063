"""LIKE and the regular expressions, matched by RE2."""
