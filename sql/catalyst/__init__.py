"""Spark's Catalyst reads the queries: the only package that touches Spark's JVM."""

from sql.catalyst.session import Catalyst
from sql.catalyst.spark import compile_session, require_java

__all__ = ["Catalyst", "compile_session", "require_java"]
