"""Rows that table functions make of each row: JSON_TABLE, UNNEST, chains of generators, documents."""

# ruff: noqa: E501  a query a line

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dbsp.testing.choices import chance
from tests.generators.programs import Column
from tests.generators.random_parts import ORDERED, Expr, Parts

Shape = tuple[str, tuple[Column, ...], int, str]
# a document that holds {c}, another column of the type {o} and, where {p} isn't, something else
_DOCUMENT = (
    "if({p}, to_json(array(named_struct('a', {c}, 'b', array({o}, {c})), named_struct('a', {o}, 'b', NULL))), "
    "CASE WHEN {c} IS NULL THEN '[{{\"a\": 1, \"b\": null}}, 3]' WHEN {c} = {o} THEN '{{\"a\": [1]' ELSE '{{}}' END)"
)
_JSON_COLUMNS = (
    ("n FOR ORDINALITY", "BIGINT"),
    ("a STRING PATH '$.a'", "STRING"),
    ("b {number} PATH '$.b[0]'", "{number}"),
    ("c BOOLEAN EXISTS PATH '$.b'", "BOOLEAN"),
    ("d STRING PATH '$.b'", "STRING"),
    ("e {number} PATH '$.a'", "{number}"),
)


def json_table(select: Parts) -> Shape:
    """JSON_TABLE of documents that are whole, broken and NULL."""
    choices, relation = select.choices, select.relation(4)
    able = [
        c for c in relation.columns if c.exact and c.type in ("INT", "BIGINT", "STRING", "DATE", "BOOLEAN")
    ]
    if not able:
        return select.everything()
    c = choices.choice(able)
    o, condition = choices.choice(select.of(able, c.type)), select.condition(relation.columns)
    document = _DOCUMENT.format(c=f"q.{c.name}", o=f"q.{o.name}", p=condition)
    # what isn't of a column's type fails
    number = "BIGINT" if c.type in ("INT", "BIGINT") else "STRING"
    known = [(text.format(number=number), kind.format(number=number)) for text, kind in _JSON_COLUMNS]
    drawn = [choices.choice(known) for _ in range(choices.integer(1, 3))]
    drawn = [each for i, each in enumerate(drawn) if each not in drawn[:i]]
    path = choices.choice(["$[*]", "$[*]", "$", "$[0].b[*]"])
    table = f"JSON_TABLE({document}, '{path}' COLUMNS ({', '.join(text for text, _ in drawn)}) NULL ON ERROR)"
    made = [Expr(f"u.{text.split()[0]}", kind, 10**6, summable=False) for text, kind in drawn]
    text, named = select.listed([Expr(f"q.{c.name}", c.type, c.bound, c.exact, c.summable), *made])
    join = choices.choice([", LATERAL", " JOIN LATERAL", " LEFT JOIN LATERAL"])
    on = " ON true" if "JOIN" in join and choices.integer(0, 1) else ""
    return f"SELECT {text} FROM {relation.name} q{join} {table} AS u{on}", named, relation.fanout * 4, ""


def unnest(select: Parts) -> Shape:
    """UNNEST, WITH ORDINALITY or not, of an array column or of one that is made."""
    choices, relation = select.choices, select.relation(4)
    c = choices.choice(relation.columns)
    o = choices.choice(select.of(relation.columns, c.type))
    array = f"array(q.{c.name}, q.{o.name}, NULL)"
    element = replace(c, bound=max(c.bound, o.bound), exact=c.exact and o.exact, summable=False)
    if arrays := select.of(relation.columns, "ARRAY<INT>"):
        array, element = f"q.{choices.choice(arrays).name}", Column("g", "INT")
    made = [Expr("u.g", element.type, element.bound, element.exact, False)]
    ordinality = choices.integer(0, 1)
    alias = "u(g)"
    if ordinality:
        alias = "u(g, place)"
        made.append(Expr("u.place", "INT", 10))
    more = [Expr(f"q.{x.name}", x.type, x.bound, x.exact, x.summable) for x in relation.columns[:1]]
    text, named = select.listed([*made, *more])
    source = (
        f"{relation.name} q, LATERAL UNNEST({array}){' WITH ORDINALITY' if ordinality else ''} AS {alias}"
    )
    where = f" WHERE u.place <> {choices.integer(0, 1)}" if ordinality and chance(choices, 3) else ""
    return f"SELECT {text} FROM {source}{where}", named, relation.fanout * 3, ""


