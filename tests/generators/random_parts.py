"""Random parts of queries: expressions, conditions, aggregates, over the columns of a relation.

Nothing generated can raise: numbers are bounded, divisors are constants. Where rounding may depend on the
order of a sum, the column is marked and never compared, grouped by or joined on again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from dbsp.testing.choices import Choices, chance
from tests.generators.programs import Column


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


_LITERALS = {
    **{kind: ["0", "1", "2"] for kind in ("TINYINT", "SMALLINT", "INT", "BIGINT")},
    **{kind: ["0e0", "1.5e0", "-2.25e0"] for kind in ("FLOAT", "DOUBLE")},
    **{kind: ["0.00", "1.50", "-2.25"] for kind in ("DECIMAL(10,2)", "DECIMAL(20,2)")},
    "STRING": ["''", "'a'", "'ä'"],
    "DATE": ["DATE '2024-02-29'", "DATE '1970-01-01'"],
    "TIMESTAMP": ["TIMESTAMP '2024-02-29 10:00:00'", "TIMESTAMP '1970-01-01 00:00:00'"],
    "TIMESTAMP_NTZ": ["CAST(DATE '2024-02-29' AS TIMESTAMP_NTZ)"],
    "TIME": ["TIME '10:00:00'", "TIME '00:00:00'"],
    "BOOLEAN": ["true", "false"],
    "INTERVAL YEAR TO MONTH": ["INTERVAL '14' MONTH", "INTERVAL '0' MONTH"],
}
_LIMIT = 10**8
_INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")
ORDERED = (
    *_INTEGERS,
    "FLOAT",
    "DOUBLE",
    "DECIMAL(10,2)",
    "STRING",
    "DATE",
    "TIMESTAMP",
    "TIMESTAMP_NTZ",
    "TIME",
    "BOOLEAN",
    "INTERVAL YEAR TO MONTH",
)
_NUMBERS = (*_INTEGERS, "DOUBLE", "DECIMAL(10,2)")


class Parts:
    """Draws parts of one query. duckdb: whether all drawn so far has a spelling in DuckDB.

    python: whether functions in Python are called.
    """

    python = True

    def __init__(self, choices: Choices, relations: Sequence[Relation]) -> None:
        self.choices = choices
        self.relations = relations
        self.duckdb = True

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
        exact = [c for c in columns if c.exact and c.type in ORDERED]
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
        # the oracle's count_if is a macro, which takes no FILTER
        bare = drawn.text.endswith(")") and "CAST" not in drawn.text and "count_if" not in drawn.text
        if bare and chance(self.choices, 5):
            return replace(drawn, text=f"{drawn.text} FILTER (WHERE {self.condition(columns)})")
        return drawn

    def plain_aggregate(self, columns: Sequence[Column]) -> Expr:
        if self.python and chance(self.choices, 8) and (own := self.python_aggregates(columns)):
            return self.choices.choice(own)
        if chance(self.choices, 4):
            return self.rarer_aggregate(columns)
        function = self.choices.choice(["count(*)", "count", "sum", "min", "max", "avg"])
        ordered = [c for c in columns if c.type in ORDERED]
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
            data_type = number.type
            if function == "avg" or data_type == "DOUBLE":
                return Expr(f"{function}({number.name})", "DOUBLE", number.bound * 1000, exact=False)
            data_type = "DECIMAL(20,2)" if data_type.startswith("DECIMAL") else "BIGINT"
            return Expr(f"sum({number.name})", data_type, number.bound * 1000, number.exact)
        if function == "count":
            exact = [c for c in columns if c.exact and c.type in ORDERED]
            if exact and chance(self.choices, 3):
                return Expr(f"count(DISTINCT {self.choices.choice(exact).name})", "BIGINT", 1000)
            return Expr(f"count({self.choices.choice(columns).name})", "BIGINT", 1000)
        return Expr("count(*)", "BIGINT", 1000)

    def rarer_aggregate(self, columns: Sequence[Column]) -> Expr:
        integers = [c for c in columns if c.type in _INTEGERS and c.exact and c.bound <= 1000]
        booleans = self.of(columns, "BOOLEAN")
        options = [Expr(f"count_if(coalesce({self.condition(columns)}, false))", "BIGINT", 1000)]
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

    # --- functions in Python

    def python_aggregates(self, columns: Sequence[Column]) -> list[Expr]:
        """With a CAST, so that they get no FILTER: the oracles have them as several aggregates."""
        spreads = [
            Expr(f"CAST(py_spread({c.name}) AS BIGINT)", "BIGINT", c.bound * 2)
            for c in self.of(columns, "INT", "BIGINT")
            if c.exact
        ]
        known = [
            Expr(f"CAST(py_known({c.name}) AS BIGINT)", "BIGINT", 1000) for c in self.of(columns, "STRING")
        ]
        return spreads + known

    def python_calls(self, columns: Sequence[Column], c: Column) -> list[Expr]:
        """Of that column, and of another of its type."""
        if c.type == "STRING":
            return [Expr(f"py_mark({c.name})", "STRING")]
        if c.type not in ("INT", "BIGINT") or c.bound > 10**5:
            return []
        other = self.choices.choice([o for o in self.of(columns, c.type) if o.bound <= 10**5])
        summable, exact = c.summable and other.summable, c.exact and other.exact
        return [
            Expr(f"py_next({c.name})", "BIGINT", c.bound + 1, c.exact, c.summable),
            Expr(f"py_sum({c.name}, {other.name})", "BIGINT", c.bound + other.bound, exact, summable),
        ]

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
        if kind not in _LITERALS:
            return Expr(f"CAST(NULL AS {kind})", kind)
        return Expr(f"CAST({self.literal(kind)} AS {kind})", kind)

    def expression(self, columns: Sequence[Column]) -> Expr:
        """Half of the time a column, else something computed from columns."""
        c = self.choices.choice(columns)
        plain = Expr(c.name, c.type, c.bound, c.exact, c.summable)
        if self.choices.integer(0, 1) == 0:
            return plain
        if self.python and chance(self.choices, 5) and (own := self.python_calls(columns, c)):
            return self.choices.choice(own)
        if c.type in _INTEGERS:
            return self.integer(columns, c)
        if c.type == "BOOLEAN":
            return Expr(f"({self.condition(columns)})", "BOOLEAN")
        computed = {"DOUBLE": self.double, "STRING": self.string, "DATE": self.time, "TIMESTAMP": self.time}
        computed["INTERVAL YEAR TO MONTH"] = self.months
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

    def months(self, columns: Sequence[Column], c: Column) -> Expr:
        other = self.choices.choice(self.of(columns, c.type))
        options = [
            (c.type, f"{c.name} + {other.name}"),
            (c.type, f"{c.name} - INTERVAL '1' MONTH"),
            (c.type, f"greatest({c.name}, {other.name})"),
            (c.type, f"CASE WHEN {self.condition(columns)} THEN {c.name} ELSE {other.name} END"),
            ("DATE", f"CAST(DATE '2024-02-29' + {c.name} AS DATE)"),
            ("INT", f"CAST(extract(YEAR FROM {c.name}) AS INT)"),
        ]
        kind, text = self.choices.choice(options)
        return Expr(text, kind)

    def condition(self, columns: Sequence[Column], depth: int = 1) -> str:
        exact = [c for c in columns if c.exact and c.type in ORDERED]
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
        if self.python and c.type in ("INT", "BIGINT"):
            options.append(f"py_next({c.name}) {operator} {one}")
        text = self.choices.choice(options)
        if depth and chance(self.choices, 3):
            connective = self.choices.choice(["AND", "OR", "AND NOT"])
            return f"({text} {connective} ({self.condition(columns, depth - 1)}))"
        return text
