"""The files that a micro-batch was planned to read: that they are there, are whole, and which has a bad row.

Spark lists the planned files again before it reads them, and leaves out without a word what is gone by then;
it never comes back to it. So a batch whose files aren't all there fails. A file of lines that was cut within
its last one, as by a writer that is still at it, is read as far as it goes: 11 for 110. Nothing in it says so
but that the line has no end; some writers never end it, hence a warning.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pyspark.sql import SparkSession
from pyspark.sql.functions import col

from dbsp.circuits.errors import Error
from dbsp.pipeline.spark.records import OF_STEP, Records, Refusal
from dbsp.pipeline.spark.sources import named, reader_of
from dbsp.rows.incoming import BadRow
from dbsp.running.spark.intervals import quoted, with_integers
from dbsp.sql.plans.program import STEP, Table

log = logging.getLogger("dbsp")

_LINES = {"csv": "multiline", "json": "multiline", "text": "wholetext"}
_COMPRESSED = (".gz", ".bz2", ".deflate", ".snappy", ".lz4", ".zst", ".zstd", ".xz")
_BLOCK = 1 << 20
_CORRUPT = "__record"
GLOB = re.compile(r"([][{}*?\\])")


def planned_files(checkpoint: Path, relation: int, batch: int) -> list[str]:
    """The URIs of the files that a batch takes of the source at that place of the query.

    Spark numbers what a source found apart from the batches: a batch takes what lies between two offsets.
    """
    first = _last_found(checkpoint, relation, batch - 1) + 1 if batch else 0
    files: list[str] = []
    for number in range(first, _last_found(checkpoint, relation, batch) + 1):
        entries = _entries(checkpoint, relation, number)
        files += reversed([entry["path"] for entry in entries if entry["batchId"] == number])
    return files


def files_before(checkpoint: Path, relation: int, batch: int) -> list[str]:
    """The URIs of all files that the batches before it took."""
    return [entry["path"] for entry in entries_before(checkpoint, relation, batch)]


def entries_before(checkpoint: Path, relation: int, batch: int) -> Iterator[dict[str, Any]]:
    """What Spark noted of these files: `path`, and `timestamp`, of their modification; the newest first."""
    last = _last_found(checkpoint, relation, batch - 1) if batch else -1
    while last >= 0:
        first = last
        for entry in _entries(checkpoint, relation, last):
            first = min(first, entry["batchId"])
            yield entry
        last = first - 1


def _entries(checkpoint: Path, relation: int, number: int) -> Iterator[dict[str, Any]]:
    """What a source has found under that number, the newest first; every tenth repeats all before it."""
    name = checkpoint / "sources" / str(relation) / str(number)
    if not name.exists():
        name = name.with_name(f"{number}.compact")
    return map(json.loads, reversed(name.read_text().splitlines()[1:]))


def check_steps(table: Table, last: int, files: list[str]) -> int:
    """The last step of a sink's directories `__step=n` that has been read, these files included.

    last: before them. Raises Error at a file of an earlier step: what it says of its keys is no longer so.
    """
    steps = {int(found[-1]): file for file in files if (found := OF_STEP.findall(unquote(file)))}
    if steps and min(steps) < last:
        late = local_path(steps[min(steps)]) or steps[min(steps)]
        raise Error(
            f"{table.location}: table '{table.name}': '{late}' came after {STEP}={last} was read; a "
            "changelog is read in the order of its steps: put directories there in that order"
        )
    return max(steps, default=last)


def _last_found(checkpoint: Path, relation: int, batch: int) -> int:
    """The number of what a source of files had found when a batch ended."""
    end = end_of_batch(checkpoint, relation, batch)
    return -1 if end is None else int(json.loads(end)["logOffset"])


def end_of_batch(checkpoint: Path, relation: int, batch: int) -> str | None:
    """Where a batch ends, as the source at that place of the query writes it; None: nowhere yet."""
    offsets = _offsets(checkpoint, batch)
    return None if offsets[relation] == "-" else offsets[relation]


def places_of_batch(checkpoint: Path, batch: int) -> int | None:
    """How many sources the query had; None: that isn't known any more."""
    try:
        return len(_offsets(checkpoint, batch))
    except FileNotFoundError:
        return None


def _offsets(checkpoint: Path, batch: int) -> list[str]:
    version, _, *offsets = (checkpoint / "offsets" / str(batch)).read_text().splitlines()
    assert version == "v1", f"offsets of version {version}"
    return offsets


