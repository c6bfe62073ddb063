"""Regular expressions match what Java's match, by Spark; what can't be told is refused by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.functions.library import find
from dbsp.circuits.functions.texts.regex.functions import searchable, translate
from dbsp.circuits.functions.texts.regex.scanner import Refused
from tests.effort import examples
from tests.generators.columns.texts import text_rows
from tests.generators.regexes import TEXTS, Regexes
from tests.oracles.against_spark import AgainstSpark

EXPRESSIONS = [
    "s rlike 'a+'",
    "s rlike '^a'",
    "s rlike 'a$'",
    "s rlike '^a.*c$|x'",
    "s rlike '.'",
    "s rlike '^.$'",
    r"s rlike '\\s'",
    r"s rlike '\\S'",
    r"s rlike '[\\W]'",
    "s rlike '(?i)HELLO|STRASSE|σ'",
    "s rlike '(?s)l.l'",
    "s rlike '[^a-z]'",
    r"s rlike '\\d{2,}'",
    r"s rlike '\\p{Punct}'",
    "s rlike '[[:alpha:]]'",
    r"s rlike '\\Qa.b\\E'",
    r"s rlike '\\u00e9'",
    r"s rlike '\\x{1F600}'",
    "s rlike 'a{2}'",
    "s rlike '(a|b)+c'",
    "s rlike ''",
    "s rlike 'line$'",
    r"s rlike 'line\\z'",
    r"s rlike 'line\\Z'",
    "s rlike '^$'",
    r"s rlike '[\\h]'",
    "s rlike '[-a]'",
    "s rlike '[a-]'",
    "s rlike '[]a]'",
    "s rlike '[^]]'",
    "s rlike 'a|'",
    "s rlike '(?i)[a-c]x'",
    r"regexp_extract(s,'(\\w+) (\\w+)',2)",
    r"regexp_extract(s,'(\\w+) (\\w+)',0)",
    "regexp_extract(s,'(a)|(b)',2)",
    "regexp_extract(s,'(&|^)channel_id=([^&]*)',2)",
    "regexp_extract(s,'([a-z]+)$',1)",
    "regexp_extract(s,'[a-z]+$',0)",
    "regexp_extract(s,'(.)(.)',1)",
    "regexp_extract(s,'(?<x>a)b?',1)",
    "regexp_extract(s,'a.*?b',0)",
    "regexp_extract_all(s,'([a-z])([0-9])?',2)",
    r"regexp_extract_all(s,'\\d+',0)",
    "regexp_replace(s,'a','b')",
    "regexp_replace(s,'(a)(.)','$2$1')",
    "regexp_replace(s,'(a)(.)','$12')",
    "regexp_replace(s,'[aeé😀]+','<$0>')",
    r"regexp_replace(s,'a','\\$x\\\\')",
    r"regexp_replace(s,'\\s+$','')",
    "regexp_replace(s,'e$','E')",
    "regexp_count(s,'a')",
    "regexp_instr(s,'b')",
    "regexp_instr(s,'[b😀]')",
    "split(s,',')",
    "split(s,'[,.]')",
    r"split(s,'\\.')",
    "split(s,'a',2)",
    "split(s,'')",
    "split(s,',',1)",
    "split(s,'[.]+',0)",
    "split(s,'😀|b')",
    # what RE2 lacks
    "s rlike '^(?=.*a)(?=.*b)[ab]+$'",
    "regexp_extract(s,'(?<=a)b+(?!c)',0)",
    "regexp_extract(s,'(?<![a-z ]|[.],)[a-z]',0)",
    r"regexp_replace(s,'(\\w)\\1+','$1')",
    r"regexp_extract(s,'(?i)(a)\\1',0)",
    "regexp_extract(s,'(?<c>[a-z])x\\\\k<c>',0)",
    "regexp_extract(s,'(?>a|ab)c',0)",
    "regexp_extract(s,'[a-z]++[0-9]*+',0)",
    r"regexp_extract_all(s,'\\b\\w',0)",
    r"split(s,'\\b')",
    r"regexp_replace(s,'\\B','-')",
    r"regexp_extract_all(s,'\\p{Lu}\\p{Ll}*',0)",
    r"regexp_extract_all(s,'\\P{L}',0)",
    r"regexp_extract_all(s,'\\R',0)",
    r"s rlike '(?m)^l\\w+$'",
    "regexp_replace(s,'(?m)$','|')",
    "regexp_extract_all(s,'[a-z&&[^aeiou]]+',0)",
    "regexp_extract_all(s,'[^a-z&&[^A-Z]]',0)",
    "regexp_extract(s,'(?x) a \\\\. # a dot\n b',0)",
    "regexp_extract(s,'(?iu)ὀδυσσεύσ',0)",
    r"regexp_extract(s,'\\x61\\0142?',0)",
    # what matches the empty text, and edges among several matches
    r"split(s,'\\|')",
    "split(s,'|')",
    "split(s,'(?=[A-Z])')",
    "split(s,'x*',3)",
    "split(s,'^a|,')",
    "split(s,'$')",
    "regexp_extract_all(s,'[0-9]*',0)",
    "regexp_extract_all(s,'a*?',0)",
    "regexp_replace(s,'x*','-')",
    "regexp_replace(s,'^ +| +$','')",
    "regexp_extract(s,'[.](com|o|c$)$',0)",
    "regexp_replace(s,'(b|$)','<$1>')",
    "regexp_count(s,'')",
    # from a character on
    "regexp_replace(s,'[a-z]','<$0>',3)",
    "regexp_replace(s,'^','>',2)",
    "regexp_replace(s,'$','<',2)",
    "regexp_replace(s,'a','b',100)",
    # not constant
    "s rlike p",
    "split(s,p)",
    "regexp_replace(s,'a',coalesce(p,''))",
    "regexp_extract_all(s,'(a)|(.)',coalesce(abs(k),0) % 3)",
    "split(s,'a',k)",
]


@pytest.mark.spark
def test_patterns(spark: Any) -> None:
    rows = text_rows(150)
    words = ["a²b", "½ x", "e\u0301 \u0301x", "𝐀𝐁 c", "①", "𝐀\u0301b"]
    more = rows.slice(0, len(words)).set_column(0, "s", pa.array(words))
    parts = pa.array([None if part == "%" else part for part in rows["p"].to_pylist()])
    rows = pa.Table.from_batches([rows.set_column(1, "p", parts), more]).combine_chunks().to_batches()[0]
    AgainstSpark(spark, rows).check(EXPRESSIONS)


def drawn(seed: int, count: int) -> Iterator[str]:
    """Of random patterns those that aren't refused: most."""
    patterns, taken = Regexes(seed), 0
    for _ in range(2 * count):
        pattern = patterns.pattern()
        try:
            searchable(pattern)
        except Refused:
            continue
        taken += 1
        yield pattern
        if taken == count:
            return
    raise AssertionError(f"only {taken} of {2 * count} patterns are not refused")


