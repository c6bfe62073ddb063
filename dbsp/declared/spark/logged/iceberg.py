"""Tables of a project in Iceberg: what they can't have."""

from __future__ import annotations

import importlib.util

from dbsp.circuits.errors import Error, ProgramError
from dbsp.declared.logs.iceberg import ICEBERG
from dbsp.declared.project.datasets import Dataset, shown
from dbsp.declared.spark.logged.delta import NO_TYPE

_PROPERTIES = {"format-version": ("1", "2"), "write.format.default": ("parquet",)}


def check_iceberg(dataset: Dataset) -> None:
    """Raises Error without pyiceberg, ProgramError for what the dataset's table can't have."""
    if importlib.util.find_spec("pyiceberg") is None:
        raise Error("Iceberg tables need pyiceberg: pip install 'dbsp[iceberg]'")
    if dataset.format is not None and dataset.format.lower() != ICEBERG:
        raise ProgramError(
            f"{dataset.place}: {shown(dataset.name)} is in a catalogue of Iceberg's, and USING "
            f"{dataset.format}; leave that out, or give it a name in spark_catalog"
        )
    for name, kind in dataset.columns.items():
        if NO_TYPE.search(kind):
            raise ProgramError(
                f"{dataset.place}: {shown(dataset.name)}: an Iceberg table has no column '{name}' of {kind}; "
                "give it another type"
            )
    for name, allowed in _PROPERTIES.items():
        given = (dataset.properties or {}).get(name)
        if given is not None and given.lower() not in allowed:
            raise ProgramError(
                f"{dataset.place}: not supported yet: {shown(dataset.name)} with {name} = {given}; what is "
                f"written is {' or '.join(allowed)}"
            )
    if dataset.clustered_by:
        raise ProgramError(
            f"{dataset.place}: not supported yet: CLUSTER BY of {shown(dataset.name)}, in Iceberg"
        )