def check_files(spark: SparkSession, table: Table, files: list[str]) -> None:
    """Raises Error at a file that is gone, or would be read twice; warns of one whose last line has no
    end.
    """
    _check_names(table, files)
    ignored = table.option("ignoreMissingFiles") or spark.conf.get("spark.sql.files.ignoreMissingFiles")
    for file in files:
        local = local_path(file)
        there = os.path.exists(local) if local is not None else is_there(spark, file)
        if not there:
            message = f"'{local or file}' is gone since the step was planned that reads it"
            if (ignored or "false").lower() != "true":
                cure = "put it back, or an empty file in its place, and run again"
                raise Error(f"{table.location}: table '{table.name}': {message}; {cure}")
            log.warning("table '%s': %s; going on without it", table.name, message)
        elif local is not None and _is_cut(table, local):
            number, line = _last_line(local, _end(table))
            what = "has no end; it was read as it is. Was the file still being written?"
            log.warning("table '%s': %s:%d: the last line %s %r", table.name, local, number, what, line)


def _check_names(table: Table, files: list[str]) -> None:
    """Spark takes a name with such a character for a pattern, and then reads the batch's files once more."""
    for file in files if len(files) > 1 else ():
        path = local_path(file) or unquote(file)
        if GLOB.search(path):
            raise Error(
                f"{table.location}: table '{table.name}': '{path}' has a character of patterns in its name "
                "([ ] { } * ? or a backslash), for which Spark would read files of this step more than once; "
                "rename it, or set OPTIONS (maxFilesPerTrigger '1')"
            )


def _end(table: Table) -> bytes:
    return table.option("lineSep", "\n").encode()


def _is_cut(table: Table, path: str) -> bool:
    form = (table.format or "").lower()
    if form not in _LINES or table.option(_LINES[form]).lower() == "true":
        return False
    if path.endswith(_COMPRESSED) or not os.path.getsize(path):
        return False
    ends = (b"\n", b"\r") if _end(table) == b"\n" else (_end(table)[-1:],)
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() not in ends


def _last_line(path: str, end: bytes) -> tuple[int, str]:
    """Its number, and its text or the last of it."""
    with open(path, "rb") as file:
        blocks = iter(lambda: file.read(_BLOCK), b"")
        lines = 1 + sum(block.count(end[-1:]) for block in blocks)
        file.seek(max(0, os.path.getsize(path) - 80))
        return lines, file.read().rsplit(end, 1)[-1].decode(errors="replace")


def located(spark: SparkSession, table: Table, files: list[str], error: BadRow) -> BadRow:
    """The error with the first file that has a row without a value in the column, and that row as it is.

    The files are read once more, as a batch: to carry along with each row where it comes from would cost
    every step.
    """
    if table.changelog is not None:
        return error if table.primary_key else _located_record(spark, table, files, error)
    if error.column is None:
        return error
    form = (table.format or "").lower()
    corrupt = f", {_CORRUPT} string" if form in ("csv", "json") else ""
    reader = reader_of(spark.read, table, corrupt).option("columnNameOfCorruptRecord", _CORRUPT)
    for file in files:
        path = local_path(file) or unquote(file)
        frame = reader.load(GLOB.sub(r"\\\1", path))
        text = frame.select(*(col(quoted(name)).cast("string") for name in frame.columns))
        bad = text.where(col(quoted(error.column)).isNull()).limit(1).collect()
        if bad:
            row = bad[0].asDict()
            record = row.pop(_CORRUPT, None)
            shown = ", ".join(f"{name}={value}" for name, value in row.items()) if record is None else record
            problem = f"{error.problem}; '{path}' has none in the row: {shown[:200]}"
            return BadRow(table.name, problem, None)
    return error


def _located_record(spark: SparkSession, table: Table, files: list[str], error: BadRow) -> BadRow:
    """Of a bag's changelog, whose records come without their files."""
    refusal = Refusal(Records(table, "UTC"))
    for file in files:
        path = local_path(file) or unquote(file)
        frame = with_integers(named(table, reader_of(spark.read, table).load(GLOB.sub(r"\\\1", path))))
        found = frame.mapInArrow(refusal, "problem string").limit(1).collect()
        if found:
            return BadRow(table.name, f"{found[0]['problem']}; it is in '{path}'", None)
    return error


def local_path(file: str) -> str | None:
    """The path of a URI of this machine's own files."""
    parts = urlsplit(file)
    return unquote(parts.path) if parts.scheme == "file" else None


def is_there(spark: SparkSession, file: str) -> bool:
    """Whether a URI's file is there, on any store that Spark knows."""
    jvm = spark._jvm
    assert jvm is not None
    path = jvm.org.apache.hadoop.fs.Path(jvm.java.net.URI(file))
    return bool(path.getFileSystem(spark._jsc.hadoopConfiguration()).exists(path))
