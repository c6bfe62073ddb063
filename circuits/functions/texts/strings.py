"""String functions over UTF-8 columns; positions and lengths count Unicode code points, as in Spark.

Every function is NULL where an argument is, except CONCAT_WS. Where the other arguments are constant, as
they nearly always are, the column goes through one Arrow kernel; otherwise each distinct combination of
arguments is computed once, because Arrow's kernels take patterns as options, not as columns.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.columns.arrow import int64_array, retyped
from dbsp.circuits.columns.ranges import expand_lengths
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value, kernel
from dbsp.circuits.expressions.vectors.numbers import are_constant, per_distinct, result, strict, vector
from dbsp.circuits.expressions.vectors.spread import spread
from dbsp.circuits.expressions.vectors.utf8 import (
    ascii_rows,
    bytes_of,
    from_bytes,
    is_ascii,
    slice_bytes,
    text_of,
)
from dbsp.circuits.functions.collections.lists import Lists, joined, list_array, lists_of


def _per_character(
    array: pa.Array, ascii: Callable[[pa.Array], pa.Array], full: Callable[[str], str]
) -> pa.Array:
    """`ascii` where a row is ASCII, `full` elsewhere: Arrow maps characters one to one, Unicode does not
    ('ß' → 'SS', final 'Σ' → 'ς'), so other rows go through the interpreter, each distinct one once."""
    if is_ascii(array):
        return ascii(array)
    other = pc.fill_null(pc.invert(ascii_rows(array)), False)
    mapped = per_distinct(full, array.type, array.filter(other))
    return pc.replace_with_mask(ascii(array), other, mapped)


@strict("upper")
def upper(call: Call, text: pa.Array) -> Value:
    return _per_character(text, pc.ascii_upper, str.upper)


@strict("lower")
def lower(call: Call, text: pa.Array) -> Value:
    return _per_character(text, pc.ascii_lower, str.lower)


@strict("init_cap")
def capitalise(call: Call, text: pa.Array) -> Value:
    """The first letter of each space-separated word in title case, the others in lower case."""
    return _per_character(text, _capitalise_ascii, _capitalise)


def _capitalise_ascii(text: pa.Array) -> pa.Array:
    lowered = pc.ascii_lower(text)
    data, offsets = bytes_of(lowered)
    begins = np.append(True, data == ord(" "))
    begins[offsets[:-1]] = True
    letters = begins[:-1] & (data >= ord("a")) & (data <= ord("z"))
    return from_bytes(data - 32 * letters.astype(np.uint8), offsets, lowered)


def _capitalise(text: str) -> str:
    # the rest of a word is lowered with its first letter before it: whether 'Σ' ends a word depends on that
    return " ".join(word[:1].title() + word.lower()[len(word[:1].lower()) :] for word in text.split(" "))


@strict("length")
def length(call: Call, text: pa.Array) -> Value:
    return pc.utf8_length(text) if pa.types.is_string(text.type) else pc.binary_length(text)


@strict("octet_length")
def octet_length(call: Call, text: pa.Array) -> Value:
    return pc.binary_length(text)


@strict("bit_length")
def bit_length(call: Call, text: pa.Array) -> Value:
    return pc.multiply(pc.binary_length(text), pa.scalar(8, pa.int32()))


@kernel("concat")
def concat(call: Call, *parts: Value) -> Value:
    """Of strings, bytes or arrays."""
    if pa.types.is_list(call.type):
        return _concat_lists(call, *parts)
    separator = pa.scalar("" if pa.types.is_string(call.type) else b"", call.type)
    return pc.binary_join_element_wise(*parts, separator)


def _concat_lists(call: Call, *parts: Value) -> Value:
    rows = next((len(part) for part in parts if not isinstance(part, pa.Scalar)), 1)
    columns = [pa.repeat(part, rows) if isinstance(part, pa.Scalar) else part for part in parts]
    columns = [retyped(column, call.type) for column in columns]
    both, _ = joined([lists_of(column) for column in columns])
    value = list_array(call.type, both)
    return value[0] if are_constant(*parts) else value


@kernel("concat_ws")
def concat_with_separator(call: Call, separator: Value, *parts: Value) -> Value:
    """The non-NULL strings, and the non-NULL elements of arrays, joined by the separator; NULL if that is."""
    if not parts:
        return pc.if_else(pc.is_valid(separator), "", separator)
    rows = next((len(each) for each in (separator, *parts) if not isinstance(each, pa.Scalar)), None)
    if rows is not None:
        parts = tuple(spread(part, rows) for part in parts)
    columns = [_joined(part, separator) if pa.types.is_list(part.type) else part for part in parts]
    # Arrow 26 leaves out the rows where every column is NULL: there the first one counts as ''.
    absent = functools.reduce(pc.and_, [pc.is_null(column) for column in columns])
    columns[0] = pc.if_else(absent, "", columns[0])
    joined = pc.binary_join_element_wise(*columns, separator, null_handling="skip")
    return pa.repeat(joined, rows) if rows is not None and isinstance(joined, pa.Scalar) else joined


def _joined(lists: Value, separator: Value) -> Value:
    """Each array's strings joined; NULL where there are none, so that no separator is spent on it."""
    if isinstance(lists, pa.Scalar):
        lists = pa.array([lists.as_py()], lists.type)
        return _joined(lists, separator)[0]
    parents, values = pc.list_parent_indices(lists), lists.flatten()
    present = values.is_valid()
    parents, values = parents.filter(present), values.filter(present)
    counts = np.bincount(parents.to_numpy(), minlength=len(lists))
    offsets = np.append(0, np.cumsum(counts)).astype(np.int32)
    kept = pa.ListArray.from_arrays(pa.array(offsets), values, mask=pa.array(counts == 0))
    return pc.binary_join(kept, separator)


