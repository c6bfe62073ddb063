"""Flows that lead nowhere, or where they can't, are named with what to do."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import ProgramError

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("python", "message"),
    [
        (
            'TO("gone", "events", ["k"], "s")',
            r"definitions.py:3:1: flow .*\.gone goes into .*\.gone, which the project doesn't define; ",
        ),
        (
            'dp.create_sink("out", "parquet", {"path": "/nowhere"}); TO("out", "events", ["k"], "s")',
            "definitions.py:3:1: AUTO CDC into sink out, which takes rows and takes none back",
        ),
        (
            'dp.create_sink("out", "json", {"path": "/nowhere"})\n'
            '@dp.append_flow(target="out")\ndef m():\n    return spark.table("events")',
            "4:1: sink out takes the rows of streams, .* by spark.readStream.table",
        ),
        (
            'dp.create_streaming_table("here"); TO("here", "events", ["z"], "s")',
            r"definitions.py:3:1: \[AUTOCDC_KEY_NOT_IN_SELECTED_SCHEMA\]",
        ),
        (
            '@dp.materialized_view\ndef m():\n    return spark.table("nowhere")',
            r"3:1: .*\.m: .*TABLE_OR_VIEW_NOT_FOUND",
        ),
    ],
)
def test_what_is_wrong_has_the_place_of_its_flow(project, python, message):
    project.sql("CREATE TABLE events (k INT, s INT) USING parquet")
    text = f"from pyspark import pipelines as dp\nTO = dp.create_auto_cdc_flow\n{python}\n"
    project.write(text, "definitions.py")
    with pytest.raises(ProgramError, match=f"(?s){message}"):
        project.plan("CREATE STREAMING TABLE raw AS SELECT * FROM STREAM(events);")
