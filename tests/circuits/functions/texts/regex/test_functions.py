"""Regular expressions match what Java's match, by Spark; what RE2 can't match is Spark's to evaluate."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.functions.library import find
from dbsp.circuits.functions.texts.regex.functions import translate
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


def drawn(seed: int, count: int) -> list[str]:
    """Of random patterns those that RE2 takes."""
    patterns, taken = Regexes(seed), []
    for _ in range(20 * count):
        pattern = patterns.pattern()
        with suppress(Refused):
            translate(pattern)
            taken.append(pattern)
        if len(taken) == count:
            return taken
    raise AssertionError(f"only {len(taken)} of {20 * count} patterns have a form")


@pytest.mark.spark
@examples(2)
@given(seed=st.integers(0, 10_000))
def test_random_patterns(spark: Any, seed: int) -> None:
    """Ours of each as a constant; to Spark they are a column."""
    patterns = list(dict.fromkeys(drawn(seed, 80)))
    columns = {"s": TEXTS * len(patterns), "p": [pattern for pattern in patterns for _ in TEXTS]}
    theirs = AgainstSpark(spark, pa.RecordBatch.from_pydict(columns)).spark_values(
        [text for text, *_ in CALLS]
    )
    rows, covered = pa.RecordBatch.from_pydict({"s": TEXTS}), Counter[str]()
    for at, pattern in enumerate(patterns):
        for column, (text, name, arguments, data_type) in zip(theirs.columns, CALLS, strict=True):
            call = Call(name, (Column(0, TEXT), Literal(pattern, TEXT), *arguments), data_type)
            if find(name).refuse(call) is None:  # type: ignore[union-attr]
                covered[name] += 1
                wanted = column.slice(at * len(TEXTS), len(TEXTS)).to_pylist()
                assert evaluate(call, rows).to_pylist() == wanted, f"{text} of {pattern}"
    assert len(covered) == len(CALLS)


ZERO, ALL, TEXT = Literal(0, pa.int32()), Literal(-1, pa.int32()), pa.string()
CALLS = [
    ("s rlike p", "r_like", (), pa.bool_()),
    ("regexp_instr(s, p)", "reg_exp_in_str", (ZERO,), pa.int32()),
    ("regexp_extract(s, p, 0)", "reg_exp_extract", (ZERO,), TEXT),
    (
        "regexp_replace(s, p, '<a>')",
        "reg_exp_replace",
        (Literal("<a>", TEXT), Literal(1, pa.int32())),
        TEXT,
    ),
    ("split(s, p)", "string_split", (ALL,), pa.list_(TEXT)),
]


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(a)\\1", "\\1"),
        ("(?<=a*)b", "look-around"),
        ("(?>a)b", "look-around, or a group that gives nothing back"),
        ("a++", "a quantifier without an operand, or one that gives nothing back"),
        (r"\Ga", r"\G"),
        (r"\b{g}", r"\b"),
        (r"\R", r"\R"),
        ("(?U)a", "the flags (?U)"),
        ("(?m)^", "the flags (?m)"),
        (r"\p{IsGreek}", r"the class \p{IsGreek}"),
        (r"\p{Lu}", r"the class \p{Lu}"),
        ("[a&&]", "an intersection && without an operand"),
        ("[", "an unexpected end"),
        ("(", "an unclosed ("),
        (")", "an unmatched )"),
        ("*", "a dangling *"),
        ("[z-a]", "an illegal character range"),
        ("(a*)*", "the regular expression '(a*)*', for which RE2 has no form"),
    ],
)
def test_what_is_sparks(pattern: str, reason: str) -> None:
    call = Call("r_like", (Column(0, pa.string()), Literal(pattern, pa.string())), pa.bool_())
    refusal = find("r_like").refuse(call)  # type: ignore[union-attr]
    assert refusal is not None
    assert refusal.startswith(reason)
    assert pattern in refusal


@pytest.mark.parametrize(
    ("function", "arguments", "reason"),
    [
        ("reg_exp_replace", ("x", "$1", 1), "the replacement '$1', which names no group"),
        ("reg_exp_replace", ("x*", "a", 1), "the regular expression 'x*', whose matches RE2 finds elsewhere"),
        ("reg_exp_replace", ("x", "a", 2), "the regular expression 'x', whose matches RE2 finds elsewhere"),
        ("reg_exp_replace", ("x$", "$0", 1), "the replacement '$0', for which RE2 has no form"),
        ("reg_exp_extract", ("x", 1), "group 1 of a regular expression with 0 groups"),
        ("reg_exp_extract", ("^x|x$", 0), "the regular expression '^x|x$', whose matches RE2 finds longer"),
        ("string_split", ("", -1), "the regular expression '', at which RE2 splits elsewhere"),
        ("string_split", ("a", 1), "the regular expression 'a', at which RE2 splits elsewhere"),
    ],
)
def test_calls_that_are_sparks(function: str, arguments: tuple[object, ...], reason: str) -> None:
    literals = [Literal(each, pa.string() if isinstance(each, str) else pa.int32()) for each in arguments]
    call = Call(function, (Column(0, pa.string()), *literals), pa.string())
    assert (find(function).refuse(call) or "").startswith(reason)  # type: ignore[union-attr]


def test_a_pattern_of_a_column_is_sparks() -> None:
    call = Call("r_like", (Column(0, pa.string()), Column(1, pa.string())), pa.bool_())
    assert (find("r_like").refuse(call) or "").endswith("that isn't constant")  # type: ignore[union-attr]
