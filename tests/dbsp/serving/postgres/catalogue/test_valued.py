"""Values in the types that a client names."""

from __future__ import annotations

import pytest

from dbsp.serving.postgres.catalogue.valued import valued
from dbsp.serving.postgres.language.parameters import Value


@pytest.mark.parametrize(
    ("oid", "text", "said"),
    [
        (0, "x", "'x'"),
        (25, "it's", "'it''s'"),
        (21, "7", "'7'::SMALLINT"),
        (20, None, "NULL::BIGINT"),
        (1700, "-1.50", "'-1.50'::DECIMAL(38, 2)"),
        (1700, "NaN", "'NaN'"),
        (1700, "1" * 39, f"'{'1' * 39}'"),
        (17, "\\x00ff", "from_hex('00ff')"),
        (1184, "2024-01-02 00:00+00", "'2024-01-02 00:00+00'::TIMESTAMPTZ"),
        (1007, "{1,2}", "ARRAY['1', '2']::INTEGER[]"),
        (1009, "{a}", "ARRAY['a']"),
    ],
)
def test_values(oid: int, text: str | None, said: str) -> None:
    assert valued(Value(oid, text)) == said
