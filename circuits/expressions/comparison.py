"""Comparisons in Spark's order: NaN equals NaN and is the greatest number, -0.0 equals 0.0."""
