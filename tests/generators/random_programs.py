"""Random programs: tables, and views over tables and views, that Spark SQL and DuckDB read alike."""

from __future__ import annotations

from dataclasses import replace

from dbsp.testing.choices import Choices, chance
from tests.generators.programs import Column, Program, Table, View
from tests.generators.random_joins import as_of, join
from tests.generators.random_over import over
from tests.generators.random_parts import ORDERED, Expr, Parts, Relation

_COLUMNS = {
    "k": "BIGINT",
    "i": "INT",
    "s": "STRING",
    "d": "DOUBLE",
    "m": "DECIMAL(10,2)",
    "ts": "TIMESTAMP",
    "dt": "DATE",
    "b": "BOOLEAN",
    "j": "INT",
}
_RARE = {
    "f": "FLOAT",
    "h": "SMALLINT",
    "n": "TIMESTAMP_NTZ",
    "x": "BINARY",
    "y": "INTERVAL YEAR TO MONTH",
    "a": "ARRAY<INT>",
    "o": "STRUCT<x: INT, y: STRING>",
}


def draw_table(choices: Choices, name: str) -> Table:
    names = ["k"] + [n for n in list(_COLUMNS)[1:] if choices.integer(0, 1)]
    names += [n for n in _RARE if chance(choices, 12)]
    kind = choices.choice(["bag", "bag", "keyed", "append"])
    key: tuple[str, ...] = ()
    if kind == "keyed":
        key = ("k", "s") if "s" in names and chance(choices, 3) else ("k",)
    columns = tuple(
        Column(n, {**_COLUMNS, **_RARE}[n], nullable=n not in key and not chance(choices, 4)) for n in names
    )
    return Table(name, columns, key, append_only=kind == "append")


def draw_program(choices: Choices, views: int = 4) -> Program:
    """One to three tables, one to `views` views."""
    tables = tuple(draw_table(choices, f"t{n}") for n in range(choices.integer(1, 3)))
    relations = [Relation(t.name, t.columns) for t in tables]
    drawn = []
    for n in range(choices.integer(1, views)):
        view, relation = Select(choices, relations).view(f"v{n}")
        relations.append(relation)
        drawn.append(view)
    # the last view is always an output, so that there is one
    drawn = [replace(v, local=v is not drawn[-1] and chance(choices, 5)) for v in drawn]
    return Program(tables, tuple(drawn))


