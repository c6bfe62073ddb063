"""What Spark's grammar has, and what of it a text has, by the classes of Spark's own parser (Grammar.java).

An alternative is a class of the parser, as `JoinRelation`, or a word that may stand in its text, as
`JoinRelation.ASOF`. What is below a query is told by its words, what a statement is made of by its classes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

# how a name may be spelled
_NAMES = {"NonReserved", "StrictNonReserved", "AnsiNonReserved"}
_PUNCTUATION = {"COMMA", "LEFT_PAREN", "RIGHT_PAREN", "LEFT_BRACKET", "RIGHT_BRACKET", "AS", "DOT", "EOF"}
# what no text has
_UNREACHABLE = {
    "ErrorIdent": "what Spark's parser makes of a wrong name",
    "ArithmeticOperator": "no rule refers to it",
    "PredicateOperator": "no rule refers to it",
    "ColumnCommentList": "no rule refers to it",
    "OperatorPipeStatement.PIPE": "the pipe is OPERATOR_PIPE",
    "LegacyDecimalLiteral": "of a setting, spark.sql.legacy.exponentLiteralAsDecimal.enabled",
    "SimpleQuotedIdentifierAlternative": "of a setting, spark.sql.ansi.doubleQuotedIdentifiers",
    "QuotedIdentifier.DOUBLEQUOTED_STRING": "of a setting, spark.sql.ansi.doubleQuotedIdentifiers",
    "FunctionName.FILTER": "of a setting, spark.sql.ansi.enforceReservedKeywords",
    "FunctionName.LEFT": "of a setting, spark.sql.ansi.enforceReservedKeywords",
    "FunctionName.RIGHT": "of a setting, spark.sql.ansi.enforceReservedKeywords",
    "JsonPathIdentifier.BACKQUOTED_IDENTIFIER": "an identifier may be one",
}


class Grammar:
    """Of the Spark that the session runs on."""

    def __init__(self, spark: Any) -> None:
        compiler = spark._jvm.org.codehaus.janino.SimpleCompiler()
        loader = spark._jvm.java.lang.Thread.currentThread().getContextClassLoader()
        compiler.setParentClassLoader(loader)
        compiler.cook((Path(__file__).parent / "Grammar.java").read_text(encoding="utf-8"))
        methods = compiler.getClassLoader().loadClass("Grammar").getDeclaredMethods()
        self._methods = {method.getName(): method for method in methods}
        self._spark = spark
        self._parts: dict[str, list[str]] = {}
        self._labelled: dict[str, list[str]] = {}
        for line in self._call("known").splitlines():
            name, rule, *parts = line.split()
            self._parts[name] = parts
            self._labelled.setdefault(rule, []).append(name)

    def _call(self, name: str, *arguments: str) -> str:
        given = self._spark.sparkContext._gateway.new_array(self._spark._jvm.java.lang.Object, len(arguments))
        for i, argument in enumerate(arguments):
            given[i] = argument
        return str(self._methods[name].invoke(None, given))

    def alternatives(self) -> set[str]:
        """Those that an example must have."""
        classes = self._below("CompoundOrSingleStatement") - self._labelled.keys()
        words = {
            f"{name}.{part}"
            for name in self._below("Query") - self._labelled.keys()
            for part in self._parts[name]
            if part.isupper() and part not in _PUNCTUATION and not _is_sign(name, part)
        }
        return {
            each for each in classes | words if each.split(".")[0] not in _UNREACHABLE
        } - _UNREACHABLE.keys()

    def _below(self, rule: str) -> set[str]:
        """The classes of all rules that one leads to."""
        found: set[str] = set()
        left = [rule]
        while left:
            name = left.pop()
            if name not in found and name not in _NAMES:
                found.add(name)
                parts = self._parts.get(name, [])
                left += self._labelled.get(name, [])
                left += [part[0].upper() + part[1:] for part in parts if part[0].islower()]
        return found

    def read(self, text: str) -> set[str]:
        """The alternatives of a text; none of one that Spark's parser doesn't take."""
        found = set()
        for line in self._call("read", text).splitlines():
            name, *parts = line.split()
            found |= {name, *(f"{name}.{part}" for part in parts)}
        return found


def _is_sign(name: str, part: str) -> bool:
    """Before a number that stands where no expression may."""
    return part == "MINUS" and name.endswith("Literal")
