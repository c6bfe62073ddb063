"""Catalyst over a session of its own: types, tables and queries in, dumped plans out."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbsp.sql.catalyst.jvm.classes import class_loader
from dbsp.sql.catalyst.jvm.connect import check_classic
from dbsp.sql.catalyst.jvm.meaning import MEANING
from dbsp.sql.text.tokens import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RELATION = "dbsp.relation"  # the metadata key that names a leaf's table

_OPTIMIZER = "org.apache.spark.sql.catalyst.optimizer."
_EXECUTION = "org.apache.spark.sql.execution."
# Rules that fit a one-off query over stored files and hurt an incremental one.
_EXCLUDED = (
    # filters repeated on the other side of a join: work per row, and fewer equal sub-plans
    _OPTIMIZER + "InferFiltersFromConstraints",
    _OPTIMIZER + "InferFiltersFromGenerate",
    _OPTIMIZER + "InferWindowGroupLimit",
    _OPTIMIZER + "InjectRuntimeFilter",
    # limits are maintained where the user wrote them
    _OPTIMIZER + "LimitPushDown",
    _OPTIMIZER + "LimitPushDownThroughWindow",
    # unscaled decimal sums and doubled counts: physical tricks the aggregate does not need
    _OPTIMIZER + "DecimalAggregates",
    _OPTIMIZER + "CollapseGroupedSumOfCount",
    # In becomes InSet, whose elements are no expressions
    _OPTIMIZER + "OptimizeIn",
    _OPTIMIZER + "OptimizeOneRowPlan",
    # equal sub-plans are found by equality, over the whole program
    _EXECUTION + "planmerging.MergeSubplans",
    _EXECUTION + "dynamicpruning.PartitionPruning",
    # narrowing each use of a sub-plan differently makes equal sub-plans unequal: `rules.prune` narrows
    _OPTIMIZER + "ColumnPruning",
    # only excludable through EveryRuleExcludable: we have these operators natively
    _OPTIMIZER + "RewriteDistinctAggregates",
    _OPTIMIZER + "NormalizeFloatingNumbers",
    _OPTIMIZER + "ReplaceCTERefWithRepartition",
    _OPTIMIZER + "OptimizeExpand",
    _OPTIMIZER + "RewriteExceptAll",
    _OPTIMIZER + "RewriteIntersectAll",
    _OPTIMIZER + "ReplaceIntersectWithSemiJoin",
    _OPTIMIZER + "ReplaceExceptWithFilter",
    _OPTIMIZER + "ReplaceExceptWithAntiJoin",
    _OPTIMIZER + "ReplaceDistinctWithAggregate",
    _EXECUTION + "python.ExtractPythonUDFFromAggregate",
    _EXECUTION + "python.ExtractGroupingPythonUDFFromAggregate",
    _EXECUTION + "python.ExtractPythonUDFs",
)

# Spark's lists of the options that a format has.
_OPTIONS = {
    "csv": "org.apache.spark.sql.catalyst.csv.CSVOptions",
    "json": "org.apache.spark.sql.catalyst.json.JSONOptions",
    "xml": "org.apache.spark.sql.catalyst.xml.XmlOptions",
    "parquet": _EXECUTION + "datasources.parquet.ParquetOptions",
    "orc": _EXECUTION + "datasources.orc.OrcOptions",
    "text": _EXECUTION + "datasources.text.TextOptions",
}


# Each names only what stands before it. Janino, which compiles them, infers no generics: so they say casts.
_SOURCES = tuple(
    Path(__file__).with_name("dumper") / f"{name}.java"
    for name in (
        "Json",
        "Refused",
        "Active",
        "Optimized",
        "Functions",
        "Relations",
        "Outside",
        "Parameters",
        "collations/Collated",
        "collations/Keyed",
        "collations/Collations",
        "Portable",
        "Rewritten",
        "Written",
        "Forbidden",
        "Dumper",
    )
)


class Catalyst:
    """spark: a classic session; its views, settings and functions stay untouched. timezone: default the
    session's.
    """

    def __init__(self, spark: SparkSession, timezone: str | None = None) -> None:
        check_classic(spark)
        self.timezone: str = timezone or spark.conf.get("spark.sql.session.timeZone") or "UTC"
        self._jvm = spark._jvm
        self._context = spark.sparkContext
        self._given = spark._jsparkSession
        self._session = self._given.newSession()
        settings = self._session.conf()
        settings.set("spark.sql.session.timeZone", self.timezone)
        for name, value in MEANING.items():
            settings.set(name, value)
        settings.set("spark.sql.join.asofJoin.enabled", "true")
        settings.set("spark.sql.timeType.enabled", "true")
        # ${env:NAME} in a text would be what this process knows, told to whoever asks a query
        settings.set("spark.sql.variable.substitute", "false")
        self._dumper = self._new_dumper()
        self._relations, self._functions = self._dumper.relations(), self._dumper.functions()
        self._types: dict[str, str] = {}
        self.user: str = self._dumper.user()
        self._say_constants("", "default")

    def _new_dumper(self) -> Any:
        gateway = self._context._gateway
        arguments = gateway.new_array(self._jvm.java.lang.Object, 2)
        arguments[0] = self._session
        arguments[1] = ",".join(_EXCLUDED)
        # py4j knows classes by name only where Spark's own loader has them
        dumper = class_loader(gateway, *_SOURCES).loadClass("dbsp.Dumper")
        return dumper.getConstructors()[0].newInstance(arguments)

    def column_type(self, ddl: str) -> Any:
        """A type's DDL as parsed `DataType.json()`, or the dumped error as {"error": ...}."""
        if ddl not in self._types:
            self._types[ddl] = self._dumper.columnType(ddl)
        return json.loads(self._types[ddl])

    def becomes(self, given: Any, wanted: Any) -> bool:
        """Whether every value of the one type, as `DataType.json()`, is one of the other, as Spark has it."""
        of = self._jvm.org.apache.spark.sql.types.DataType.fromJson
        cast = self._jvm.org.apache.spark.sql.catalyst.expressions.Cast
        return bool(cast.canUpCast(of(json.dumps(given)), of(json.dumps(wanted))))

    def register(self, name: str, columns: list[tuple[str, Any, bool]], of: str = "") -> None:
        """Make a relation of (column, DataType json, nullable) visible to later queries, as an empty leaf.

        of: the relation that its leaf is called by, if it has another name.
        """
        fields = [
            {"name": column, "type": type_, "nullable": nullable, "metadata": {RELATION: of or name}}
            for column, type_, nullable in columns
        ]
        self._relations.register(name, json.dumps({"type": "struct", "fields": fields}))

    def number(self, relations: Mapping[str, tuple[str, int]]) -> None:
        """Let the next queries name so many last columns of what is registered, which `*` leaves out.

        By relation, whose own columns the others are.
        """
        self._relations.numberNone()
        for name, (all_, size) in relations.items():
            self._relations.number(name, all_, size)

    def define(self, name: str, plan: Any) -> None:
        """Let later queries read a plan of the JVM, which nobody has analysed, by that name."""
        self._relations.define(name, plan)

    def use(self, catalog: str, schema: str) -> None:
        """Let later queries leave out what stands before a relation's name; '' where nothing is in use."""
        both = [f"{catalog}.{schema}."] if catalog and schema else []
        given = self._jvm.java.util.ArrayList()
        for one in (*both, *(f"{one}." for one in (catalog, schema) if one), ""):
            given.add(one.lower())
        self._relations.use(given)
        self._say_constants(catalog, schema)

    def call_user(self, name: str) -> None:
        """Let later queries say that by current_user()."""
        self.user = name
        self._say_constants("", "default")

    def _say_constants(self, catalog: str, schema: str) -> None:
        self._dumper.constants(self.user, catalog or "spark_catalog", schema)

    def register_function(self, name: str, types: list[Any], result: Any, aggregate: bool) -> bool:
        """Let later queries call the function, whose types are as `column_type` gives them.

        False, and nothing is done, where Spark has a function of that name.
        """
        spelled = self._jvm.java.util.ArrayList()
        for type_ in types:
            spelled.add(json.dumps(type_))
        return bool(self._functions.register(name, spelled, json.dumps(result), aggregate))

    def create_function(self, name: str, text: str) -> Any:
        """Let later queries call a function written in SQL, by the text of its CREATE TEMPORARY FUNCTION.

        None; the dumped error; or False, and nothing is done, where Spark has a function of that name.
        """
        if self._functions.has(name):
            return False
        error = self._functions.create(text)
        return json.loads(error)["error"] if error else None

    def has_format(self, name: str) -> bool:
        """Whether the session the compiler was given can find a source or sink of that name."""
        from py4j.protocol import Py4JJavaError  # noqa: PLC0415  pyspark is imported by now
        from pyspark.errors import PySparkException  # noqa: PLC0415

        state = self._given.sessionState()
        if state.dataSourceManager().dataSourceExists(name):
            return True
        try:
            self._jvm.org.apache.spark.sql.execution.datasources.DataSource.lookupDataSource(
                name, state.conf()
            )
        except (Py4JJavaError, PySparkException):
            return False
        return True

    def options(self, format_: str) -> list[str]:
        """What Spark lists as a format's options and as those of files; [] where it has no list."""
        names: list[str] = []
        if format_ not in _OPTIONS:
            return names
        for listed in (_OPTIONS[format_], _EXECUTION + "datasources.FileIndexOptions"):
            loaded = self._jvm.org.apache.spark.util.Utils.classForName(listed + "$", True, False)
            names += loaded.getField("MODULE$").get(None).getAllOptions().mkString(",").split(",")
        return names

    def evaluable(self, text: str) -> Any:
        """Of a query that reads what is registered and nothing else {"schema": DataType json}, of another one
        {"outside": ...}; or the dumped error as {"error": ...}.
        """
        return json.loads(self._dumper.evaluable(text))

    @property
    def session(self) -> SparkSession:
        """Its own, which knows what is registered."""
        from pyspark.sql import SparkSession  # noqa: PLC0415  as above

        return SparkSession(self._context, self._session)

    def fill(self, name: str, rows: DataFrame) -> None:
        """Let later queries read these rows, of `session`, as a relation."""
        rows.createOrReplaceTempView(quoted([name]))
        self._relations.add(name)

    def rows(self, text: str) -> DataFrame:
        """What Spark says of such a query."""
        from pyspark.sql import DataFrame  # noqa: PLC0415

        return DataFrame(self._dumper.rows(text), self.session)

    def portable(self, number: int) -> Any:
        """What Portable.java makes of an expression of a dump, by its number there ("x")."""
        return json.loads(self._dumper.portable(number))

    def query(self, text: str, literals: str = "", words: str = "") -> Any:
        """What Dumper.java says of a query. literals: those that may become parameters, as Parameters.java
        takes them, and the names that are in the text.
        """
        asked = (text, literals, words) if literals else (text,)
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            self._dumper.dump(*asked, file.name)
            return json.loads(Path(file.name).read_bytes())
