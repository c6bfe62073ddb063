"""Random uses of NOW() over random tables: conditions, values that change; and random views over those."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from dbsp.testing.choices import Choices, chance
from tests.generators.programs import Column, Program, Table, View
from tests.generators.random_parts import Relation
from tests.generators.random_programs import Select, draw_table

START = datetime(2024, 2, 29, 9, 45, tzinfo=UTC)
# what the clock does between two steps: boundaries of rows lie where it stops, and in between
_ADVANCES = [
    timedelta(0),
    timedelta(minutes=5),
    timedelta(minutes=5),
    timedelta(minutes=10),
    timedelta(microseconds=1),
    timedelta(hours=1),
    timedelta(hours=14),
    timedelta(days=3),
]


def draw_clocks(choices: Choices, steps: int) -> list[datetime]:
    """A clock for each step; it may stand still."""
    clock, found = START, []
    for _ in range(steps):
        clock += choices.choice(_ADVANCES)
        found.append(clock)
    return found


def draw_temporal_program(choices: Choices) -> Program:
    """One or two tables with times, views of what is visible now, and ordinary views over all of them."""
    tables = tuple(_with_times(draw_table(choices, f"t{n}")) for n in range(choices.integer(1, 2)))
    relations = [Relation(t.name, t.columns) for t in tables]
    views = []
    for n in range(choices.integer(2, 4)):
        select = _Temporal(choices, relations)
        timed = n == 0 or chance(choices, 3)
        view, relation = select.temporal(f"v{n}") if timed else select.view(f"v{n}")
        relations.append(relation)
        views.append(view)
    return Program(tables, tuple(replace(v, local=v is not views[-1] and chance(choices, 5)) for v in views))


def _with_times(table: Table) -> Table:
    there = {column.name for column in table.columns}
    more = [c for c in (Column("ts", "TIMESTAMP"), Column("until", "TIMESTAMP")) if c.name not in there]
    return replace(table, columns=(*table.columns, *more))


class _Temporal(Select):
    """Draws queries with conditions on the clock."""

    python = False

    def temporal(self, name: str) -> tuple[View, Relation]:
        query, columns, fanout, duckdb = self.choices.choice(
            [self.visible, self.visible, self.latest, self.pairs_, self.aged, self.counted, self.matched]
        )()
        return View(name, query, duckdb if self.duckdb else None), Relation(name, columns, fanout)

    def timed(self) -> Relation:
        return self.choices.choice([r for r in self.relations if self.of(r.columns, "TIMESTAMP")])

    def visible(self) -> tuple[str, tuple[Column, ...], int, str]:
        relation = self.timed()
        tests = [self.phased(relation.columns) for _ in range(self.choices.integer(1, 2))]
        if chance(self.choices, 3):
            tests.append(f"({self.condition(relation.columns)})")
        query = f"SELECT * FROM {relation.name} WHERE {' AND '.join(tests)}"
        return query, relation.columns, relation.fanout, query

    def aged(self) -> tuple[str, tuple[Column, ...], int, str]:
        """Rows with a value that says how old they are."""
        relation = self.timed()
        time = self.choices.choice(self.of(relation.columns, "TIMESTAMP")).name
        first, second = self.on_clock(relation.columns), self.phased(relation.columns)
        forms = [
            (f"CASE WHEN {first} THEN 'new' WHEN {second} THEN 'newer' END", "STRING"),
            (f"({second})", "BOOLEAN"),
            (f"datediff(current_date(), CAST({time} AS DATE))", "INT"),
            ("hour(now())", "INT"),
        ]
        at = self.choices.integer(0, len(forms) - 1)
        form, data_type = forms[at]
        inner = f"date_diff('day', CAST({time} AS DATE), current_date())::INT" if at == 2 else form
        key = self.choice_of_key(relation)
        columns = (replace(key, name="c0"), Column("c1", data_type), Column("c2", "TIMESTAMP"))
        texts = [
            f"SELECT {key.name} AS c0, {f} AS c1, {time} AS c2 FROM {relation.name}" for f in (form, inner)
        ]
        return texts[0], columns, relation.fanout, texts[1]

    def counted(self) -> tuple[str, tuple[Column, ...], int, str]:
        """How many rows of each group are visible; and maybe groups that change with the clock."""
        relation = self.timed()
        key = self.choice_of_key(relation)
        test, group = self.phased(relation.columns), key.name
        columns = (replace(key, name="c0"), Column("c1", "BIGINT", False), Column("c2", "TIMESTAMP"))
        if chance(self.choices, 3):
            group, columns = f"({self.phased(relation.columns)})", (Column("c0", "BOOLEAN"), *columns[1:])
        time = self.choices.choice(self.of(relation.columns, "TIMESTAMP")).name
        query = (
            f"SELECT {group} AS c0, count(*) FILTER (WHERE {test}) AS c1, max({time}) AS c2 "
            f"FROM {relation.name} GROUP BY {group}"
        )
        return query, columns, 1, query

    def matched(self) -> tuple[str, tuple[Column, ...], int, str]:
        """Rows beside those that match at the time, of one side or of both."""
        left, right = self.timed(), self.timed()
        key = [(a, b) for a, b in self.alike(left, right) if a.type != "DOUBLE"]
        a, b = self.choices.choice(key)
        mine, other = (
            [replace(c, name=f"{side}.{c.name}") for c in self.of(relation.columns, "TIMESTAMP")]
            for side, relation in (("l", left), ("r", right))
        )
        both = Column(f"greatest({mine[0].name}, {other[0].name})", "TIMESTAMP")
        test = self.phased(self.choices.choice([mine, other, [both]]))
        kind = self.choices.choice(["LEFT", "RIGHT", "FULL", "LEFT"])
        query = (
            f"SELECT l.{a.name} AS c0, r.{b.name} AS c1, {mine[0].name} AS c2 "
            f"FROM {left.name} l {kind} JOIN {right.name} r ON l.{a.name} = r.{b.name} AND {test}"
        )
        columns = (
            replace(a, name="c0", nullable=True),
            replace(b, name="c1", nullable=True),
            Column("c2", "TIMESTAMP"),
        )
        return query, columns, left.fanout * right.fanout * 3, query

    def latest(self) -> tuple[str, tuple[Column, ...], int, str]:
        """Groups whose greatest or least time is visible."""
        relation = self.timed()
        time = self.choices.choice(self.of(relation.columns, "TIMESTAMP")).name
        function = self.choices.choice(["min", "max"])
        key = self.choice_of_key(relation)
        query = (
            f"SELECT {key.name} AS c0, count(*) AS c1, {function}({time}) AS c2 FROM {relation.name} "
            f"GROUP BY {key.name} HAVING {self.on_clock([Column(f'{function}({time})', 'TIMESTAMP')])}"
        )
        columns = (replace(key, name="c0"), Column("c1", "BIGINT"), Column("c2", "TIMESTAMP"))
        return query, columns, 1, query

    def choice_of_key(self, relation: Relation) -> Column:
        exact = [
            c for c in relation.columns if c.exact and c.type in ("BIGINT", "INT", "STRING", "TIMESTAMP")
        ]
        return self.choices.choice(exact)

    def pairs_(self) -> tuple[str, tuple[Column, ...], int, str]:
        """Pairs that are visible together: the condition reads both sides."""
        left, right = self.timed(), self.timed()
        key = [(a, b) for a, b in self.alike(left, right) if a.type != "DOUBLE"]
        a, b = self.choices.choice(key)
        times = [
            Column(
                f"greatest(l.{self.choices.choice(self.of(left.columns, 'TIMESTAMP')).name}, r.ts)",
                "TIMESTAMP",
            ),
            Column("r.ts", "TIMESTAMP"),
        ]
        if not any(c.name == "ts" for c in right.columns):
            times = [Column(f"l.{self.of(left.columns, 'TIMESTAMP')[0].name}", "TIMESTAMP")]
        kind = self.choices.choice(["JOIN", "LEFT JOIN"])
        where = "WHERE" if kind == "LEFT JOIN" or self.choices.integer(0, 1) else "AND"
        on = f"l.{a.name} = r.{b.name} {where} {self.on_clock(times)}"
        query = (
            f"SELECT l.{a.name} AS c0, r.{b.name} AS c1, {times[0].name} AS c2 "
            f"FROM {left.name} l {kind} {right.name} r ON {on}"
        )
        columns = (replace(a, name="c0"), replace(b, name="c1", nullable=True), Column("c2", "TIMESTAMP"))
        return query, columns, left.fanout * right.fanout * 3, query

    def phased(self, columns: object) -> str:
        """A condition that the clock makes true and false, maybe more than once."""
        columns = list(columns)  # type: ignore[call-overload]
        form = self.choices.integer(0, 6)
        one = self.on_clock(columns)
        if form == 0:
            return f"({one} OR {self.on_clock(columns)})"
        if form == 1:
            return f"NOT ({one} AND {self.on_clock(columns)})"
        time = self.choices.choice(self.of(columns, "TIMESTAMP")).name
        operator = self.choices.choice(["<", "<=", ">", ">="])
        if form == 2:
            sign, months = self.choices.choice("+-"), self.choices.integer(1, 2)
            return f"{time} {operator} now() {sign} INTERVAL '{months}' MONTH"
        if form == 3:
            return f"hour({time}) {self.choices.choice([operator, '='])} hour(now())"
        return one

    def on_clock(self, columns: object) -> str:
        """A condition on NOW(), in one of its spellings."""
        columns = list(columns)  # type: ignore[call-overload]
        times = [c.name for c in self.of(columns, "TIMESTAMP")]
        t, u = self.choices.choice(times), self.choices.choice(times)
        operator = self.choices.choice(["<", "<=", ">", ">="])
        shift = f"INTERVAL '{self.choices.choice([0, 5, 10, 60, 1440])}' MINUTE"
        forms = [
            f"{t} {operator} now() - {shift}",
            f"{t} {operator} now() + {shift}",
            f"{t} + {shift} {operator} now()",
            f"now() {operator} {t}",
            f"{t} BETWEEN now() - {shift} AND now()",
            f"now() BETWEEN {t} AND {u}",
            f"now() - {t} {operator} {shift}",
            f"{t} - now() {operator} {shift}",
            f"CAST({t} AS DATE) = current_date()",
            f"CAST({t} AS DATE) {operator} current_date() - {self.choices.integer(0, 2)}",
            f"date_trunc('HOUR', {t}) = date_trunc('HOUR', now())",
            f"{t} = now() - {shift}",
        ]
        dates = [c.name for c in self.of(columns, "DATE")]
        if dates:
            forms.append(f"{self.choices.choice(dates)} {operator} current_date()")
        return self.choices.choice(forms)
