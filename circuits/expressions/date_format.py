"""Formatting and parsing dates by Spark's datetime patterns."""