def chain(select: Parts) -> Shape:
    """Generators one after another, the second of what the first made."""
    choices, relation = select.choices, select.relation(2)
    able = [c for c in relation.columns if c.exact and c.type in ORDERED]
    if not able:
        return select.everything()
    c = choices.choice(able)
    o, condition = choices.choice(select.of(able, c.type)), select.condition(relation.columns)
    first, kinds = choices.choice(
        [
            (f"explode(map('p', {c.name}, 'q', {o.name}))", ("STRING", c.type)),
            (f"explode_outer(if({condition}, map('p', {c.name}), NULL))", ("STRING", c.type)),
            (f"posexplode_outer(if({condition}, array({c.name}, {o.name}), array()))", ("INT", c.type)),
            (f"posexplode(map('p', {c.name}, 'q', {o.name}))", ("INT", "STRING", c.type)),
            (f"inline_outer(if({condition}, array(struct(1, {c.name}), NULL), NULL))", ("INT", c.type)),
            (f"stack(3, 1, {c.name}, 2, {o.name}, 3)", ("INT", c.type)),
            (f"inline(arrays_zip(array(1, 2), array({c.name}, {o.name})))", ("INT", c.type)),
        ]
    )
    names = [f"g{n}" for n in range(len(kinds))]
    last = names[-1]
    second = choices.choice(
        [f"explode(array({last}, {c.name}))", f"explode_outer(array_except(array({last}), array({o.name})))",
         f"explode(array_compact(array({last})))", f"explode(filter(array({last}, {o.name}), x -> x IS NOT NULL))"]
    )  # fmt: skip
    bound = max(c.bound, o.bound)
    made = [Expr(n, kind, bound, True, False) for n, kind in zip(names, kinds, strict=True)]
    made.append(Expr("last_", c.type, bound, True, False))
    outer = [choices.choice(["", "OUTER "]) for _ in range(2)]
    source = f"{relation.name} q LATERAL VIEW {outer[0]}{first} u AS {', '.join(names)} LATERAL VIEW {outer[1]}{second} w AS last_"
    columns = (*relation.columns, *(Column(e.text, e.type, True, bound, True, False) for e in made))
    text, named = select.listed(made)
    return f"SELECT {text} FROM {source}{select.where(columns)}", named, relation.fanout * 6, ""


def document(select: Parts) -> Shape:
    """Elements of variants, and of what from_json reads."""
    choices, relation = select.choices, select.relation(4)
    able = [c for c in relation.columns if c.exact and c.type in ("INT", "BIGINT", "STRING", "BOOLEAN")]
    if not able:
        return select.everything()
    c = choices.choice(able)
    o = choices.choice(select.of(able, c.type))
    text = f"to_json(named_struct('a', q.{c.name}, 'b', array(q.{o.name}, q.{c.name})))"
    call, made = choices.choice(
        [
            (f"variant_explode(parse_json({text}))", (("key", "STRING"), ("to_json(u.value)", "STRING"))),
            (f"variant_explode_outer(try_parse_json({text}):b)", (("pos", "INT"), ("u.value::STRING", "STRING"))),
            (f"explode(from_json({text}, 'b ARRAY<STRING>').b)", (("col", "STRING"),)),
            (f"explode(from_json({text}, 'MAP<STRING, STRING>'))", (("key", "STRING"), ("value", "STRING"))),
            (f"json_tuple({text}, 'b', 'a', 'z')", (("c0", "STRING"), ("c2", "STRING"))),
            (f"explode(json_object_keys({text}))", (("col", "STRING"),)),
        ]
    )  # fmt: skip
    listed = [Expr(name if "u." in name else f"u.{name}", kind, summable=False) for name, kind in made]
    texts, named = select.listed([*listed, Expr(f"q.{c.name}", c.type, c.bound, True, c.summable)])
    return f"SELECT {texts} FROM {relation.name} q, LATERAL {call} u", named, relation.fanout * 3, ""


SHAPES: tuple[Callable[[Parts], Shape], ...] = (json_table, unnest, chain, document)