@pytest.mark.spark
@examples(2)
@given(seed=st.integers(0, 10_000))
def test_random_patterns(spark: Any, seed: int) -> None:
    """As columns, and what RE2 takes as constants, too."""
    patterns = list(drawn(seed, 80))
    rows = [
        (text, pattern, group) for pattern in patterns for text in TEXTS for group in certain_groups(pattern)
    ]
    columns = dict(zip("spg", map(list, zip(*rows, strict=True)), strict=True))
    schema = pa.schema([("s", pa.string()), ("p", pa.string()), ("g", pa.int32())])
    against = AgainstSpark(spark, pa.RecordBatch.from_pydict(columns, schema=schema))
    against.check(
        [
            "s rlike p",
            "regexp_instr(s, p)",
            "regexp_extract(s, p, g)",
            "regexp_extract_all(s, p, g)",
            "regexp_replace(s, p, '<$0>')",
            "regexp_replace(s, p, '<$0>', 2)",
            "split(s, p)",
            "split(s, p, 2)",
        ]
    )
    linear = [pattern for pattern in patterns if translate(pattern).linear is not None]
    assert linear
    text = pa.RecordBatch.from_pydict({"s": TEXTS})
    for pattern in linear:
        for name, arguments, data_type in CALLS:
            constant, column = (
                Call(name, (Column(0, pa.string()), each, *arguments), data_type)
                for each in (Literal(pattern, pa.string()), Column(1, pa.string()))
            )
            rows_of = text.append_column("p", pa.array([pattern] * len(TEXTS)))
            assert evaluate(constant, text).equals(evaluate(column, rows_of)), f"{name} of {pattern}"


