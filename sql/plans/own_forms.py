"""Formats of targets that this project writes itself, without Spark: what each takes and promises."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OwnForm:
    """name: in lower case, as USING says it. options: which OPTIONS it takes, nothing for any. promise: how
    often a step is written, and by what. required: options it can't do without. takes_nested: whether it has
    arrays, maps and structs. is_source: whether Spark, with a package, reads it.
    not_in_names: characters that names of its columns can't have. is_keyed: whether it can't do without a
    PRIMARY KEY. With one each holds what the view holds. takes_time: whether it has times of day.
    """

    name: str
    options: tuple[str, ...]
    promise: str
    required: tuple[str, ...] = ()
    takes_nested: bool = False
    is_source: bool = False
    not_in_names: str = ""
    is_keyed: bool = False
    takes_time: bool = True


_IN_STEPS = "exactly once: the step's number is committed with it, in dbsp_steps"
POSTGRES = OwnForm("postgres", ("url", "dbtable"), _IN_STEPS)
MARIADB = OwnForm("mariadb", ("url", "dbtable"), _IN_STEPS, required=("url",))
MYSQL = OwnForm("mysql", ("url", "dbtable"), _IN_STEPS, required=("url",))
SQLITE = OwnForm("sqlite", ("path", "dbtable"), _IN_STEPS, required=("path",))
DUCKDB = OwnForm("duckdb", ("path", "dbtable"), _IN_STEPS, required=("path",), takes_nested=True)
REDIS = OwnForm(
    "redis",
    ("url", "prefix"),
    "exactly once: the step's number is in the transaction that makes its hashes",
    required=("url",),
    is_keyed=True,
)
DELTA = OwnForm(
    "delta",
    (),
    "exactly once: the step's number is a transaction of the commit that adds it",
    required=("path",),
    takes_nested=True,
    is_source=True,
    not_in_names="`",
    takes_time=False,
)
ICEBERG = OwnForm(
    "iceberg",
    (),
    "exactly once: the step's number is a property of the commit that adds it",
    takes_nested=True,
    is_source=True,
)
_ALL = (POSTGRES, MARIADB, MYSQL, SQLITE, DUCKDB, REDIS, DELTA, ICEBERG)
OWN_FORMS = {form.name: form for form in _ALL}


def own_form(format_: str | None) -> OwnForm | None:
    """The form of a table USING format; None where Spark, or a function of the user's, writes it."""
    return OWN_FORMS.get((format_ or "").lower())
