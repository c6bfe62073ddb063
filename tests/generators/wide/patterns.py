"""Patterns that are columns, and regular expressions that only Java matches."""

from __future__ import annotations

from collections.abc import Sequence

from dbsp.testing.choices import Choices
from tests.generators.programs import Column
from tests.generators.random_parts import Expr
from tests.generators.regexes import Regexes

# what is called with a pattern {r}, a constant or a column; {c} is a text
OF_REGEXES = (
    ("STRING", "regexp_replace({c}, {r}, '<$0>')"),
    ("STRING", "regexp_replace({c}, {r}, {o2})"),
    ("STRING", "regexp_replace({c}, {r}, '.', 2)"),
    ("STRING", "array_join(regexp_extract_all({c}, {r}, 0), '|', '?')"),
    ("STRING", "regexp_extract({c}, {r}, 0)"),
    ("STRING", "regexp_substr({c}, {r})"),
    ("INT", "regexp_count({c}, {r})"),
    ("INT", "regexp_instr({c}, {r})"),
    ("STRING", "array_join(split({c}, {r}), '|', '?')"),
    ("STRING", "array_join(split({c}, {r}, 2), '|')"),
    ("BOOLEAN", "{c} RLIKE {r}"),
)
# of a column's own values as patterns: no special characters are among them
OF_COLUMNS = (
    ("BOOLEAN", "{c} LIKE concat('%', {o}, '_')"),
    ("BOOLEAN", "{c} NOT ILIKE ANY (upper({o}), 'B%', concat({o}, '%'))"),
    ("BOOLEAN", "{c} LIKE concat('!', '%', {o}) ESCAPE '!'"),
    ("STRING", "to_json(str_to_map({c} || {o}, coalesce({o}, 'b'), 'x'))"),
    ("INT", "locate({o}, {c} || 'ab', 2)"),
    ("STRING", "split_part({c} || 'a' || {o}, 'a', -1)"),
    ("STRING", "substring_index({c} || 'b' || {o}, coalesce(nullif({o}, ''), 'b'), 2)"),
    ("STRING", "trim(BOTH {o} FROM {c})"),
    ("STRING", "replace({c}, {o}, '-')"),
    ("STRING", "lpad({c}, 4, coalesce(nullif({o}, ''), '.'))"),
)
OF_TIMES = (
    ("STRING", "date_format({c}, {f})"),
    ("STRING", "to_char({c}, {f})"),
    ("TIMESTAMP", "date_trunc({u}, {c})"),
    ("DATE", "trunc({c}, {u})"),
    ("STRING", "from_csv(date_format({c}, 'yyyy-MM-dd'), 'd DATE').d::STRING"),
)
_FORMATS = ("'yyyy-MM-dd'", "'HH:mm:ss.SSS'", "'yyyy D'", "'EEEE MMM'", "'yy/M/d H'", "'QQQ yyyy'", "NULL")
_UNITS = ("'YEAR'", "'week'", "'mon'", "'quarter'", "'no unit'", "'HOUR'", "NULL")


def of_texts(choices: Choices, columns: Sequence[Column], condition: str) -> Expr:
    """columns: of texts, not none."""
    c, other = choices.choice(columns).name, choices.choice(columns).name
    if choices.integer(0, 2) == 0:
        kind, template = choices.choice(OF_COLUMNS)
        return Expr(template.replace("{c}", c).replace("{o}", other), kind, 10**6, summable=False)
    one, two = _regex(choices), _regex(choices)
    pattern = choices.choice(
        [one, one, f"if({condition}, {one}, {two})", f"CASE WHEN {condition} THEN {one} END"]
    )
    kind, template = choices.choice(OF_REGEXES)
    longer = choices.choice([c, f"concat({c}, 'a\\nab', {other})", f"({c} || {c} || 'ba')"])
    text = (
        template.replace("{c}", longer)
        .replace("{o2}", f"translate({other}, '$\\\\', '')")
        .replace("{r}", pattern)
    )
    return Expr(text, kind, 10**6, summable=False)


def of_times(choices: Choices, columns: Sequence[Column], condition: str) -> Expr:
    """columns: of times or dates, not none."""
    c = choices.choice(columns).name
    kind, template = choices.choice(OF_TIMES)
    text = template.replace("{c}", c)
    for name, known in (("{f}", _FORMATS), ("{u}", _UNITS)):
        drawn = f"if({condition}, {choices.choice(known)}, {choices.choice(known)})"
        text = text.replace(name, choices.choice([drawn, choices.choice(known)]))
    return Expr(text, kind, 10**6, summable=False)


def _regex(choices: Choices) -> str:
    """As a literal in which a backslash is one."""
    return f"r'{Regexes(choices.integer(0, 10**6)).pattern()}'"