def _register_trim(name: str, arrow: Callable[..., pa.Array], python: Callable[[str, str], str]) -> None:
    @strict(name)
    def trim(call: Call, text: pa.Array, characters: Value | None = None) -> Value:
        """Without characters: spaces, and only U+0020."""
        if characters is None:
            return arrow(text, characters=" ")
        if not are_constant(characters):
            return per_distinct(python, call.type, text, characters)
        return arrow(text, characters=characters.as_py()) if characters.as_py() else text


_register_trim("string_trim", pc.utf8_trim, str.strip)
_register_trim("string_trim_left", pc.utf8_ltrim, str.lstrip)
_register_trim("string_trim_right", pc.utf8_rtrim, str.rstrip)


@strict("string_instr")
def instr(call: Call, text: pa.Array, part: Value) -> Value:
    """The 1-based position of the first occurrence, 0 if there is none."""
    if not are_constant(part):
        return per_distinct(lambda whole, piece: whole.find(piece) + 1, call.type, text, part)
    return character_positions(call, text, pc.find_substring(text, part.as_py()))


@strict("string_instr_with_occurrence")
def instr_with_occurrence(call: Call, text: pa.Array, part: Value, start: Value, occurrence: Value) -> Value:
    """The position of the n-th occurrence from a 1-based start on; a negative one searches backwards."""
    return per_distinct(_occurrence, call.type, text, part, start, occurrence)


def _occurrence(text: str, part: str, start: int, occurrence: int) -> int:
    if occurrence < 1:
        raise EvaluationError(
            "INVALID_PARAMETER_VALUE.OCCURRENCE", f"instr: occurrence {occurrence} is below 1"
        )
    if not part:
        return 1
    if not start:
        return 0
    at = start - 2 if start > 0 else len(text) + start + 1
    for _ in range(occurrence):
        if start > 0:
            at = text.find(part, at + 1)
        else:
            at = text.rfind(part, 0, max(at - 1 + len(part), 0)) if at > 0 else -1
        if at < 0:
            return 0
    return at + 1


def character_positions(call: Call, text: pa.Array, byte_positions: pa.Array) -> Value:
    """0-based byte positions as 1-based character positions; −1 as 0."""
    place = vector(byte_positions)
    if is_ascii(text):
        return result(call, place.values + 1, place)
    columns = text_of(text)
    rows = columns.offsets[:-1] + np.maximum(place.values, 0)
    characters = np.searchsorted(columns.begins, rows) - columns.first[:-1]
    return result(call, np.where(place.values < 0, 0, characters + 1), place)


@kernel("string_locate")
def locate(call: Call, part: Value, text: Value, start: Value) -> Value:
    """Like INSTR from a 1-based start; 0 for a NULL start, whatever the others are."""
    found = per_distinct(_locate, call.type, part, text, start)
    if isinstance(start, pa.Scalar):
        return found if start.is_valid else pa.scalar(0, call.type)
    return pc.if_else(start.is_null(), pa.scalar(0, call.type), found)


def _locate(part: str, text: str, start: int) -> int:
    if start < 1:
        return 0
    return 1 if not part else text.find(part, start - 1) + 1


@strict("string_replace")
def replace(call: Call, text: pa.Array, search: Value, replacement: Value) -> Value:
    if not are_constant(search, replacement):
        return per_distinct(lambda a, b, c: a.replace(b, c) if b else a, call.type, text, search, replacement)
    if not search.as_py():
        return text
    return pc.replace_substring(text, search.as_py(), replacement.as_py())


@strict("reverse")
def reverse(call: Call, text: pa.Array) -> Value:
    """Of the code points of a string, or of an array's elements."""
    if not pa.types.is_list(text.type):
        return pc.utf8_reverse(text) if pa.types.is_string(text.type) else pc.binary_reverse(text)
    lists = lists_of(text)
    owner, within = expand_lengths(lists.lengths)
    backwards = (lists.starts + lists.lengths - 1)[owner] - within
    elements = lists.elements.take(int64_array(backwards))
    return list_array(text.type, Lists(elements, lists.lengths, lists.valid))


