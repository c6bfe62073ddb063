"""Where dbt looks for the adapter of `type: dbsp`."""

from dbsp.declared.dbt.adapter import Plugin

__all__ = ["Plugin"]
