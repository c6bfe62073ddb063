"""What nobody foresaw, in one line; the traceback is kept in a file, or printed if DBSP_TRACEBACK is set."""

from __future__ import annotations

import os
import sys
import tempfile
import traceback

BUG = 70


def report(error: Exception) -> tuple[str, int]:
    """(what to say of it, the exit status)."""
    if "py4j" in sys.modules:
        from dbsp.running.spark.messages import foreseen  # noqa: PLC0415  whose command runs Spark

        known = foreseen(error)
        if known is not None:
            return str(known), 1
    trace = "".join(traceback.format_exception(error))
    if os.environ.get("DBSP_TRACEBACK"):
        sys.stderr.write(trace)
        where = "see above"
    else:
        where = f"the traceback is in {_kept(trace)}; DBSP_TRACEBACK=1 prints it"
    lines = str(error).strip().splitlines()
    return f"dbsp has a bug: {type(error).__name__}: {lines[0] if lines else 'nothing is said'}; {where}", BUG


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
