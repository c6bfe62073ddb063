"""Which dbt shows beside its own."""

from importlib.metadata import version as installed

version = installed("dbsp")