def certain_groups(pattern: str) -> list[int]:
    parsed = translate(pattern).parsed
    return [group for group in range(parsed.groups + 1) if group not in parsed.uncertain]


ZERO, ALL, TEXT = Literal(0, pa.int32()), Literal(-1, pa.int32()), pa.string()
CALLS = [
    ("r_like", (), pa.bool_()),
    ("reg_exp_in_str", (ZERO,), pa.int32()),
    ("reg_exp_extract", (ZERO,), TEXT),
    ("reg_exp_replace", (Literal("<$0>", TEXT), Literal(1, pa.int32())), TEXT),
    ("string_split", (ALL,), pa.list_(TEXT)),
]


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(a\\1)", "a back-reference inside its own group"),
        ("\\2(a)(b)", "a back-reference to a group behind it"),
        ("(?!(a))\\1", "a back-reference to a group that a failed attempt"),
        ("(?<=a*)b", "look-behind of too many lengths"),
        (r"(?<=\R)b", r"\R in look-behind"),
        ("(|a){2}b", "the repetition of what is rather empty"),
        (r"\Ga", r"\G"),
        (r"\X", r"\X"),
        (r"\b{g}", r"\b{"),
        ("(?U)a", "the flags (?U)"),
        (r"\p{IsGreek}", r"the class \p{IsGreek}"),
        (r"(?i)\p{Lu}", r"the class \p{Lu} under (?i)"),
        ("[a&&]", "an intersection && without an operand"),
        ("[", "an unexpected end"),
        ("(", "an unclosed ("),
        (")", "an unmatched )"),
        ("*", "a dangling *"),
        ("a**", "a quantifier without an operand"),
        ("[z-a]", "an illegal character range"),
    ],
)
def test_refused_regular_expressions(pattern: str, reason: str) -> None:
    call = Call("r_like", (Column(0, pa.string()), Literal(pattern, pa.string())), pa.bool_())
    refusal = find("r_like").refuse(call)  # type: ignore[union-attr]
    assert refusal is not None
    assert refusal.startswith(reason)
    assert pattern in refusal


@pytest.mark.parametrize(
    ("function", "arguments", "reason"),
    [
        ("reg_exp_replace", ("x", "$1", 1), "the replacement '$1', which names no group"),
        ("reg_exp_replace", ("(?!(x))", "$1", 1), "group 1 of the regular expression '(?!(x))', whose text"),
        ("reg_exp_extract", ("x", 1), "group 1 of a regular expression with 0 groups"),
        ("r_like", ("(?=a)(a+)+b",), "the regular expression '(?=a)(a+)+b', which can take exponential"),
    ],
)
def test_refused_calls(function: str, arguments: tuple[object, ...], reason: str) -> None:
    literals = [Literal(each, pa.string() if isinstance(each, str) else pa.int32()) for each in arguments]
    call = Call(function, (Column(0, pa.string()), *literals), pa.string())
    assert (find(function).refuse(call) or "").startswith(reason)  # type: ignore[union-attr]


def test_a_pattern_of_a_column_that_is_wrong_names_its_row() -> None:
    rows = pa.RecordBatch.from_pydict({"s": ["a", "b"], "p": ["a", "b("]})
    call = Call("r_like", (Column(0, pa.string()), Column(1, pa.string())), pa.bool_())
    with pytest.raises(EvaluationError, match=r"s=b, p=b\(: .*PARAMETER_VALUE.PATTERN"):
        evaluate(call, rows)
