"""A catalogue of Iceberg's, set in a project as Iceberg's own jar has it set."""

from __future__ import annotations

from pyiceberg.catalog import load_catalog


def catalogue(project, warehouse, **more):
    """By the name `ice`; as pyiceberg has it."""
    settings = {
        "type": "jdbc",
        "uri": f"jdbc:sqlite:{project.folder}/catalog.db",
        "warehouse": warehouse,
        **more,
    }
    project.spark.conf.set("spark.sql.catalog.ice", "org.apache.iceberg.spark.SparkCatalog")
    for name, value in settings.items():
        project.spark.conf.set(f"spark.sql.catalog.ice.{name}", value)
    return load_catalog("ice", **{**settings, "type": "sql", "uri": f"sqlite:///{project.folder}/catalog.db"})
