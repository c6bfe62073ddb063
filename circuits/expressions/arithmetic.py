"""Arithmetic in Spark's ANSI mode: overflow and division by zero are errors, unless a call says TRY."""
