"""String functions are Spark's on awkward text, with constant and with varying arguments."""

from __future__ import annotations

from typing import Any

import pytest

from tests.generators.columns.texts import letters, text_rows
from tests.oracles.against_spark import AgainstSpark

EXPRESSIONS = [
    "upper(s)",
    "lower(s)",
    "initcap(s)",
    "length(s)",
    "length(b)",
    "octet_length(s)",
    "bit_length(s)",
    "concat(s,p)",
    "concat(s,'x',p)",
    "concat(b,b2)",
    "concat(arr,arr)",
    "concat(arr,array('z'))",
    "concat_ws(',',s,p)",
    "concat_ws(p,s,'q')",
    "concat_ws(',',s,arr)",
    "concat_ws(',',arr,'k',arr)",
    "substring(s,2,3)",
    "substr(s,-2)",
    "substr(s,-5,3)",
    "substr(s,0,2)",
    "substr(s,2,-1)",
    "substring(b,2,3)",
    "substring(b,-2,1)",
    "left(s,k)",
    "left(s,2)",
    "trim(s)",
    "ltrim(s)",
    "rtrim(s)",
    "btrim(s,'ab')",
    "btrim(s,p)",
    "trim(both 'a😀' from s)",
    "trim(leading '' from s)",
    "trim(trailing p from s)",
    "lpad(s,5)",
    "lpad(s,5,'ab')",
    "rpad(s,5,'é😀')",
    "rpad(s,-1,'a')",
    "rpad(s,3,'')",
    "lpad(s,k,p)",
    "rpad(b,5,b2)",
    "lpad(b,5)",
    "rpad(b,5,X'0102')",
    "instr(s,p)",
    "instr(s,'b')",
    "instr(s,'😀')",
    "instr(s,'')",
    "locate(p,s)",
    "locate(p,s,3)",
    "locate('a',s,k)",
    "locate('',s,3)",
    "replace(s,p)",
    "replace(s,'a','bb')",
    "replace(s,'','z')",
    "replace(s,p,'é')",
    "reverse(s)",
    "reverse(arr)",
    "repeat(s,3)",
    "repeat(s,k)",
    "repeat(s,-1)",
    "ascii(s)",
    "chr(l)",
    "translate(s,'abc','de')",
    "translate(s,'aéa','xyz')",
    "translate(s,'é😀','e')",
    "translate(s,p,'xy')",
    "split_part(s,',',2)",
    "substring_index(s,'.',1)",
    "substring_index(s,'.',2)",
    "substring_index(s,'.',-1)",
    "substring_index(s,'aa',k)",
    "substring_index(s,'aa',-1)",
    "substring_index(s,p,k)",
    "startswith(s,p)",
    "startswith(s,'a')",
    "endswith(s,p)",
    "endswith(s,'b')",
    "contains(s,p)",
    "contains(s,'a')",
    "contains(s,'')",
    "startswith(b,b2)",
    "endswith(b,b2)",
    "contains(b,b2)",
    "contains(b,X'61')",
    "s like 'a%'",
    "overlay(s placing p from 2)",
    "overlay(s placing 'zz' from 2 for 3)",
    "overlay(s placing p from k for 1)",
    "space(k)",
    "levenshtein(s,p)",
    "levenshtein(s,p,3)",
    "find_in_set(p,s)",
    "find_in_set('b',s)",
    "split_part(s,',',9)",
    "split_part(s,',',-1)",
    "substr(s,k,k)",
    "substr(b,k,2)",
]


@pytest.mark.spark
def test_functions(spark: Any) -> None:
    AgainstSpark(spark, text_rows()).check(EXPRESSIONS)


@pytest.mark.spark
def test_every_letter(spark: Any) -> None:
    """Case mappings of all of Unicode that Python's and Java's editions share."""
    AgainstSpark(spark, letters()).check(["upper(s)", "lower(s)", "initcap(s)", "length(s)", "ascii(s)"])
