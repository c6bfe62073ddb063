"""What PostgreSQL means by a client's words, where Spark means something else by them, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dbsp.serving.postgres.casting.casts import with_casts
from dbsp.serving.postgres.casting.limits import with_limits
from dbsp.serving.postgres.language.parameters import Value
from dbsp.serving.postgres.language.restating import for_spark
from dbsp.serving.postgres.language.spelling import Word
from dbsp.sql.plans.schemas import Schema


def meant(words: Sequence[Word], values: Sequence[Value], relations: Mapping[str, Schema]) -> Sequence[Word]:
    """The words of a statement, with what Spark is told instead. relations: by name, with their columns.

    Raises Error.
    """
    return with_limits(with_casts(for_spark(words), values, relations), values)
