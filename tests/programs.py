"""Random programs: tables, and views over tables and views, that Spark SQL and DuckDB read alike.

Nothing generated can raise: numbers are bounded, divisors are constants. Where rounding may depend on the
order of a sum, the column is marked and never compared, grouped by or joined on again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from tests.values import Choices, chance


@dataclass(frozen=True)
class Column:
    """bound: the largest magnitude of a number. exact: not rounded. summable: can't cancel in a sum."""

    name: str
    type: str
    nullable: bool = True
    bound: int = 100
    exact: bool = True
    summable: bool = True


@dataclass(frozen=True)
class Table:
    """key: the PRIMARY KEY's columns; without it, a bag."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    append_only: bool = False

    @property
    def ddl(self) -> str:
        columns = [f"{c.name} {c.type}{'' if c.nullable else ' NOT NULL'}" for c in self.columns]
        if self.key:
            columns.append(f"PRIMARY KEY ({', '.join(self.key)})")
        options = " WITH (append_only = true)" if self.append_only else ""
        return f"CREATE TABLE {self.name} ({', '.join(columns)}){options};"


@dataclass(frozen=True)
class View:
    """duckdb: the query in DuckDB's spelling; None where it has none that means the same.

    recursive: the declared columns of a recursive view. emission: TRIGGER or EMIT.
    """

    name: str
    query: str
    duckdb: str | None
    local: bool = False
    recursive: str = ""
    emission: str = ""

    @property
    def ddl(self) -> str:
        kind = ("LOCAL " if self.local else "") + ("RECURSIVE " if self.recursive else "")
        columns = f" ({self.recursive})" if self.recursive else ""
        emission = f" {self.emission}" if self.emission else ""
        return f"CREATE {kind}VIEW {self.name}{columns} AS {self.query}{emission};"


@dataclass(frozen=True)
class Program:
    tables: tuple[Table, ...]
    views: tuple[View, ...]

    @property
    def text(self) -> str:
        items: tuple[Table | View, ...] = (*self.tables, *self.views)
        return "\n".join(item.ddl for item in items) + "\n"

    @property
    def outputs(self) -> tuple[str, ...]:
        return tuple(view.name for view in self.views if not view.local)

    @property
    def in_duckdb(self) -> bool:
        return all(view.duckdb is not None for view in self.views)

    def table(self, name: str) -> Table:
        return next(table for table in self.tables if table.name == name)


def program(tables: Iterable[Table], **views: str) -> Program:
    """A program by hand, of queries that read the same in both dialects."""
    return Program(tuple(tables), tuple(View(name, query, query) for name, query in views.items()))


def table(name: str, columns: str, key: Sequence[str] = (), append_only: bool = False) -> Table:
    """A table by hand: `table("t", "k BIGINT NOT NULL, s STRING")`."""
    parsed = []
    for text in columns.split(", "):
        column, kind = text.split(" ", 1)
        required = kind.endswith(" NOT NULL") or column in key
        parsed.append(Column(column, kind.removesuffix(" NOT NULL"), not required))
    return Table(name, tuple(parsed), tuple(key), append_only)


@dataclass(frozen=True)
class Relation:
    """Something to select from. fanout: how many joins and hops multiply its rows."""

    name: str
    columns: tuple[Column, ...]
    fanout: int = 1


@dataclass(frozen=True)
class Expr:
    text: str
    type: str
    bound: int = 100
    exact: bool = True
    summable: bool = True
    duckdb: str | None = field(default=None)


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
    "a": "ARRAY<INT>",
    "o": "STRUCT<x: INT, y: STRING>",
}
_LITERALS = {
    **{kind: ["0", "1", "2"] for kind in ("TINYINT", "SMALLINT", "INT", "BIGINT")},
    **{kind: ["0e0", "1.5e0", "-2.25e0"] for kind in ("FLOAT", "DOUBLE")},
    **{kind: ["0.00", "1.50", "-2.25"] for kind in ("DECIMAL(10,2)", "DECIMAL(20,2)")},
    "STRING": ["''", "'a'", "'ä'"],
    "DATE": ["DATE '2024-02-29'", "DATE '1970-01-01'"],
    "TIMESTAMP": ["TIMESTAMP '2024-02-29 10:00:00'", "TIMESTAMP '1970-01-01 00:00:00'"],
    "TIMESTAMP_NTZ": ["CAST(DATE '2024-02-29' AS TIMESTAMP_NTZ)"],
    "BOOLEAN": ["true", "false"],
}
_LIMIT = 10**8
_INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_ORDERED = (
    *_INTEGERS,
    "FLOAT",
    "DOUBLE",
    "DECIMAL(10,2)",
    "STRING",
    "DATE",
    "TIMESTAMP",
    "TIMESTAMP_NTZ",
    "BOOLEAN",
)
_NUMBERS = (*_INTEGERS, "DOUBLE", "DECIMAL(10,2)")


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
        view, relation = _Select(choices, relations).view(f"v{n}")
        relations.append(relation)
        drawn.append(view)
    # the last view is always an output, so that there is one
    drawn = [replace(v, local=v is not drawn[-1] and chance(choices, 5)) for v in drawn]
    return Program(tables, tuple(drawn))


class _Select:
    """Draws one query over the relations so far."""

    def __init__(self, choices: Choices, relations: Sequence[Relation]) -> None:
        self.choices = choices
        self.relations = relations
        self.duckdb = True

    def view(self, name: str) -> tuple[View, Relation]:
        shapes = [self.project, self.group, self.join, self.distinct, self.union, self.semi, self.everything]
        shapes += [self.explode, self.over, self.set_operation, self.scalar]
        if any(self.of(r.columns, "TIMESTAMP") for r in self.relations):
            shapes.append(self.window)
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
        able = [c for c in left.columns if c.exact and c.type in _ORDERED]
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
        pairs = [
            (a, b)
            for a in left.columns
            for b in right.columns
            if a.exact and b.exact and a.type == b.type and a.type in _ORDERED
        ]
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
        pairs = [
            (a, b)
            for a in left.columns
            for b in right.columns
            if a.exact and b.exact and a.type == b.type and a.type in _ORDERED
        ]
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
        left, right = self.relation(3), self.relation(3)
        sides = [
            tuple(replace(c, name=f"{alias}.{c.name}") for c in r.columns)
            for alias, r in (("l", left), ("r", right))
        ]
        pairs = [
            (a, b)
            for a in sides[0]
            for b in sides[1]
            if a.exact and b.exact and self.comparable(a.type, b.type) and a.type in _ORDERED
        ]
        if not pairs:
            return self.everything()
        tests = []
        for _ in range(self.choices.integer(1, 2)):
            a, b = self.choices.choice(pairs)
            operator = "IS NOT DISTINCT FROM" if chance(self.choices, 6) else "="
            tests.append(f"{a.name} {operator} {b.name}")
        columns = sides[0] + sides[1]
        kind = self.choices.choice(["JOIN", "JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
        if chance(self.choices, 3):
            tests.append(self.condition(columns))
        expressions = [self.expression(columns) for _ in range(self.choices.integer(1, 4))]
        text, named = self.listed(expressions)
        query = (
            f"SELECT {text} FROM {left.name} l {kind} {right.name} r ON {' AND '.join(dict.fromkeys(tests))}"
            f"{self.where(columns)}"
        )
        return query, named, left.fanout * right.fanout * 3, query

    def over(self) -> tuple[str, tuple[Column, ...], int, str]:
        from tests.programs_over import over  # noqa: PLC0415  it draws with this class

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

    # --- parts of a query

    def listed(self, expressions: Sequence[Expr], duckdb: bool = False) -> tuple[str, tuple[Column, ...]]:
        """The select list, and what it makes: columns c0, c1, ..."""
        texts, columns = [], []
        for n, e in enumerate(expressions):
            texts.append(f"{e.duckdb if duckdb and e.duckdb else e.text} AS c{n}")
            columns.append(Column(f"c{n}", e.type, True, e.bound, e.exact, e.summable))
        return ", ".join(texts), tuple(columns)

    def where(self, columns: Sequence[Column]) -> str:
        return f" WHERE {self.condition(columns)}" if chance(self.choices, 3) else ""

    def having(self, columns: Sequence[Column]) -> str:
        if not chance(self.choices, 4):
            return ""
        exact = [c for c in columns if c.exact and c.type in _ORDERED]
        if not exact or self.choices.integer(0, 1):
            return f" HAVING count(*) > {self.choices.integer(0, 2)}"
        column = self.choices.choice(exact)
        return f" HAVING max({column.name}) >= {self.literal(column.type)} OR min({column.name}) IS NULL"

    def keys(self, columns: Sequence[Column], most: int) -> list[Expr]:
        drawn = [self.expression(columns) for _ in range(self.choices.integer(0, most))]
        # a constant key would be a position in the select list
        return [e for e in drawn if e.exact and any(c.name in e.text for c in columns)]

    def aggregates(self, columns: Sequence[Column]) -> list[Expr]:
        return [self.aggregate(columns) for _ in range(self.choices.integer(1, 3))]

    def aggregate(self, columns: Sequence[Column]) -> Expr:
        drawn = self.plain_aggregate(columns)
        if drawn.text.endswith(")") and "CAST" not in drawn.text and chance(self.choices, 5):
            return replace(drawn, text=f"{drawn.text} FILTER (WHERE {self.condition(columns)})")
        return drawn

    def plain_aggregate(self, columns: Sequence[Column]) -> Expr:
        if chance(self.choices, 4):
            return self.rarer_aggregate(columns)
        function = self.choices.choice(["count(*)", "count", "sum", "min", "max", "avg"])
        ordered = [c for c in columns if c.type in _ORDERED]
        numbers = [c for c in columns if c.type in _NUMBERS and c.summable and c.bound * 1000 < _LIMIT]
        if function in ("min", "max") and ordered:
            c = self.choices.choice(ordered)
            return Expr(f"{function}({c.name})", c.type, c.bound, c.exact, c.summable)
        if function in ("sum", "avg") and numbers:
            number = self.choices.choice(numbers)
            if function == "avg" and number.type.startswith("DECIMAL"):
                # Spark's average of decimals is a decimal, DuckDB's a double
                return Expr(
                    f"CAST(sum({number.name}) AS DECIMAL(20,2))", "DECIMAL(20,2)", number.bound * 1000
                )
            kind = number.type
            if function == "avg" or kind == "DOUBLE":
                return Expr(f"{function}({number.name})", "DOUBLE", number.bound * 1000, exact=False)
            kind = "DECIMAL(20,2)" if kind.startswith("DECIMAL") else "BIGINT"
            return Expr(f"sum({number.name})", kind, number.bound * 1000, number.exact)
        if function == "count":
            exact = [c for c in columns if c.exact and c.type in _ORDERED]
            if exact and chance(self.choices, 3):
                return Expr(f"count(DISTINCT {self.choices.choice(exact).name})", "BIGINT", 1000)
            return Expr(f"count({self.choices.choice(columns).name})", "BIGINT", 1000)
        return Expr("count(*)", "BIGINT", 1000)

    def rarer_aggregate(self, columns: Sequence[Column]) -> Expr:
        integers = [c for c in columns if c.type in _INTEGERS and c.exact and c.bound <= 1000]
        booleans = self.of(columns, "BOOLEAN")
        options = [Expr(f"count_if({self.condition(columns)})", "BIGINT", 1000)]
        if booleans:
            name = self.choices.choice(booleans).name
            options += [Expr(f"bool_and({name})", "BOOLEAN"), Expr(f"bool_or({name})", "BOOLEAN")]
        if integers:
            c, other = self.choices.choice(integers), self.choices.choice(integers)
            function = self.choices.choice(["var_pop", "var_samp", "stddev_pop", "stddev_samp"])
            distinct = self.choices.choice(["", "DISTINCT "])
            spread, together = c.bound**2, c.bound * other.bound
            options += [
                Expr(f"{self.choices.choice(['bit_and', 'bit_or', 'bit_xor'])}({c.name})", c.type, 2048),
                Expr(f"{function}({distinct}{c.name})", "DOUBLE", spread, exact=False, summable=False),
                Expr(f"covar_pop({c.name}, {other.name})", "DOUBLE", together, exact=False, summable=False),
                Expr(f"sum(DISTINCT {c.name})", "BIGINT", c.bound * 1000),
                Expr(f"median({c.name})", "DOUBLE", c.bound, exact=False),
                Expr(f"max_by({c.name}, {c.name})", c.type, c.bound),
                Expr(f"avg(DISTINCT {c.name})", "DOUBLE", c.bound * 1000, exact=False),
            ]
        return self.choices.choice(options)

    # --- expressions

    def of(self, columns: Sequence[Column], *types: str) -> list[Column]:
        return [c for c in columns if c.type in types]

    def comparable(self, a: str, b: str) -> bool:
        return a == b or (a in _INTEGERS and b in _INTEGERS)

    def literal(self, kind: str) -> str:
        return self.choices.choice(_LITERALS[kind])

    def typed(self, columns: Sequence[Column], kind: str) -> Expr:
        """Some expression of that very type."""
        fitting = self.of(columns, kind)
        if fitting:
            c = self.choices.choice(fitting)
            return Expr(c.name, kind, c.bound, c.exact, c.summable)
        if kind in ("BINARY", "ARRAY<INT>", "STRUCT<x: INT, y: STRING>"):
            return Expr(f"CAST(NULL AS {kind})", kind)
        return Expr(f"CAST({self.literal(kind)} AS {kind})", kind)

    def expression(self, columns: Sequence[Column]) -> Expr:
        """Half of the time a column, else something computed from columns."""
        c = self.choices.choice(columns)
        plain = Expr(c.name, c.type, c.bound, c.exact, c.summable)
        if self.choices.integer(0, 1) == 0:
            return plain
        if c.type in _INTEGERS:
            return self.integer(columns, c)
        if c.type == "BOOLEAN":
            return Expr(f"({self.condition(columns)})", "BOOLEAN")
        computed = {"DOUBLE": self.double, "STRING": self.string, "DATE": self.time, "TIMESTAMP": self.time}
        if c.type.startswith("DECIMAL"):
            return self.decimal(columns, c)
        return computed[c.type](columns, c) if c.type in computed else plain

    def integer(self, columns: Sequence[Column], c: Column) -> Expr:
        choices, n = self.choices, c.name
        other = choices.choice(self.of(columns, c.type))
        total, product = c.bound + other.bound, c.bound * other.bound
        options = [
            Expr(f"coalesce({n}, {other.name}, 1)", c.type, total),
            Expr(f"CASE WHEN {self.condition(columns)} THEN {n} ELSE {other.name} END", c.type, total),
            Expr(f"CASE WHEN {self.condition(columns)} THEN {n} END", c.type, c.bound),
            Expr(f"nullif({n}, {other.name})", c.type, c.bound),
            Expr(f"CAST({n} AS DOUBLE)", "DOUBLE", c.bound),
            Expr(f"CAST({n} AS STRING)", "STRING"),
            Expr(f"{n} / 2", "DOUBLE", c.bound),
        ]
        if c.type in ("INT", "BIGINT") and product < _LIMIT:
            options += [
                Expr(f"{n} + {other.name}", c.type, total),
                Expr(f"{n} - {other.name}", c.type, total),
                Expr(f"{n} * {other.name}", c.type, product),
                Expr(f"-{n}", c.type, c.bound),
                Expr(f"abs({n} - 2)", c.type, c.bound + 2),
                Expr(f"{n} % 3", c.type, 3),
                Expr(f"greatest({n}, {other.name})", c.type, total),
                Expr(f"CAST({n} AS BIGINT)", "BIGINT", c.bound),
            ]
        drawn = choices.choice(options)
        return replace(drawn, exact=c.exact and other.exact, summable=c.summable and other.summable)

    def double(self, columns: Sequence[Column], c: Column) -> Expr:
        other = self.choices.choice(self.of(columns, "DOUBLE"))
        both = c.summable and other.summable
        drawn, summable = self.choices.choice(
            [
                (f"{c.name} + 1.5e0", c.summable),
                (f"{c.name} * 2e0", c.summable),
                (f"{c.name} / 4e0", c.summable),
                (f"coalesce({c.name}, 1.5e0)", c.summable),
                (f"CASE WHEN {self.condition(columns)} THEN {c.name} ELSE {other.name} END", both),
                (f"{c.name} - {other.name}", False),
                (f"-{c.name}", False),
                (f"abs({c.name})", c.summable),
                (f"{c.name} * {other.name}", False),
            ]
        )
        return Expr(drawn, "DOUBLE", c.bound + other.bound, c.exact and other.exact, summable)

    def decimal(self, columns: Sequence[Column], c: Column) -> Expr:
        other = self.choices.choice(self.of(columns, c.type))
        if c.type != "DECIMAL(10,2)" or c.bound + other.bound > 10**5:
            return Expr(c.name, c.type, c.bound, c.exact, c.summable)
        texts = [
            f"{c.name} + {other.name}",
            f"{c.name} - {other.name}",
            f"-{c.name}",
            f"coalesce({c.name}, 1.50)",
            f"CASE WHEN {self.condition(columns)} THEN {c.name} ELSE {other.name} END",
        ]
        text = f"CAST({self.choices.choice(texts)} AS DECIMAL(10,2))"
        return Expr(text, c.type, c.bound + other.bound, c.exact and other.exact)

    def string(self, columns: Sequence[Column], c: Column) -> Expr:
        other = self.choices.choice(self.of(columns, "STRING"))
        kind, text = self.choices.choice(
            [
                ("STRING", f"upper({c.name})"),
                ("STRING", f"{c.name} || {other.name}"),
                ("STRING", f"coalesce({c.name}, {other.name}, 'b')"),
                ("STRING", f"substring({c.name}, 1, 1)"),
                ("STRING", f"replace({c.name}, 'a', 'ä')"),
                ("STRING", f"trim({c.name} || ' ')"),
                ("STRING", f"CASE WHEN {self.condition(columns)} THEN {c.name} ELSE 'b' END"),
                ("INT", f"CAST(length({c.name}) AS INT)"),
            ]
        )
        return Expr(text, kind)

    def time(self, columns: Sequence[Column], c: Column) -> Expr:
        if c.type == "DATE":
            options = [
                ("DATE", f"CAST({c.name} + INTERVAL '1' DAY AS DATE)"),
                ("INT", f"CAST(year({c.name}) AS INT)"),
                ("INT", f"CAST(day({c.name}) AS INT)"),
                ("TIMESTAMP", f"CAST({c.name} AS TIMESTAMP)"),
            ]
        else:
            options = [
                ("TIMESTAMP", f"{c.name} + INTERVAL '10' MINUTE"),
                ("TIMESTAMP", f"CAST(date_trunc('hour', {c.name}) AS TIMESTAMP)"),
                ("INT", f"CAST(hour({c.name}) AS INT)"),
                ("DATE", f"CAST({c.name} AS DATE)"),
            ]
        kind, text = self.choices.choice(options)
        return Expr(text, kind, 10000)

    def condition(self, columns: Sequence[Column], depth: int = 1) -> str:
        exact = [c for c in columns if c.exact and c.type in _ORDERED]
        if not exact:
            return f"{columns[0].name} IS NOT NULL"
        c = self.choices.choice(exact)
        others = [o for o in exact if o is not c and self.comparable(c.type, o.type)]
        operator = self.choices.choice(["=", "<", ">=", "<>", ">", "<="])
        one, two = self.literal(c.type), self.literal(c.type)
        options = [
            f"{c.name} {operator} {one}",
            f"{c.name} IS NOT NULL",
            f"{c.name} IN ({one}, {two})",
            f"{c.name} NOT BETWEEN {one} AND {two}",
            f"{c.name} IS NULL",
        ]
        if others:
            other = self.choices.choice(others)
            options += [f"{c.name} {operator} {other.name}", f"{c.name} IS DISTINCT FROM {other.name}"]
        if c.type == "STRING":
            options += [f"{c.name} LIKE 'a%'", f"{c.name} LIKE '_'"]
        if c.type == "BOOLEAN":
            options.append(c.name)
        text = self.choices.choice(options)
        if depth and chance(self.choices, 3):
            connective = self.choices.choice(["AND", "OR", "AND NOT"])
            return f"({text} {connective} ({self.condition(columns, depth - 1)}))"
        return text
