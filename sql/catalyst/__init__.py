"""Spark's Catalyst reads the queries: the only package that touches Spark's JVM."""

from dbsp.sql.catalyst.jvm.connect import check_classic
from dbsp.sql.catalyst.jvm.files import column_definitions, read_files
from dbsp.sql.catalyst.jvm.java import require_java
from dbsp.sql.catalyst.jvm.meaning import other_meaning
from dbsp.sql.catalyst.jvm.session import Catalyst
from dbsp.sql.catalyst.jvm.spark import compile_session, launch_quietly, running_session

__all__ = [
    "Catalyst",
    "check_classic",
    "column_definitions",
    "compile_session",
    "launch_quietly",
    "other_meaning",
    "read_files",
    "require_java",
    "running_session",
]
