"""LIKE and regular expressions match what Spark matches; what RE2 can't do is refused by name."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.functions.library import find
from dbsp.circuits.functions.texts.java_regex import translate
from dbsp.circuits.functions.texts.patterns import rewritten
from tests.generators.columns.texts import text_rows
from tests.oracles.against_spark import AgainstSpark

EXPRESSIONS = [
    "s like 'a_c'",
    "s like 'a%c'",
    "s like '%_%'",
    "s like '_'",
    "s like '%a%b%'",
    "s like 'x!_y!%z' escape '!'",
    r"s like '\\%\\_%'",
    "s like p",
    "s not like 'a_%'",
    "s like all ('a%b','%b_')",
    "s like any ('a%b','%b_', null)",
    "s not like all ('a%b','%b_',null)",
    "s not like any ('a%b','%b_')",
    "s ilike 'A_c'",
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
]


@pytest.mark.spark
def test_patterns(spark: Any) -> None:
    AgainstSpark(spark, text_rows(150)).check(EXPRESSIONS)


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(?=a)", "look-around"),
        ("(?<!a)b", "look-around"),
        ("(a)\\1", "a back-reference"),
        ("a*+", "a possessive quantifier"),
        (r"\bfoo", r"\b"),
        ("[a&&b]", "the intersection &&"),
        ("(a*)*", "the repetition of a part that can be empty"),
        ("a$b", "something after $"),
        ("(?m)^a", "the flags"),
        (r"\p{IsAlphabetic}", r"the class \p"),
        ("a{2000}", "the repetition {2000}"),
        ("[", "an unexpected end"),
        ("(", "an unclosed ("),
        (")", "an unmatched )"),
        ("*", "a dangling *"),
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
        ("reg_exp_replace", ("x*", "-", 1), "a regular expression that matches the empty text"),
        ("reg_exp_replace", ("x|y$", "-", 1), "a regular expression with $ inside"),
        ("reg_exp_replace", ("x", "$1", 1), "the replacement '$1', which names no group"),
        ("reg_exp_replace", ("x", "-", 2), "a position other than 1"),
        ("reg_exp_extract", ("x", 1), "group 1 of a regular expression with 0 groups"),
        ("string_split", ("|", -1), "a regular expression that matches the empty text"),
        ("string_split", ("^a", -1), "an anchored regular expression"),
        ("like", ("a\\b",), "an invalid pattern"),
    ],
)
def test_refused_calls(function: str, arguments: tuple[object, ...], reason: str) -> None:
    literals = [Literal(each, pa.string() if isinstance(each, str) else pa.int32()) for each in arguments]
    call = Call(function, (Column(0, pa.string()), *literals), pa.string())
    assert (find(function).refuse(call) or "").startswith(reason)  # type: ignore[union-attr]


def test_a_replacement_may_name_its_group() -> None:
    """In a program ${...} is substituted before Catalyst sees it, but a string's escapes can spell it."""
    assert rewritten("${n}-$1\\$", translate("(?<n>a)")) == "\\1-\\1$"


def test_an_invalid_pattern_of_a_column_names_its_row() -> None:
    rows = pa.RecordBatch.from_pydict({"s": ["a", "b"], "p": ["a%", "b\\"]})
    call = Call("like", (Column(0, pa.string()), Column(1, pa.string())), pa.bool_())
    with pytest.raises(EvaluationError, match=r"s=b, .*ESC_AT_THE_END"):
        evaluate(call, rows)
