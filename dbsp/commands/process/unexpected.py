"""What nobody foresaw, in one line; the traceback is kept in a file, or printed if DBSP_TRACEBACK is set."""

from __future__ import annotations

import errno
import logging
import os
import sys
import tempfile
import traceback

from dbsp.commands.process.logs import formatter

BUG = 70
# what a machine has no more of, or lets nobody do: no code of ours can help it
_REFUSED = {
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EIO,
    errno.EMFILE,
    errno.ENFILE,
    errno.ENOMEM,
}


def report(error: Exception) -> tuple[str, int]:
    """(what to say of it, the exit status)."""
    if "py4j" in sys.modules:
        from dbsp.running.spark.messages import foreseen  # noqa: PLC0415  whose command runs Spark

        known = foreseen(error)
        if known is not None:
            return str(known), 1
    trace = "".join(traceback.format_exception(error))
    if formatter() is not None:
        where = "the traceback is with it"
    elif os.environ.get("DBSP_TRACEBACK"):
        sys.stderr.write(trace)
        where = "see above"
    else:
        where = f"the traceback is in {_kept(trace)}; DBSP_TRACEBACK=1 prints it"
    if isinstance(error, OSError) and error.errno in _REFUSED:
        of_file = f"{error.filename}: " if error.filename else ""
        return f"{of_file}{error.strerror}; {where}", 1
    lines = str(error).strip().splitlines()
    return f"dbsp has a bug: {type(error).__name__}: {lines[0] if lines else 'nothing is said'}; {where}", BUG


def hear_once() -> None:
    """py4j logs, with tracebacks, what it also raises: to loggers of its own and to the root."""
    logging.getLogger("py4j").setLevel(logging.CRITICAL + 1)
    logging.getLogger().addFilter(_not_of_py4j)


def _not_of_py4j(record: logging.LogRecord) -> bool:
    return f"{os.sep}py4j{os.sep}" not in record.pathname


def _kept(trace: str) -> str:
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="dbsp-traceback-", suffix=".txt", delete=False, encoding="utf-8"
        ) as file:
            file.write(trace)
            return file.name
    except OSError:  # where it can't be kept it is printed
        sys.stderr.write(trace)
        return "the lines above"
