"""GET_JSON_OBJECT: what a path such as `$.a['b'][0][*].c` finds in a document, as text.

The path's grammar and what it finds are Spark's (GetJsonObjectEvaluator), which are Hive's: of several
matches an array, of one in `[*]` itself, of `[*][*]` one flat array, a string without its quotes. A field's
name finds the first value that isn't null; `.*` nothing at all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value
from dbsp.circuits.expressions.vectors.numbers import per_distinct, strict
from dbsp.circuits.functions.json.reader import Malformed, Reader
from dbsp.circuits.functions.json.writer import Writer

_BLANK = r"[ \t\n\x0b\f\r]*"  # which Scala's parsers skip before a pattern, not before a character
_STEP = re.compile(
    rf"(?P<wild>{_BLANK}(?:\.\*|\['\*'\]))|\.{_BLANK}(?P<name>[^.\[]+)|{_BLANK}\['{_BLANK}(?P<quoted>[^']+)'\]"
    rf"|\[(?:(?P<all>\*)|{_BLANK}(?P<index>[0-9]+))\]"
)
_END = re.compile(_BLANK)

# How what is found is written: a string bare, as JSON, or as JSON with arrays taken apart.
_RAW, _QUOTED, _FLAT = "raw", "quoted", "flat"


@dataclass(frozen=True, slots=True)
class _Step:
    """A field's name, an element's number, or "*": all elements. None: `.*`, which finds nothing."""

    selects: str | int | None
    is_field: bool = False


_ALL = _Step("*")


def _steps(path: str) -> tuple[_Step, ...] | None:
    """None where it is no path."""
    if not path.startswith("$"):
        return None
    at, steps = 1, []
    while found := _STEP.match(path, at):
        at = found.end()
        if found["wild"]:
            steps.append(_Step(None))
        elif found["all"]:
            steps.append(_ALL)
        elif found["index"]:
            steps.append(_Step(int(found["index"])))
        else:
            steps.append(_Step(found["name"] or found["quoted"], is_field=True))
    return tuple(steps) if _END.fullmatch(path, at) else None


@strict("get_json_object")
def get_json_object(call: Call, text: pa.Array, path: Value) -> Value:
    """NULL where nothing is found, or the text is no JSON. Once per distinct text and path."""
    parsed: dict[str, tuple[_Step, ...] | None] = {}

    def run(document: str, spelled: str) -> str | None:
        if spelled not in parsed:
            parsed[spelled] = _steps(spelled)
        steps = parsed[spelled]
        return None if steps is None else _found(document, steps)

    return per_distinct(run, call.type, text, path)


def _found(document: str, steps: tuple[_Step, ...]) -> str | None:
    reader = Reader(document, control_characters=True, non_numbers=False)
    writer = Writer(escape_pairs=True)
    try:
        reader.next()
        found = _follow(reader, writer, _RAW, steps)
        text = str(writer)
        text.encode()  # half a pair of surrogates is no text
    except (Malformed, UnicodeEncodeError):
        return None
    return text if found else None


def _follow(reader: Reader, writer: Writer, style: str, steps: tuple[_Step, ...]) -> bool:
    """Writes what the steps find in the value at the reader's token, and says whether they found one."""
    token = reader.token
    if not steps:
        if token == "string" and style == _RAW:
            writer.raw(reader.text)
            return True
        if token == "[" and style == _FLAT:
            return _each(reader, writer, _FLAT, ()) > 0
        writer.copy(reader)
        return True
    step, rest = steps[0], steps[1:]
    if token == "{" and step.is_field:
        return _field(reader, writer, style, step, rest)
    if token != "[" or step.is_field or step.selects is None:
        reader.skip()
        return False
    if step != _ALL:
        assert isinstance(step.selects, int)
        inner = _QUOTED if rest and rest[0] == _ALL else style
        return _element(reader, writer, inner, step.selects, rest)
    if rest and rest[0] == _ALL:
        return _array(reader, writer, _FLAT, rest[1:])
    if style == _QUOTED:
        return _array(reader, writer, _QUOTED, rest)
    buffer = Writer(escape_pairs=False)
    buffer.start("[")
    count = _each(reader, buffer, _QUOTED if style == _RAW else _FLAT, rest)
    buffer.end("]")
    if count:
        writer.value(str(buffer) if count > 1 else str(buffer)[1:-1])
    return count > 0


def _each(reader: Reader, writer: Writer, style: str, steps: tuple[_Step, ...]) -> int:
    """In how many elements the steps find something."""
    count = 0
    while reader.next() != "]":
        count += _follow(reader, writer, style, steps)
    return count


def _array(reader: Reader, writer: Writer, style: str, steps: tuple[_Step, ...]) -> bool:
    writer.start("[")
    count = _each(reader, writer, style, steps)
    writer.end("]")
    return count > 0


def _element(reader: Reader, writer: Writer, style: str, index: int, steps: tuple[_Step, ...]) -> bool:
    found, at = False, 0
    while reader.next() != "]":
        if at == index:
            found = _follow(reader, writer, style, steps)
        else:
            reader.skip()
        at += 1
    return found


def _field(reader: Reader, writer: Writer, style: str, step: _Step, rest: tuple[_Step, ...]) -> bool:
    found = False
    while reader.next() != "}":
        if found or reader.token != "name":
            reader.skip()
        elif reader.name == step.selects and reader.next() != "null":
            found = _follow(reader, writer, style, rest)
    return found
