"""What can never be emitted is said when the program is compiled, with its place."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.compiler.load import compile_program

pytestmark = pytest.mark.spark

TABLES = """CREATE TABLE bid (auction BIGINT, at TIMESTAMP LATENESS INTERVAL 1 MINUTE, seen TIMESTAMP);
CREATE TABLE word (text STRING, local TIMESTAMP_NTZ);
CREATE VIEW v AS """
WINDOW = "SELECT window, count(*) AS n FROM bid GROUP BY window(at, '10 minutes')"


@pytest.mark.parametrize(
    ("view", "error"),
    [
        (
            "SELECT auction, count(*) AS n FROM bid GROUP BY auction TRIGGER ON WATERMARK",
            "3:74: ON WATERMARK never fires for view 'v': no waterline bounds a column of i",
        ),
        (
            "SELECT count(*) AS n FROM bid\n TRIGGER COUNTING 3, ON WATERLINE",
            "4:2: ON WATERMARK never fires for view 'v': no waterline bounds a column of i",
        ),
        (
            "SELECT seen, count(*) AS n FROM bid GROUP BY seen TRIGGER ON WATERMARK",
            "3:68: ON WATERMARK never fires for view 'v': no waterline bounds a column of i",
        ),
        (f"{WINDOW} TRIGGER COUNTING {2**63}", f"3:107: COUNTING {2**63}: at most {2**63 - 1} records"),
        (f"{WINDOW} TRIGGER AFTER DELAY 5", "3:110: '5' is no constant of fixed length; write an interval"),
        (f"{WINDOW} TRIGGER AFTER DELAY INTERVAL 1 MONTH", "3:110: 'INTERVAL 1 MONTH' is no constant"),
        (f"{WINDOW} TRIGGER AFTER DELAY -INTERVAL 1 DAY", "3:110: AFTER DELAY -INTERVAL 1 DAY is negative"),
        (
            "SELECT auction, count(*) AS n FROM bid GROUP BY auction EMIT (RESULT STATE FLAG)",
            "3:74: EMIT needs the end of a window in the stream key of view 'v' (auction); group",
        ),
        (
            "SELECT date_trunc('MONTH', at) AS month, count(*) AS n FROM bid GROUP BY 1 "
            "EMIT (LATE UPDATES ON)",
            "3:93: EMIT needs the end of a window in the stream key of view 'v' (month); group",
        ),
        (
            "SELECT seen AS window_end, count(*) AS n FROM bid GROUP BY seen EMIT (LATE UPDATES ON)",
            "3:82: EMIT needs the end of a window in the stream key of view 'v' (window_end); group",
        ),
        (
            "SELECT window.end, count(*) AS n FROM (SELECT CAST(text AS TIMESTAMP) AS t FROM word) "
            "GROUP BY window(t, '1 hour') EMIT (UPDATE RATE 1 ROW)",
            "3:133: EMIT needs an event time for view 'v': a TIMESTAMP column of one table",
        ),
        (
            "SELECT date_trunc('HOUR', local) AS h, count(*) AS n FROM word GROUP BY 1 "
            "EMIT (UPDATE RATE 1 ROW)",
            "3:92: EMIT of view 'v' goes by the largest 'local' of 'word', and a window isn't known",
        ),
        (
            f"{WINDOW} EMIT (FIRST RESULT OFFSET INTERVAL 5 MINUTES)",
            "3:116: the first result comes after the complete one; FIRST RESULT OFFSET is",
        ),
        (
            f"{WINDOW} EMIT (LAST RESULT OFFSET -INTERVAL 5 MINUTES)",
            "3:115: the last result comes before the complete one",
        ),
        (
            f"{WINDOW} EMIT (UPDATE RATE INTERVAL 0 MINUTES)",
            "3:108: UPDATE RATE INTERVAL 0 MINUTES: a rate is",
        ),
    ],
)
def test_what_can_never_be_emitted(spark: Any, view: str, error: str) -> None:
    with pytest.raises(ProgramError) as raised:
        compile_program(f"{TABLES}{view};", "p.sql", session=spark)
    assert str(raised.value).startswith(f"p.sql:{error}")
