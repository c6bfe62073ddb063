"""`dbsp init`: a small project that runs as it is."""

from __future__ import annotations

from pathlib import Path

from dbsp.circuits.errors import Error

PROGRAM = """\
-- Customers and their orders. Both tables have keys: an order that comes again replaces the one before.
CREATE TABLE customer (id BIGINT NOT NULL, name STRING, country STRING, PRIMARY KEY (id));
CREATE TABLE orders (id BIGINT NOT NULL, customer BIGINT, amount DECIMAL(10, 2), PRIMARY KEY (id));

-- Kept exact at every step, at a cost that follows the change.
CREATE VIEW turnover AS
SELECT c.country, count(*) AS orders, sum(o.amount) AS total
FROM orders o JOIN customer c ON o.customer = c.id
GROUP BY c.country;
"""

DELTAS = """\
INSERT INTO customer VALUES (1, 'Ada', 'UK'), (2, 'Blaise', 'FR');
INSERT INTO orders VALUES (10, 1, 99.50), (11, 1, 120.00), (12, 2, 15.25);
STEP;
-- an order grows
UPSERT INTO orders VALUES (10, 1, 100.00);
STEP;
-- a customer moves and takes the orders along; another order is cancelled
UPSERT INTO customer VALUES (1, 'Ada', 'FR');
DELETE FROM orders VALUES (12);
"""

EXPECTED = """\
{"step": 1, "view": "turnover", "row": {"country": "FR", "orders": 1, "total": "15.25"}, "weight": 1}
{"step": 1, "view": "turnover", "row": {"country": "UK", "orders": 2, "total": "219.50"}, "weight": 1}
{"step": 2, "view": "turnover", "row": {"country": "UK", "orders": 2, "total": "219.50"}, "weight": -1}
{"step": 2, "view": "turnover", "row": {"country": "UK", "orders": 2, "total": "220.00"}, "weight": 1}
{"step": 3, "view": "turnover", "row": {"country": "FR", "orders": 1, "total": "15.25"}, "weight": -1}
{"step": 3, "view": "turnover", "row": {"country": "FR", "orders": 2, "total": "220.00"}, "weight": 1}
{"step": 3, "view": "turnover", "row": {"country": "UK", "orders": 2, "total": "220.00"}, "weight": -1}
"""

FILES = {"program.sql": PROGRAM, "deltas.sql": DELTAS, "expected.jsonl": EXPECTED}


def write_project(directory: Path) -> list[str]:
    """Write the files; returns what to tell the user. Raises Error rather than overwrite anything."""
    for name in FILES:
        if (directory / name).exists():
            raise Error(f"{directory / name}: exists already; use an empty directory")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in FILES.items():
            (directory / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise Error(f"{directory}: can't be written: {error.strerror}") from None
    step = f"dbsp step {directory}/program.sql {directory}/deltas.sql"
    return [
        f"wrote {', '.join(FILES)} to {directory}",
        f"try:   {step} --output text",
        f"check: {step} --expect {directory}/expected.jsonl",
    ]
