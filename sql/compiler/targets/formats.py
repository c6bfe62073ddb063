"""USING format OPTIONS (...): what can be said of them before anything runs.

Which formats there are is for the Spark of the run to say: it may have packages, and classes of its user's,
that the compiler's session lacks. So a name that this session doesn't know is refused only where it is nearly
that of a well-known format. The options of Spark's own formats and of Kafka's are known: Spark ignores any
other, so that `haeder 'true'` would read the heads as rows, and `startingOffset 'earliest'` begin at the end.
Names with dots are settings of Hadoop's, or of Kafka's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches

from dbsp.sql.catalyst import Catalyst
from dbsp.sql.plans.own_forms import OWN_FORMS, own_form
from dbsp.sql.plans.program import EXCEL, FILE_FORMATS, HIVE, PYTHON
from dbsp.sql.text.source import Source
from dbsp.sql.text.statements.create_table import CreateTable

# each once: of two of Spark's we have forms of our own
FORMATS = tuple(dict.fromkeys((
    "csv", "json", "parquet", "orc", "text", "xml", "avro", "binaryFile", "kafka", "rate", "socket", "jdbc",
    "delta", "iceberg", "hudi", HIVE, "console", "noop", *OWN_FORMS, PYTHON, EXCEL,
)))  # fmt: skip
# what Spark's lists leave out: of a stream of files, and of all that reads and writes them
FILE_OPTIONS = (
    "path", "maxFilesPerTrigger", "maxBytesPerTrigger", "maxFileAge", "latestFirst", "fileNameOnly",
    "cleanSource", "sourceArchiveDir", "maxCachedFiles", "discardCachedInputRatio", "basePath", "mode",
    "pathGlobFilter", "recursiveFileLookup", "modifiedBefore", "modifiedAfter", "ignoreCorruptFiles",
    "ignoreMissingFiles", "compression", "maxRecordsPerFile", "partitionOverwriteMode", "useStrictGlobbing",
)  # fmt: skip
# of what isn't files; names with dots are settings of the system behind it
OPTIONS = {
    "kafka": (
        "assign", "subscribe", "subscribePattern", "startingTimestamp", "startingOffsetsByTimestamp",
        "startingOffsets", "startingOffsetsByTimestampStrategy", "failOnDataLoss", "maxOffsetsPerTrigger",
        "minOffsetsPerTrigger", "maxTriggerDelay", "minPartitions", "maxRecordsPerPartition", "groupIdPrefix",
        "includeHeaders", "topic",
    ),
    "rate": ("rowsPerSecond", "rampUpTime", "numPartitions"),
    "rate-micro-batch": ("rowsPerBatch", "numPartitions", "startTimestamp", "advanceMillisPerBatch"),
    EXCEL: ("path", "sheet"),
    HIVE: ("table",),
    "socket": ("host", "port", "includeTimestamp", "numPartitions"),
    **{name: form.options for name, form in OWN_FORMS.items()},
}  # fmt: skip
_SYNONYMS = {"separator": "sep", "seperator": "sep", "null": "nullValue", "na": "nullValue"}
# Spark takes any other mode for permissive.
_VALUES = {
    "mode": ("permissive", "dropmalformed", "failfast"),
    "header": ("true", "false"),
    "enforceschema": ("true", "false"),
    "multiline": ("true", "false"),
}
_COUNTS = ("maxfilespertrigger", "maxbytespertrigger")


def check_format(source: Source, statement: CreateTable, catalyst: Catalyst) -> None:
    """Raises ProgramError for a format or an option that must be misspelt, or a path that isn't there."""
    format_ = statement.format
    if format_ is None:
        return
    if format_.lower() not in map(str.lower, FORMATS) and "." not in format_:
        near = _near(format_, FORMATS)
        if near is not None and not catalyst.has_format(format_):
            listed = ", ".join(FORMATS)
            message = f"unknown format '{format_}'; formats: {listed}, or a class; did you mean '{near}'?"
            raise source.error(statement.start, f"table '{statement.name}': {message}")
    if format_.lower() in FILE_FORMATS:
        own = catalyst.options(format_.lower())
        _check_options(source, statement, [*FILE_OPTIONS, *own] if own else [])
        if "path" not in map(str.lower, statement.options):
            message = f"table '{statement.name}' USING {format_} needs OPTIONS (path 'directory')"
            raise source.error(statement.start, message)
    elif format_.lower() == PYTHON and statement.options:
        message = f"table '{statement.name}' is written by a function of its name, which takes no OPTIONS"
        raise source.error(statement.start, message)
    else:
        _check_options(source, statement, OPTIONS.get(format_.lower(), ()))
        form = own_form(format_)
        required = form.required if form is not None else OPTIONS[HIVE] if format_.lower() == HIVE else ()
        for option in required:
            if option not in map(str.lower, statement.options):
                message = f"table '{statement.name}' USING {format_} needs OPTIONS ({option} '...')"
                raise source.error(statement.start, message)


def _check_options(source: Source, statement: CreateTable, known: Collection[str]) -> None:
    """known: the options there are; none where that isn't known."""
    lower = set(map(str.lower, known))
    for name, value in statement.options.items():
        if known and name.lower() not in lower and "." not in name:
            near = _SYNONYMS.get(name.lower()) or _near(name, known)
            hint = f"; did you mean '{near}'?" if near else ", and would ignore it"
            form = (statement.format or "").lower()
            whose = form if own_form(form) or form == EXCEL else f"Spark's {form}"
            message = f"{whose} has no option '{name}'{hint}"
            raise source.error(statement.start, f"table '{statement.name}': {message}")
        allowed = _VALUES.get(name.lower(), ()) if known else ()
        if allowed and value.lower() not in allowed:
            message = f"option {name} is '{value}'; give {' or '.join(allowed)}"
            raise source.error(statement.start, f"table '{statement.name}': {message}")
        if name.lower() in _COUNTS and not (value.isdecimal() and int(value)):
            message = f"option {name} is '{value}'; give a number from 1"
            raise source.error(statement.start, f"table '{statement.name}': {message}")


def _near(name: str, known: Iterable[str]) -> str | None:
    lower = {one.lower(): one for one in known}
    near = get_close_matches(name.lower(), lower, n=1, cutoff=0.65)
    return lower[near[0]] if near else None
