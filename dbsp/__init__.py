"""dbsp: incremental view maintenance for Apache Spark."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbsp.circuits.errors import DataError, Error, EvaluationError, ProgramError, StateError
    from dbsp.errors import CallbackError, DeliveryError
    from dbsp.history.tagging import pin
    from dbsp.pipeline.pipeline import Pipeline
    from dbsp.pipeline.plan import plan
    from dbsp.pipeline.udf import udaf, udf
    from dbsp.running.spark.started import session
    from dbsp.targets.function import sink

__all__ = [
    "CallbackError",
    "DataError",
    "DeliveryError",
    "Error",
    "EvaluationError",
    "Pipeline",
    "ProgramError",
    "StateError",
    "pin",
    "plan",
    "session",
    "sink",
    "udaf",
    "udf",
]

_HOME = dict.fromkeys(__all__, "dbsp.circuits.errors")
_HOME |= dict.fromkeys(["CallbackError", "DeliveryError"], "dbsp.errors")
_HOME |= {"Pipeline": "dbsp.pipeline.pipeline", "plan": "dbsp.pipeline.plan"}
_HOME |= {"sink": "dbsp.targets.function"}
_HOME |= {"session": "dbsp.running.spark.started"}
_HOME |= {"pin": "dbsp.history.tagging"}
_HOME |= {"udaf": "dbsp.pipeline.udf", "udf": "dbsp.pipeline.udf"}


def __getattr__(name: str) -> object:
    # `import dbsp` costs nothing; pyarrow and the rest are imported with what needs them
    if name not in _HOME:
        raise AttributeError(f"module 'dbsp' has no attribute '{name}'")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
