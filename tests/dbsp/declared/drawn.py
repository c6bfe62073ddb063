"""Random projects of datasets that read each other, and random changes of what they read.

Every relation has the columns k STRING, n BIGINT and v BIGINT, so that any can be read where another is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq

from dbsp.declared.asked import Asked
from tests.dbsp.declared.heads import Head, head, read_by

SCHEMA = pa.schema([("k", pa.string()), ("n", pa.int64()), ("v", pa.int64())])
LISTED = "k STRING, n BIGINT, v BIGINT"
TABLES, STREAMS = ("first", "second"), ("arrived", "later")
ROWS = 5

QUERIES = (
    "SELECT k, n, v FROM {a} WHERE v > {number}",
    "SELECT concat(k, '!') AS k, n - {number} AS n, v FROM {a} WHERE k IS NOT NULL",
    "SELECT DISTINCT k, n, CAST(NULL AS BIGINT) AS v FROM {a}",
    "SELECT k, count(*) AS n, sum(v) AS v FROM {a} GROUP BY k",
    "SELECT k, max(n) AS n, min(v) AS v FROM {a} GROUP BY k HAVING count(v) > 1",
    "SELECT x.k, x.n, y.v FROM {a} AS x JOIN {b} AS y ON x.k = y.k AND x.n <= y.n",
    "SELECT coalesce(x.k, y.k) AS k, x.n, y.v FROM {a} AS x FULL JOIN {b} AS y ON x.k = y.k",
    "SELECT k, n, v FROM {a} AS x WHERE NOT EXISTS (SELECT 1 FROM {b} AS y WHERE y.k = x.k AND y.v > x.v)",
    "SELECT k, n, v FROM {a} WHERE v = (SELECT max(v) FROM {b})",
    "SELECT k, n, v FROM {a} WHERE n IN (SELECT n FROM {b})",
    "SELECT k, n, v FROM {a} UNION ALL SELECT k, v, n FROM {b}",
    "SELECT k, n, v FROM {a} EXCEPT SELECT k, n, v FROM {b}",
    "SELECT k, n, CAST(row_number() OVER (PARTITION BY k ORDER BY n, v) AS BIGINT) AS v FROM {a}",
    "SELECT k, n, sum(v) OVER (PARTITION BY k ORDER BY n RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS v "
    "FROM {a}",
    "WITH c AS (SELECT k, sum(n) AS n FROM {a} GROUP BY k) "
    "SELECT c.k, c.n, y.v FROM c JOIN {b} AS y USING (k)",
)
_METHODS = (
    "where(F.col('v') > {number})",
    "groupBy('k').agg(F.count('*').alias('n'), F.sum('v').alias('v'))",
    "select('k', (F.col('n') * 2).alias('n'), 'v').distinct()",
    "alias('x').join(spark.read.table('{b}').alias('y'), F.col('x.k') == F.col('y.k'), 'left')"
    ".select(F.col('x.k').alias('k'), F.col('x.n').alias('n'), F.col('y.v').alias('v'))",
)
_STREAMED = (
    "SELECT k, n, v FROM STREAM {a} WHERE v > {number}",
    "SELECT upper(k) AS k, n + {number} AS n, v FROM STREAM({a})",
    "SELECT k, v AS n, n AS v FROM STREAM {a}",
)
# rows that meet a table as it is when they come
_MEETING = (
    "SELECT x.k, x.n, y.v FROM STREAM {a} AS x JOIN {b} AS y ON x.k = y.k",
    "SELECT x.k, y.n, x.v FROM STREAM {a} AS x LEFT JOIN {b} AS y ON x.k = y.k AND y.v > {number}",
    "SELECT k, n, v FROM STREAM {a} WHERE n IN (SELECT n FROM {b})",
    "SELECT y.k, y.n, x.v FROM {b} AS y JOIN STREAM {a} AS x ON x.k = y.k WHERE x.v > {number}",
    "SELECT x.k, x.n, y.n AS v FROM STREAM {a} AS x JOIN (SELECT k, count(*) AS n FROM {b} GROUP BY k) AS y "
    "ON x.k = y.k",
)
_PYTHON = "from pyspark import pipelines as dp\nfrom pyspark.sql import functions as F\n"


@dataclass
class Definitions:
    """sql, python: the texts. stored: the tables that they make; readable: all that may be read.

    ends: names of materialized views that nothing reads; last: those that there are. heads: of all that have
    one.
    """

    random: Random
    database: str
    readable: list[str]
    ends: tuple[str, str]
    sql: list[str] = field(default_factory=list)
    last: dict[str, str] = field(default_factory=dict)
    python: list[str] = field(default_factory=lambda: [_PYTHON])
    stored: list[str] = field(default_factory=list)
    heads: dict[str, Head] = field(default_factory=dict)

    def view(self, name: str, kind: str = "MATERIALIZED VIEW") -> None:
        """Of anything that there is, in SQL or Python."""
        a, b = (self.random.choice(self.readable[-4:] + self.readable[:2]) for _ in range(2))
        number = self.random.randrange(3)
        if kind == "MATERIALIZED VIEW" and self.random.random() < 0.25:
            method = self.random.choice(_METHODS).format(b=b, number=number)
            given = head(self.random, expected=False).python()
            self.python.append(
                f"\n\n@dp.materialized_view({given})\ndef {name}():\n"
                f"    return spark.read.table('{a}').{method}.select('k', 'n', 'v')\n"
            )
        else:
            query = self.random.choice(QUERIES).format(a=a, b=b, number=number)
            made = self.heads[name] = head(self.random, stored=kind != "TEMPORARY VIEW")
            self.sql.append(f"CREATE {kind} {name} {made.sql(query)};")
        self.readable.append(name)
        if kind == "MATERIALIZED VIEW":
            self.stored.append(name)

    def stream(self, name: str, source: str) -> None:
        """A streaming table, of a flow with a name or without."""
        query = self.random.choice(_STREAMED).format(a=source, number=self.random.randrange(3))
        if self.random.random() < 0.5:
            made = self.heads[name] = head(self.random, extra=True)
            self.sql.append(f"CREATE STREAMING TABLE {name} {made.sql(query)};")
        else:
            self.sql.append(f"CREATE STREAMING TABLE {name};")
            self.sql.append(f"CREATE FLOW {name}_flow AS INSERT INTO {name} BY NAME {query};")
        self.readable.append(name)
        self.stored.append(name)

    def meeting(self, name: str, source: str) -> None:
        """A streaming table whose rows meet a table, or a materialized view."""
        b = self.random.choice([*self.readable[:2], self.readable[-1]])
        query = self.random.choice(_MEETING).format(a=source, b=b, number=self.random.randrange(3))
        made = self.heads[name] = head(self.random, extra=True)
        self.sql.append(f"CREATE STREAMING TABLE {name} {made.sql(query)};")
        self.readable.append(name)
        self.stored.append(name)

    def redraw(self) -> None:
        """Before a run: views at the end that come, go, or have another query."""
        for name in self.ends:
            if self.random.random() < 0.5:
                self.last.pop(name, None)
            if self.random.random() < 0.6:
                a, b = (self.random.choice(self.readable) for _ in range(2))
                query = self.random.choice(QUERIES).format(a=a, b=b, number=self.random.randrange(3))
                # what a table is partitioned by stays
                made = self.heads[name] = head(self.random, parted=False)
                self.last[name] = f"CREATE MATERIALIZED VIEW {name} {made.sql(query)};"

    def asked(self, run: int) -> tuple[Asked, list[str]]:
        """Of a run, and as options: all, or one of them anew. No stream reads it, nor does it meet a table:
        such rows would be others; and of a streaming table with partitions Spark leaves the old files there.
        """
        kept = {"s_one", "s_two", "s_met"}
        kept |= {name for name, made in self.heads.items() if name == "s_next" and made.partitions}
        anew = self.random.choice([one for one in self.tables if one not in kept])
        if not run or self.random.random() < 0.5:
            return Asked(), []
        others = [one for one in self.tables if one != anew]
        return Asked((anew,), refresh=others), ["--full-refresh", anew, "--refresh", ", ".join(others)]

    @property
    def tables(self) -> list[str]:
        """What a run makes now."""
        return [*self.stored, *self.last]

    def of_changes(self, name: str, source: str) -> None:
        """AUTO CDC: `n` is the sequence, whose values are of one event each."""
        deletes = self.random.choice(["", "APPLY AS DELETE WHEN v = 0 "])
        history = self.random.choice(["SCD TYPE 1", "SCD TYPE 2", "SCD TYPE 2 TRACK HISTORY ON (v)"])
        self.sql.append(
            f"CREATE STREAMING TABLE {name} FLOW AUTO CDC FROM STREAM {source} KEYS (k) {deletes}"
            f"SEQUENCE BY n STORED AS {history};"
        )
        self.readable.append(name)
        self.stored.append(name)

    def write(self, folder: Path) -> None:
        """Statements in any order, for us and for Spark."""
        self.random.shuffle(self.sql)
        text = "\n".join([*self.sql, *self.last.values()])
        for owner in ("ours", "theirs"):
            (folder / owner).mkdir(parents=True, exist_ok=True)
            (folder / owner / "drawn.sql").write_text(read_by(text, owner))
            (folder / owner / "drawn.py").write_text("".join(self.python))


def plain(random: Random, database: str) -> Definitions:
    """Streaming tables, temporary and materialized views.

    Each streaming table has one flow: of several into a table of files Spark keeps the rows of some only, as
    the log of its files takes the first batch of one for that of another; nor do tables in memory take two
    streams at once.
    """
    tables = [f"spark_catalog.{database}.{name}" for name in TABLES]
    streams = [f"spark_catalog.{database}.{name}" for name in STREAMS]
    made = Definitions(random, database, list(tables), ("l_0", "l_1"))
    made.stream("s_one", streams[0])
    made.stream("s_two", streams[1])
    made.stream("s_next", random.choice(["s_one", "s_two"]))
    made.view("t_view", "TEMPORARY VIEW")
    for number in range(5):
        made.view(f"m_{number}")
    made.meeting("s_met", random.choice([*streams, "s_one"]))
    return made


def changing(random: Random, database: str) -> Definitions:
    """Targets of AUTO CDC, and materialized views over them."""
    tables = [f"spark_catalog.{database}.{name}" for name in TABLES]
    made = Definitions(random, database, tables, ("z_0", "z_1"))
    for number, name in enumerate(STREAMS):
        made.of_changes(f"c_{number}", f"spark_catalog.{database}.{name}")
    made.view("u_view", "TEMPORARY VIEW")
    for number in range(3):
        made.view(f"w_{number}")
    return made


def change(random: Random, folder: Path, number: int, once: list[int]) -> None:
    """Files of sources: more of streams, more, others and fewer of tables. once: numbers that none has."""
    for name in STREAMS:
        taken = [once.pop() for _ in range(ROWS)]
        _write(folder / name / f"part-{number}.parquet", [(*_row(random)[::2], n) for n in taken])
    for name in TABLES:
        kind = random.choice(["more", "others", "fewer"]) if number else "more"
        at = number if kind == "more" else random.randrange(number)
        rows = [] if kind == "fewer" else [(row[0], row[2], row[1]) for row in map(_row, [random] * ROWS)]
        _write(folder / name / f"part-{at}.parquet", rows)


def _row(random: Random) -> tuple[str | None, int, int | None]:
    return random.choice(["a", "b", "c", None]), random.randrange(4), random.choice([None, 0, 1, 2, 3])


def _write(path: Path, rows: list[tuple]) -> None:
    """rows: of k, v and n. Of a stream of changes no key is NULL."""
    keys = ["d" if row[0] is None and path.parent.name in STREAMS else row[0] for row in rows]
    columns = [keys, [row[2] for row in rows], [row[1] for row in rows]]
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays = [pa.array(values, each.type) for values, each in zip(columns, SCHEMA, strict=True)]
    pq.write_table(pa.Table.from_arrays(arrays, schema=SCHEMA), path)
