"""`dbsp check`: what is ignored, what each sink promises, and where formats promise less than the rest."""

from __future__ import annotations

from collections.abc import Iterator

from dbsp.sql.plans.own_forms import ICEBERG, own_form
from dbsp.sql.plans.program import BUILT_IN, EXCEL, FILE_FORMATS, PYTHON, STEP, Program, Table


def notes(program: Program) -> Iterator[str]:
    """What is ignored, what each sink promises, where formats promise less than the rest of the program."""
    yield from program.notes
    for name in dict.fromkeys(insert.target for insert in program.inserts):
        shapes = dict.fromkeys(insert.shape for insert in program.inserts if insert.target == name)
        yield f"sink {name}: {_promise(program.tables[name], ' and '.join(shapes))}"
    for table in program.tables.values():
        form = (table.format or "").lower()
        if form == "socket":
            lost = "what it sent and no step has committed is lost in a crash"
            yield f"table {table.name}: socket can't be read again; {lost}"
        if form == "kafka" and table.name in program.inputs:
            options = {name.lower(): value.lower() for name, value in table.options.items()}
            if "startingoffsets" not in options and "startingtimestamp" not in options:
                cure = "give OPTIONS (startingOffsets 'earliest') to read all"
                yield f"table {table.name}: kafka is read from its end as of the first run; {cure}"
            if options.get("failondataloss") == "false":
                lost = "what Kafka has deleted is skipped silently"
                yield f"table {table.name}: failOnDataLoss 'false': {lost}"
        is_written = own_form(form) is not None and table.name not in program.inputs
        is_ours = form in (PYTHON, EXCEL) or is_written or (form == ICEBERG.name and table.option("table"))
        if form and form not in BUILT_IN and not is_ours:
            why = "is no format of Spark's own; its run needs the package"
            yield f"table {table.name}: {table.format} {why}"


def _promise(target: Table, shape: str) -> str:
    """How often a step's changes are written, and what tells a reader of a repetition."""
    form = (target.format or "").lower()
    if form in FILE_FORMATS:
        less = "; NULL is an empty line, and a value with line breaks is several" if form == "text" else ""
        return f"{shape}, exactly once: a directory {STEP}=n a step{less}"
    own = own_form(form)
    if own is not None:
        return f"{shape}, {own.promise}"
    if form == "noop":
        return f"{shape}, written nowhere"
    if form == PYTHON:
        return (
            f"{shape}, at least once, in order: the function is told the step, which tells it of a repetition"
        )
    if target.in_transactions:
        read = "readers see what is committed with isolation.level read_committed"
        return f"{shape}, exactly once: the step's number is an offset in the transaction; {read}"
    twice = "at least once: a crash between a step's write and its record writes that step again"
    if form == "kafka" and shape == "upsert":
        return f"{shape}, {twice}, which leaves each key the same last record"
    if target.value_format is not None:
        return f"{shape}, {twice}; the header step tells which"
    if form == "kafka":
        return f"{shape}, {twice}; nothing tells which, unless value has something of its own that does"
    told = "" if any(f.name.lower() == STEP for f in target.schema) else f"; {STEP} BIGINT tells which"
    if form == "jdbc":
        told += "; a unique key of the database's would refuse the repetition, so let it have none"
    return f"{shape}, {twice}{told}"
