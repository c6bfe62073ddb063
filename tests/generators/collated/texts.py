"""Parts of queries along collations.

Which of the texts that are equal stands for a group follows in Spark from where rows lie. So the texts of a group
are only compared by their collation, and shown as what they are equal to. What is shown else is a row's own.
"""

# ruff: noqa: E501  a query a line
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dbsp.testing.choices import Choices, chance
from tests.generators.collated.calls import LITERALS, MADE, OF_PARTS, OF_PATTERNS, OF_TEXTS, TEXT
from tests.generators.programs import Column
from tests.generators.random_parts import Expr, Relation
from tests.generators.values import COLLATIONS
from tests.generators.wide.programs import Wide

Shape = tuple[str, tuple[Column, ...], int, str]


@dataclass(frozen=True)
class Text:
    """sql: of that collation."""

    sql: str
    collation: str


class Collated(Wide):
    """Draws one query. kept: relations whose texts stand for others."""

    def __init__(
        self, choices: Choices, known: Sequence[Relation], kept: Sequence[Relation], shown: bool
    ) -> None:
        super().__init__(choices, known)
        self.kept, self.shown = kept, shown

    def source(self, fanout: int = 6) -> Relation:
        """Of rows, or now and then of groups."""
        able = [r for r in self.relations if r.fanout <= fanout and self.texts(r)]
        if self.kept and chance(self.choices, 3):
            return self.choices.choice(self.kept)
        return self.choices.choice(able)

    def texts(self, relation: Relation) -> list[Column]:
        return [
            c
            for c in relation.columns
            if c.type.startswith((TEXT, f"STRUCT<s: {TEXT}")) or c.type == "STRING"
        ]

    def text(
        self, relation: Relation, alias: str = "", collation: str = "", own: bool = False
    ) -> Text | None:
        """own: as it comes. Of a group's text nothing is made, so that there is none where it has another collation."""
        # a column of the select list may have the name of one below, and HAVING and QUALIFY see both
        prefix = f"{alias or relation.name}."
        named = [(f"{prefix}{c.name}{'.s' if c.type.startswith('STRUCT') else ''}", collation_of(c.type))
                 for c in self.texts(relation)]  # fmt: skip
        if relation in self.kept or own:
            able = [Text(name, known) for name, known in named if known and collation in ("", known)]
            return self.choices.choice(able) if able else None
        name, known = self.choices.choice(named)
        wanted = collation or (
            known if known and self.choices.integer(0, 2) else self.choices.choice(COLLATIONS)
        )
        made = Text(
            name if known == wanted and self.choices.integer(0, 2) else f"{name} COLLATE {wanted}", wanted
        )
        if chance(self.choices, 4):
            made = replace(made, sql=self.choices.choice(MADE).format(c=made.sql))
        return made

    def some(self, relation: Relation, alias: str = "") -> Text:
        found = self.text(relation, alias)
        assert found is not None
        return found

    def stands(self, text: Text) -> Expr:
        """What a group's text is equal to."""
        if self.shown:
            return Expr(f"CAST({text.sql} AS STRING)", "STRING", exact=False)
        forms = ("array_position(array('', 'A', 'Ä', 'ß', 'ss', 'b', 'B ', 'I'), {c})",
                 "CAST(CASE {c} WHEN 'ss' THEN 1 WHEN 'A' THEN 2 WHEN 'ä' THEN 3 WHEN 'b' THEN 4 ELSE 5 END AS BIGINT)")  # fmt: skip
        return Expr(self.choices.choice(forms).format(c=text.sql), "BIGINT", 10)

    def told(self, relation: Relation, alias: str = "") -> list[Expr]:
        """Some of what a row says: its own columns, and what they are by their collations."""
        prefix = f"{alias or relation.name}."
        listed = []
        for c in relation.columns:
            if relation in self.kept and collation_of(c.type):
                listed.append(self.stands(Text(f"{prefix}{c.name}", collation_of(c.type))))
            elif chance(self.choices, 2):
                listed.append(Expr(f"{prefix}{c.name}", c.type, c.bound, c.exact, c.summable))
        return listed or [Expr("1", "INT", 1)]

    def tested(self, relation: Relation, alias: str = "") -> str:
        """A condition of texts."""
        if not self.texts(relation):
            return "true"
        text = self.some(relation, alias)
        other = self.text(relation, alias, text.collation) or text
        literal = self.choices.choice(LITERALS)
        return self.choices.choice(
            [f"{text.sql} = {literal}", f"{text.sql} <> {other.sql}", f"{text.sql} <= {literal}",
             f"{text.sql} IN ('a', 'B', {literal})", f"{text.sql} IS NULL", f"NOT {text.sql} <=> {other.sql}"]
        )  # fmt: skip

    def filtered(self, relation: Relation) -> str:
        return f" WHERE {self.tested(relation)}" if chance(self.choices, 3) else ""

    def call(self, relation: Relation) -> Expr:
        text = self.some(relation)
        other = self.text(relation, collation=text.collation) or text
        able = [*OF_TEXTS, *OF_PARTS]
        able += OF_PATTERNS * 2 if text.collation in ("UTF8_BINARY", "UTF8_LCASE") else []
        kind, form = self.choices.choice(able)
        literal = self.choices.choice(LITERALS)
        return Expr(form.format(c=text.sql, o=other.sql, l=literal), kind, 10**6, True, False)

    def folded(self, relation: Relation) -> Expr:
        """An aggregate."""
        text = self.some(relation)
        numbers = [c.name for c in relation.columns if c.type in ("INT", "BIGINT") and c.bound <= 100]
        number = self.choices.choice([*numbers, "1"])
        c = text.sql
        # Spark's max and min of what has a collation keep no copy of it, and give what stands there later
        extreme = self.choice_of("max", "min")
        options = [
            Expr("count(*)", "BIGINT", 1000),
            Expr(f"count({c})", "BIGINT", 1000),
            Expr(f"count(DISTINCT {c})", "BIGINT", 1000),
            Expr(f"count(DISTINCT {c}, {number})", "BIGINT", 1000),
            Expr(f"count(DISTINCT {c}) FILTER (WHERE {self.tested(relation)})", "BIGINT", 1000),
            Expr(f"CAST(sum({number}) AS BIGINT)", "BIGINT", 10**5),
            Expr(f"count_if({self.tested(relation)})", "BIGINT", 1000),
            Expr(f"approx_count_distinct({c})", "BIGINT", 1000),
            Expr(f"size(collect_list(DISTINCT {c}))", "INT", 1000),
            Expr(f"size(array_distinct(collect_list({c})))", "INT", 1000),
            self.stands(Text(f"{extreme}(struct({c} AS x)).x", text.collation)),
            Expr(f"CAST({extreme}_by({number}, struct({c} AS x, {number} AS y)) AS BIGINT)", "BIGINT", 100),
            Expr(f"bool_or({c} < 'b')", "BOOLEAN"),
        ]
        return self.choices.choice(options)

    def choice_of(self, *options: str) -> str:
        return self.choices.choice(options)

    def shape(self, made: Sequence[Expr], source: str, fanout: int) -> Shape:
        text, named = self.listed(made)
        return f"SELECT {text} FROM {source}", named, fanout, ""


def collation_of(kind: str) -> str:
    """Of a text, or of the one in a struct."""
    return kind.partition(TEXT)[2].partition(",")[0] if kind.startswith((TEXT, "STRUCT<s: ")) else ""
