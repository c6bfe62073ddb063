"""Random heads of datasets: declared columns, partitions, comments, expectations.

What Spark's grammar doesn't know is marked: /*<*/ what we read /*=*/ what Spark reads in place of it /*>*/
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

TYPES = {"k": "STRING", "n": "BIGINT", "v": "BIGINT"}
EXTRA = "extra"  # a column that no flow has
_KINDS = {**TYPES, EXTRA: "DATE"}
_CONDITIONS = ("v > 1", "n IS NOT NULL AND n < 3", "k <> 'b'", "v + n > 2 /* ) */", "coalesce(v, 0) < 4")
_PARTITIONS = (["v"], ["n", "v"], ["n"], ["k"], ["v", "k"])
_MARKED = re.compile(r"/\*<\*/(.*?)/\*=\*/(.*?)/\*>\*/", re.DOTALL)


def read_by(text: str, owner: str) -> str:
    """A marked text as it is for 'ours' or 'theirs'."""
    return _MARKED.sub(lambda found: found[1 if owner == "ours" else 2], text)


@dataclass(frozen=True)
class Head:
    """columns: as declared, none where nothing is. dropped: expectations whose other rows are left out;
    counted: those whose rows stay; by their names the conditions.
    """

    columns: tuple[str, ...]
    partitions: tuple[str, ...]
    comment: str | None
    dropped: dict[str, str]
    counted: dict[str, str]

    def sql(self, query: str) -> str:
        """What follows the name."""
        clauses = [f"PARTITIONED BY ({', '.join(self.partitions)})"] if self.partitions else []
        clauses += [f"COMMENT '{self.comment}'"] if self.comment is not None else []
        return f"{self._listed()} {' '.join(clauses)} AS {self._kept(query)}"

    def _listed(self) -> str:
        kinds = [(self.dropped, " ON VIOLATION DROP ROW"), (self.counted, "")]
        listed = [
            f"CONSTRAINT {name} EXPECT ({condition}){violation}"
            for found, violation in kinds
            for name, condition in found.items()
        ]
        if not listed:
            return f"({', '.join(self.columns)})" if self.columns else ""
        said = ", ".join(listed)
        return (
            f"({', '.join(self.columns)}/*<*/, {said}/*=*//*>*/)"
            if self.columns
            else f"/*<*/({said})/*=*//*>*/"
        )

    def _kept(self, query: str) -> str:
        if not self.dropped:
            return query
        where = " AND ".join(f"({condition})" for condition in self.dropped.values())
        return f"/*<*//*=*/SELECT * FROM (/*>*/{query}/*<*//*=*/) WHERE {where}/*>*/"

    def python(self) -> str:
        """Arguments of a decorator."""
        given = {
            "schema": ", ".join(self.columns),
            "partition_cols": list(self.partitions),
            "comment": self.comment,
        }
        return ", ".join(f"{name}={value!r}" for name, value in given.items() if value)


def head(
    random: Random, *, extra: bool = False, stored: bool = True, parted: bool = True, expected: bool = True
) -> Head:
    """What may be drawn. extra: a declared column that no flow has. stored: what only a table has."""
    columns: list[str] = []
    partitions = random.choice(_PARTITIONS) if stored and parted and random.random() < 0.35 else []
    # of a table in Parquet Spark's run fails of partitions that aren't the last columns, in their order
    if partitions != list(TYPES)[len(TYPES) - len(partitions) :] or (stored and random.random() < 0.4):
        names = [name for name in TYPES if name not in partitions]
        if extra and random.random() < 0.4:
            names.append(EXTRA)
        random.shuffle(names)
        columns = [_column(random, name) for name in (*names, *partitions)]
        partitions = [column.split(" ")[0] for column in columns[len(names) :]]
    drawn = {f"e_{i}": random.choice(_CONDITIONS) for i in range(random.choice([0, 0, 1, 2]) * expected)}
    dropped = {name: condition for name, condition in drawn.items() if random.random() < 0.4}
    comment = random.choice([None, None, "one", "another"]) if stored else None
    counted = {name: condition for name, condition in drawn.items() if name not in dropped}
    return Head(tuple(columns), tuple(partitions), comment, dropped, counted)


def _column(random: Random, name: str) -> str:
    spelled = name.upper() if random.random() < 0.15 else name
    said = f" COMMENT '{name}, {random.choice(['first', 'second'])}'" if random.random() < 0.3 else ""
    return f"{spelled} {_KINDS[name]}{said}"
