"""A dataset computed by Spark from scratch, of the catalogue's tables as they are now."""

from __future__ import annotations

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from dbsp.circuits.errors import Error
from dbsp.declared.project.datasets import Dataset, Project, shown
from dbsp.declared.project.dialect import expected
from dbsp.declared.project.program import selected
from dbsp.sql.text.expectations import checked


def rows_of(spark: SparkSession, project: Project, dataset: Dataset) -> DataFrame:
    """Its query's rows, under the dataset's columns. Raises Error."""
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", spark.conf.get("spark.sql.session.timeZone") or "UTC")
    try:
        for view in project.datasets[: project.datasets.index(dataset)]:
            if not view.is_stored:
                _query(session, view).createOrReplaceTempView(view.name)
        return _query(session, dataset).selectExpr(*selected(dataset, dataset.flows[0]))
    except PySparkException as error:
        raise Error(f"{dataset.place}: {shown(dataset.name)}: {str(error).strip()}") from error


def recompute(spark: SparkSession, project: Project, dataset: Dataset) -> int:
    """Write all of its table anew; returns how many rows it has. Raises Error."""
    rows = rows_of(spark, project, dataset)
    try:
        ordered = rows.select(*(f"`{name}`" for name in spark.table(dataset.name).columns))
        ordered.write.insertInto(dataset.name, overwrite=True)
        spark.catalog.refreshTable(dataset.name)  # another session has written it
        return int(spark.table(dataset.name).count())
    except PySparkException as error:
        raise Error(f"{dataset.place}: {shown(dataset.name)}: {str(error).strip()}") from error


def _query(session: SparkSession, dataset: Dataset) -> DataFrame:
    (flow,) = dataset.flows
    session.sql(f"USE `{flow.catalog}`.`{flow.database}`")
    rows = session.sql(flow.query)
    conditions = "".join(
        part if isinstance(part, str) else part.text
        for part in checked(shown(dataset.name), (), expected(dataset))
    )
    return rows.where(conditions.removeprefix(") WHERE ")) if conditions else rows
