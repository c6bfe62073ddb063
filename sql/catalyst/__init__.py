"""Spark's Catalyst reads the queries: the only package that touches Spark's JVM."""

from sql.catalyst.java import require_java
from sql.catalyst.session import Catalyst
from sql.catalyst.spark import compile_session, launch_quietly

__all__ = ["Catalyst", "compile_session", "launch_quietly", "require_java"]