@strict("string_repeat")
def repeat(call: Call, text: pa.Array, times: Value) -> Value:
    return pc.binary_repeat(text, pc.max_element_wise(times.cast(pa.int64()), 0, skip_nulls=False))


@strict("string_space")
def spaces(call: Call, count: pa.Array) -> Value:
    return pc.binary_repeat(pa.scalar(" "), pc.max_element_wise(count.cast(pa.int64()), 0, skip_nulls=False))


@strict("ascii")
def first_code_point(call: Call, text: pa.Array) -> Value:
    first = pc.utf8_slice_codeunits(text, 0, 1)
    return per_distinct(lambda character: ord(character) if character else 0, call.type, first)


_LATIN_1 = pa.array([chr(code) for code in range(256)])


@strict("chr")
def character(call: Call, code: pa.Array) -> Value:
    """The character of the lowest eight bits; '' of negative numbers."""
    codes = pc.bit_wise_and(code, pa.scalar(255, code.type))
    return pc.if_else(pc.less(code, pa.scalar(0, code.type)), "", _LATIN_1.take(codes))


@strict("string_translate")
def translate(call: Call, text: pa.Array, source: Value, target: Value) -> Value:
    """Each character of `source` becomes the one at its place in `target`, or nothing beyond its end."""
    if not are_constant(source, target):
        return per_distinct(lambda a, b, c: a.translate(_translation(b, c)), call.type, text, source, target)
    table = _translation(source.as_py(), target.as_py())
    if not all(ord(new or "a") < 128 and old < 128 for old, new in table.items()):
        return per_distinct(lambda a: a.translate(table), call.type, text)
    # ASCII to ASCII leaves every other byte of UTF-8 alone; 0xFF, which UTF-8 never has, marks deletions.
    codes = np.arange(256, dtype=np.uint8)
    for old, new in table.items():
        codes[old] = ord(new) if new else 0xFF
    data, offsets = bytes_of(text)
    translated = from_bytes(codes[data], offsets, text)
    if None not in table.values():
        return translated
    return pc.replace_substring(translated.view(pa.binary()), b"\xff", b"").view(pa.string())


def _translation(source: str, target: str) -> dict[int, str | None]:
    table: dict[int, str | None] = {}
    for position, old in enumerate(source):
        # the first of equal characters decides; NUL deletes, as in Spark's dictionary
        new = target[position] if position < len(target) else ""
        table.setdefault(ord(old), new if new not in ("", "\0") else None)
    return table


def _register_edge(name: str, arrow: Callable[..., pa.Array], at_end: bool) -> None:
    @strict(name)
    def run(call: Call, text: pa.Array, part: Value) -> Value:
        """Whether the text begins (ends) with the part: their bytes are compared."""
        if are_constant(part):
            return arrow(text, part.as_py())
        data, offsets = bytes_of(text)
        sizes = pc.fill_null(pc.binary_length(part), 0).to_numpy().astype(np.int64)
        begins, ends = offsets[:-1], offsets[1:]
        if at_end:
            begins = np.maximum(ends - sizes, begins)
        else:
            ends = np.minimum(begins + sizes, ends)
        return pc.equal(slice_bytes(data, begins, ends, text), part)


_register_edge("starts_with", pc.starts_with, at_end=False)
_register_edge("ends_with", pc.ends_with, at_end=True)
_register_edge("static_invoke.ByteArrayMethods.startsWith", pc.starts_with, at_end=False)
_register_edge("static_invoke.ByteArrayMethods.endsWith", pc.ends_with, at_end=True)


def _contains(call: Call, text: pa.Array, part: Value) -> Value:
    if are_constant(part):
        return pc.match_substring(text, part.as_py())
    return per_distinct(lambda whole, piece: piece in whole, call.type, text, part)


strict("contains")(_contains)
strict("static_invoke.ByteArrayMethods.contains")(_contains)


@strict("string_split_sql")
def split_at(call: Call, text: pa.Array, delimiter: Value) -> Value:
    """The parts between occurrences of a literal delimiter; the whole text for an empty one."""
    if not are_constant(delimiter):
        return per_distinct(lambda a, b: a.split(b) if b else [a], call.type, text, delimiter)
    if not delimiter.as_py():
        return per_distinct(lambda a: [a], call.type, text)
    return pc.split_pattern(text, delimiter.as_py())


@strict("static_invoke.ExpressionImplUtils.quote")
def quote(call: Call, text: pa.Array) -> Value:
    """In apostrophes, those inside behind a backslash."""
    inside = pc.replace_substring(text, "'", "\\'")
    return pc.binary_join_element_wise("'", inside, "'", "")
