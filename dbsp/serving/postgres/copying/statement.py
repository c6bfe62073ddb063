"""COPY as it is said, with the options of today and those of older versions.

    COPY view [(columns)] | (query) TO STDOUT [[WITH] (FORMAT csv, HEADER, DELIMITER ';', NULL '', QUOTE '"')]
    COPY table [(columns)] FROM STDIN [[WITH] CSV HEADER DELIMITER ';' NULL AS '']

Source: PostgreSQL 17 documentation, COPY.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbsp.serving.postgres.language.spelling import Cursor, Word
from dbsp.serving.postgres.language.wrong import Wrong

_FORMATS = ("TEXT", "CSV", "BINARY")
_SAID = "FORMAT, HEADER, DELIMITER, NULL, QUOTE and ENCODING are known"


@dataclass(frozen=True)
class Copy:
    """asked: the words of a query in parentheses, or of a relation. columns: named beside it, in lower case.

    form: text, csv or binary. header: of names; matches: they must be the columns'. delimiter, quote: a byte.
    """

    is_from: bool
    asked: Sequence[Word]
    columns: tuple[str, ...] = ()
    form: str = "text"
    header: bool = False
    matches: bool = False
    delimiter: bytes = b"\t"
    null: bytes = b"\\N"
    quote: bytes = b'"'

    @property
    def table(self) -> str:
        """What is copied into, in lower case. Raises Wrong."""
        names = [word.name for word in self.asked if word.text != "."]
        if None in names:
            raise Wrong("42601", "COPY table (column, ...) FROM STDIN")
        return ".".join(str(name) for name in (names[1:] if names[0] == "public" and names[1:] else names))

    @property
    def query(self) -> Sequence[Word]:
        """What is copied out."""
        if self.asked[0].text == "(":
            return self.asked[1:-1]
        listed = [word for name in self.columns for word in (Word("symbol", ","), _quoted(name))][1:]
        head = Word("word", "SELECT"), *_spaced(listed or [Word("symbol", "*")]), Word("word", "FROM", " ")
        return *head, *_spaced(self.asked)


def copy_of(words: Sequence[Word]) -> Copy:
    """Raises Wrong."""
    depth, at = 0, 0
    for at, word in enumerate(words):
        depth += (word.text == "(") - (word.text == ")") if word.kind == "symbol" else 0
        if depth == 0 and at > 1 and word.upper in ("TO", "FROM"):
            break
    ends = Word("end", "") if at + 1 >= len(words) else words[at + 1]
    if ends.upper != {"TO": "STDOUT", "FROM": "STDIN"}.get(words[at].upper):
        raise Wrong(
            "0A000",
            "COPY: give COPY (SELECT ...) TO STDOUT or COPY table FROM STDIN, from a file by psql's \\copy",
        )
    asked, columns = words[1:at], tuple[str, ...]()
    opened = next((i for i, word in enumerate(asked) if word.text == "("), 0)
    if opened:
        columns = tuple(word.name or "" for word in asked[opened + 1 : -1] if word.text != ",")
        if asked[-1].text != ")" or "" in columns:
            raise Wrong("42601", "COPY table (column, ...) FROM STDIN")
        asked = asked[:opened]
    found = _options(words[at + 2 :])
    return _made(words[at].upper == "FROM", asked, columns, found)


def _options(words: Sequence[Word]) -> dict[str, str]:
    """By name; of a format `FORMAT`. Raises Wrong."""
    said, found = Cursor(words), {}
    said.takes("WITH")
    inside = said.takes("(")
    while not said.is_over and not said.takes(")"):
        name = (said.name() or "").upper()
        said.takes("AS")
        if name in _FORMATS and not inside:
            found["FORMAT"] = name
        elif name == "HEADER":
            value = said.next.upper
            found[name] = "TRUE"
            if value in ("TRUE", "FALSE", "ON", "OFF", "MATCH", "1", "0"):
                found[name] = value
                said = Cursor(said.rest[1:])
        elif name in ("FORMAT", "DELIMITER", "NULL", "QUOTE", "ESCAPE", "ENCODING"):
            word = said.next
            is_text = word.kind in ("string", "escaped", "dollars")
            found[name] = word.string if is_text else (word.kind == "quoted" and word.name) or word.text
            said = Cursor(said.rest[1:])
        else:
            raise Wrong("0A000", f"COPY: {name or said.next.text} is unknown; {_SAID}")
        said.takes(",")
    if not said.is_over:
        raise Wrong("0A000", f"COPY: {said.next.text} is unknown; {_SAID}")
    return found


def _made(is_from: bool, asked: Sequence[Word], columns: tuple[str, ...], said: dict[str, str]) -> Copy:
    form = said.get("FORMAT", "text").lower()
    if form.upper() not in _FORMATS:
        raise Wrong("0A000", f"COPY: FORMAT {form} is unknown; there are text, csv and binary")
    of_texts = sorted({"HEADER", "DELIMITER", "NULL", "QUOTE", "ESCAPE"} & said.keys())
    if form == "binary" and of_texts:
        raise Wrong("42601", f"COPY: {of_texts[0]} is of text and CSV; the binary format has none")
    if said.get("ENCODING", "UTF8").upper().replace("-", "") not in ("UTF8", "UNICODE"):
        raise Wrong("0A000", f"COPY: ENCODING {said['ENCODING']}: texts are UTF8")
    is_csv = form == "csv"
    delimiter, null = (
        said.get("DELIMITER", "," if is_csv else "\t"),
        said.get("NULL", "" if is_csv else "\\N"),
    )
    quote = said.get("QUOTE", '"')
    if said.get("ESCAPE", quote) != quote:
        raise Wrong("0A000", "COPY: ESCAPE is the quote, twice; leave it out")
    for name, value in (("DELIMITER", delimiter), ("QUOTE", quote)):
        if len(value.encode()) != 1 or value in "\r\n":
            raise Wrong("22023", f"COPY: {name} is one character of one byte, and no end of a line")
    if (
        (is_csv and (delimiter == quote or quote in null))
        or delimiter in null
        or "\n" in null
        or "\r" in null
    ):
        raise Wrong("22023", "COPY: neither DELIMITER, QUOTE nor an end of a line is part of another option")
    if not is_csv and delimiter in "\\.abcdefghijklmnopqrstuvwxyz0123456789":
        raise Wrong("22023", f"COPY: DELIMITER '{delimiter}' could be part of a value; take another")
    header = said.get("HEADER", "FALSE")
    marks = {"delimiter": delimiter.encode(), "null": null.encode(), "quote": quote.encode()}
    has_header = header in ("TRUE", "ON", "1", "MATCH")
    return Copy(is_from, asked, columns, form, has_header, header == "MATCH", **marks)


def _quoted(name: str) -> Word:
    doubled = name.replace('"', '""')
    return Word("quoted", f'"{doubled}"')


def _spaced(words: Sequence[Word]) -> tuple[Word, ...]:
    """With a space before the first."""
    return (Word(words[0].kind, words[0].text, " "), *words[1:])