class Select(Parts):
    """Draws one query over the relations so far."""

    def view(self, name: str) -> tuple[View, Relation]:
        shapes = [self.project, self.group, self.join, self.distinct, self.union, self.semi, self.everything]
        shapes += [self.explode, self.over, self.set_operation, self.scalar, self.as_of]
        if any(self.of(r.columns, "TIMESTAMP") for r in self.relations):
            shapes += [self.window, self.session]
        if chance(self.choices, 12) and (pairs := self.pairs()):
            return self.recursive(name, self.choices.choice(pairs))
        query, columns, fanout, duckdb = self.choices.choice(shapes)()
        return View(name, query, duckdb if self.duckdb else None), Relation(name, columns, fanout)

    def relation(self, fanout: int = 12) -> Relation:
        """Later relations twice as often as tables, so that views stand on views."""
        small = [r for r in self.relations if r.fanout <= fanout]
        return self.choices.choice([*small, *small[1:]])

    # --- recursion: along pairs of columns of one type

    def pairs(self) -> list[tuple[str, Column, Column]]:
        kinds = ("BIGINT", "INT", "STRING", "DATE", "BOOLEAN")
        alike = [
            (relation.name, a, b)
            for relation in self.relations
            for a in relation.columns
            for b in relation.columns
            if a.type == b.type and a.type in kinds and a.exact and b.exact
        ]
        return [pair for pair in alike if pair[1] is not pair[2]] or alike

    @staticmethod
    def alike(left: Relation, right: Relation) -> list[tuple[Column, Column]]:
        """A column of either that can be compared exactly."""
        return [
            (a, b)
            for a in left.columns
            for b in right.columns
            if a.exact and b.exact and a.type == b.type and a.type in ORDERED
        ]

    def recursive(self, name: str, pair: tuple[str, Column, Column]) -> tuple[View, Relation]:
        """The transitive closure of the pairs as a recursive view, or walks of three rows by levels."""
        relation, a, b = pair
        x = replace(a, name="x", nullable=True, bound=max(a.bound, b.bound))
        if self.choices.integer(0, 1):
            query = (
                f"SELECT {a.name} AS x, {b.name} AS y FROM {relation} UNION "
                f"SELECT r.x, q.{b.name} FROM {name} r JOIN {relation} q ON r.y = q.{a.name}"
            )
            duckdb = f"WITH RECURSIVE {name}(x, y) AS ({query}) SELECT x, y FROM {name}"
            view = View(name, query, duckdb, recursive=f"x {a.type}, y {a.type}")
            return view, Relation(name, (x, replace(x, name="y")))
        walks = (
            f"WITH RECURSIVE r(x, n) AS (SELECT {a.name}, 0 FROM {relation} UNION ALL SELECT q.y, r.n + 1 "
            f"FROM r JOIN (SELECT DISTINCT {a.name} AS x, {b.name} AS y FROM {relation}) q ON r.x = q.x "
            "WHERE r.n < 2) SELECT x, n FROM r"
        )
        return View(name, walks, walks), Relation(name, (x, Column("n", "INT", bound=2)), fanout=6)

    # --- shapes: (query, columns, fanout, query in DuckDB)

    def project(self) -> tuple[str, tuple[Column, ...], int, str]:
        relation = self.relation()
        expressions = [self.expression(relation.columns) for _ in range(self.choices.integer(1, 4))]
        text, columns = self.listed(expressions)
        query = f"SELECT {text} FROM {relation.name}{self.where(relation.columns)}"
        return query, columns, relation.fanout, query

    def everything(self) -> tuple[str, tuple[Column, ...], int, str]:
        relation = self.relation()
        query = f"SELECT * FROM {relation.name}{self.where(relation.columns)}"
        return query, relation.columns, relation.fanout, query

    def group(self) -> tuple[str, tuple[Column, ...], int, str]:
        relation = self.relation()
        source = relation.name
        if chance(self.choices, 4):
            source = f"(SELECT * FROM {relation.name}{self.where(relation.columns)}) q"
        keys = self.keys(relation.columns, 2)
        expressions = keys + self.aggregates(relation.columns)
        text, columns = self.listed(expressions)
        query = f"SELECT {text} FROM {source}{self.where(relation.columns)}"
        if keys:
            query += f" GROUP BY {', '.join(key.text for key in keys)}"
        query += self.having(relation.columns)
        return query, columns, 1, query

    def window(self) -> tuple[str, tuple[Column, ...], int, str]:
        relation = self.choices.choice([r for r in self.relations if self.of(r.columns, "TIMESTAMP")])
        time = self.choices.choice(self.of(relation.columns, "TIMESTAMP"))
        length, slide, start = self.choices.choice(
            [(10, 10, 0), (10, 5, 0), (10, 10, 3), (15, 5, 1), (60, 60, 0)]
        )
        if slide == length:
            spans = (
                f"'{length} minutes'"
                if not start
                else f"'{length} minutes', '{length} minutes', '{start} minutes'"
            )
        else:
            spans = f"'{length} minutes', '{slide} minutes'" + (f", '{start} minutes'" if start else "")
        keys = self.keys(relation.columns, 1)
        edges = [
            Expr("window.start", "TIMESTAMP", duckdb="window_start"),
            Expr("window.end", "TIMESTAMP", duckdb=f"window_start + INTERVAL '{length}' MINUTE"),
        ]
        expressions = edges[: self.choices.integer(1, 2)] + keys + self.aggregates(relation.columns)
        where = self.where(relation.columns)
        having = self.having(relation.columns)
        text, columns = self.listed(expressions)
        by = ", ".join([f"window({time.name}, {spans})", *(key.text for key in keys)])
        query = f"SELECT {text} FROM {relation.name}{where} GROUP BY {by}{having}"
        there, _ = self.listed(expressions, duckdb=True)
        by = ", ".join(["window_start", *(key.text for key in keys)])
        starts = f"unnest(window_starts({time.name}, {length}, {slide}, {start})) AS window_start"
        duckdb = (
            f"SELECT {there} FROM (SELECT *, {starts} FROM {relation.name}) q{where} GROUP BY {by}{having}"
        )
        return query, columns, 1, duckdb

    def session(self) -> tuple[str, tuple[Column, ...], int, str]:
        relation = self.choices.choice([r for r in self.relations if self.of(r.columns, "TIMESTAMP")])
        time = self.choices.choice(self.of(relation.columns, "TIMESTAMP")).name
        gap = self.choices.choice([1, 20, 60])
        keys = self.keys(relation.columns, 1)
        edges = [
            Expr("session_window.start", "TIMESTAMP", duckdb="session_start"),
            Expr("session_window.end", "TIMESTAMP", duckdb="session_end"),
        ]
        expressions = edges[: self.choices.integer(1, 2)] + keys + self.aggregates(relation.columns)
        where = self.where(relation.columns)
        having = self.having(relation.columns)
        text, columns = self.listed(expressions)
        texts = [key.text for key in keys]
        by = ", ".join([f"session_window({time}, '{gap} minutes')", *texts])
        query = f"SELECT {text} FROM {relation.name}{where} GROUP BY {by}{having}"
        # numbered by how many rows before it, and itself, come later than the gap after the one before
        there, _ = self.listed(expressions, duckdb=True)
        partition = "".join(f"{key}, " for key in texts)
        rows = f"SELECT * FROM (SELECT * FROM {relation.name}{where}) q WHERE {time} IS NOT NULL"
        until = f"OVER (PARTITION BY {partition}true ORDER BY {time})"
        apart = f"coalesce({time} > INTERVAL '{gap}' MINUTE + lag({time}) {until}, true)"
        opens = f"SELECT *, CAST({apart} AS INT) AS opens FROM ({rows}) q"
        numbered = f"SELECT *, sum(opens) {until} AS number FROM ({opens}) q"
        spans = (
            f"SELECT *, min({time}) OVER alike AS session_start, "
            f"max({time}) OVER alike + INTERVAL '{gap}' MINUTE AS session_end FROM ({numbered}) q "
            f"WINDOW alike AS (PARTITION BY {partition}number)"
        )
        by = ", ".join(["session_start", "session_end", *texts])
        return query, columns, 1, f"SELECT {there} FROM ({spans}) q GROUP BY {by}{having}"

    def distinct(self) -> tuple[str, tuple[Column, ...], int, str]:
        relation = self.relation()
        expressions = [e for e in (self.expression(relation.columns) for _ in range(3)) if e.exact]
        text, columns = self.listed(expressions or [Expr("1", "INT", 1)])
        query = f"SELECT DISTINCT {text} FROM {relation.name}{self.where(relation.columns)}"
        return query, columns, 1, query

    def union(self) -> tuple[str, tuple[Column, ...], int, str]:
        left, right = self.relation(6), self.relation(6)
        mine = [self.expression(left.columns) for _ in range(self.choices.integer(1, 3))]
        yours = [self.typed(right.columns, e.type) for e in mine]
        texts = [self.listed(side)[0] for side in (mine, yours)]
        both = [
            replace(
                a, bound=max(a.bound, b.bound), exact=a.exact and b.exact, summable=a.summable and b.summable
            )
            for a, b in zip(mine, yours, strict=True)
        ]
        distinct = all(e.exact for e in both) and chance(self.choices, 4)
        union = "UNION" if distinct else "UNION ALL"
        query = (
            f"SELECT {texts[0]} FROM {left.name}{self.where(left.columns)}"
            f" {union} SELECT {texts[1]} FROM {right.name}{self.where(right.columns)}"
        )
        if chance(self.choices, 4):
            query = f"SELECT * FROM ({query}) q"
        return query, self.listed(both)[1], left.fanout + right.fanout, query

    def set_operation(self) -> tuple[str, tuple[Column, ...], int, str]:
        left, right = self.relation(6), self.relation(6)
        able = [c for c in left.columns if c.exact and c.type in ORDERED]
        if not able:
            return self.everything()
        mine = [
            Expr(c.name, c.type, c.bound, summable=c.summable)
            for c in (self.choices.choice(able) for _ in range(self.choices.integer(1, 2)))
        ]
        yours = [self.typed([c for c in right.columns if c.exact], e.type) for e in mine]
        operator = self.choices.choice(["INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL"])
        text, columns = self.listed(mine)
        query = (
            f"SELECT {text} FROM {left.name}{self.where(left.columns)}"
            f" {operator} SELECT {self.listed(yours)[0]} FROM {right.name}{self.where(right.columns)}"
        )
        return query, columns, left.fanout, query

    def scalar(self) -> tuple[str, tuple[Column, ...], int, str]:
        """A scalar sub-query as a value, or compared with a column."""
        left, right = self.relation(), self.relation()
        pairs = self.alike(left, right)
        if not pairs:
            return self.everything()
        a, b = self.choices.choice(pairs)
        function = self.choices.choice(["min", "max"])
        value = f"(SELECT {function}({b.name}) FROM {right.name}{self.where(right.columns)})"
        expressions = [self.expression(left.columns) for _ in range(self.choices.integer(1, 2))]
        if self.choices.integer(0, 1):
            expressions.append(Expr(value, b.type, b.bound, b.exact, b.summable))
            text, columns = self.listed(expressions)
            query = f"SELECT {text} FROM {left.name}{self.where(left.columns)}"
        else:
            text, columns = self.listed(expressions)
            operator = self.choices.choice(["=", "<", ">=", "<>"])
            query = f"SELECT {text} FROM {left.name} WHERE {a.name} {operator} {value}"
        return query, columns, left.fanout, query

    def semi(self) -> tuple[str, tuple[Column, ...], int, str]:
        left, right = self.relation(), self.relation()
        pairs = self.alike(left, right)
        if not pairs:
            return self.everything()
        a, b = self.choices.choice(pairs)
        text, columns = self.listed(
            [self.expression(left.columns) for _ in range(self.choices.integer(1, 3))]
        )
        query = f"SELECT {text} FROM {left.name} WHERE {self.membership(left, right, a, b)}"
        return query, columns, left.fanout, query

    def membership(self, left: Relation, right: Relation, a: Column, b: Column) -> str:
        """Whether column a of a left row is among columns b of the right."""
        wanted = f"SELECT {b.name} FROM {right.name}{self.where(right.columns)}"
        outer = tuple(replace(c, name=f"{left.name}.{c.name}") for c in left.columns)
        inner = tuple(replace(c, name=f"r.{c.name}") for c in right.columns)
        tests = [f"r.{b.name} = {left.name}.{a.name}"]
        if left.name != right.name and chance(self.choices, 3):
            tests.append(self.condition(outer + inner))
        exists = f"EXISTS (SELECT 1 FROM {right.name} r WHERE {' AND '.join(tests)})"
        return self.choices.choice(
            [
                f"{a.name} IN ({wanted})",
                f"{a.name} NOT IN ({wanted})",
                exists,
                f"NOT {exists}",
                f"{self.condition(left.columns)} OR {a.name} IN ({wanted})",
                f"{self.condition(left.columns)} OR NOT {exists}",
            ]
        )

    def join(self) -> tuple[str, tuple[Column, ...], int, str]:
        return join(self)

    def as_of(self) -> tuple[str, tuple[Column, ...], int, str]:
        return as_of(self)

    def over(self) -> tuple[str, tuple[Column, ...], int, str]:
        return over(self)

    def explode(self) -> tuple[str, tuple[Column, ...], int, str]:
        """Of an array column, or of one made of two columns of a type."""
        relation = self.relation(6)
        arrays = self.of(relation.columns, "ARRAY<INT>")
        one = self.choices.choice(relation.columns)
        other = self.choices.choice(self.of(relation.columns, one.type))
        spark, duckdb = f"array({one.name}, {other.name})", f"[{one.name}, {other.name}]"
        made = replace(one, name="g", bound=max(one.bound, other.bound), exact=one.exact and other.exact)
        made = replace(made, summable=one.summable and other.summable)
        if arrays and self.choices.integer(0, 1):
            spark = duckdb = self.choices.choice(arrays).name
            made = Column("g", "INT")
        columns = (*relation.columns, made)
        more = [self.expression(columns) for _ in range(self.choices.integer(0, 2))]
        text, named = self.listed([Expr("g", made.type, made.bound, made.exact, made.summable), *more])
        where = self.where(columns)
        query = f"SELECT {text} FROM (SELECT *, explode({spark}) AS g FROM {relation.name}) q{where}"
        there = f"SELECT {text} FROM (SELECT *, unnest({duckdb}) AS g FROM {relation.name}) q{where}"
        return query, named, relation.fanout * 2, there
