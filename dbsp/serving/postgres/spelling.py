"""What a PostgreSQL client says, read by PostgreSQL's lexical rules, and said again for Spark.

"name"  -> `name`        'it''s' -> 'it\\'s'        $1 -> the parameter's literal        public.v -> v
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dbsp.circuits.errors import DataError

_TOKEN = re.compile(
    r"""
    (?P<space>   \s+ | --[^\n]* | /\*.*?\*/ )
  | (?P<escaped> [eE]'(?:[^'\\]|\\.|'')*' )
  | (?P<string>  '(?:[^']|'')*' )
  | (?P<quoted>  "(?:[^"]|"")*" | `(?:[^`]|``)*` )
  | (?P<dollars> \$(?P<tag>[^\W\d]\w*|)\$.*?\$(?P=tag)\$ )
  | (?P<parameter> \$\d+ )
  | (?P<number>  (?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)? )
  | (?P<word>    [^\W\d][\w$]* )
  | (?P<cast>    :: )
  | (?P<open>    ['"`] | /\* | \$(?:[^\W\d]\w*)?\$ )
  | (?P<symbol>  . )
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
# PostgreSQL's names of types that Spark calls otherwise, after `::`
_TYPES = {
    "text": "STRING",
    "varchar": "STRING",
    "int2": "SMALLINT",
    "int4": "INT",
    "int8": "BIGINT",
    "float4": "FLOAT",
    "float8": "DOUBLE",
    "bool": "BOOLEAN",
    "numeric": "DECIMAL",
    "bytea": "BINARY",
    "timestamptz": "TIMESTAMP",
}


@dataclass(frozen=True, slots=True)
class Word:
    """A token. kind: as in the pattern. text: as it was said, with the space before it in `before`."""

    kind: str
    text: str
    before: str = ""

    @property
    def upper(self) -> str:
        return self.text.upper() if self.kind == "word" else self.text

    @property
    def name(self) -> str | None:
        """As the name of something: PostgreSQL's and Spark's names don't differ by case."""
        if self.kind == "word":
            return self.text.lower()
        if self.kind == "quoted":
            mark = self.text[0]
            return self.text[1:-1].replace(mark + mark, mark).lower()
        return None

    @property
    def string(self) -> str:
        """The value of a string."""
        if self.kind == "dollars":
            cut = self.text.index("$", 1) + 1
            return self.text[cut:-cut]
        if self.kind == "escaped":
            inner = self.text[2:-1].replace("''", "'")
            return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), inner, flags=re.DOTALL)
        return self.text[1:-1].replace("''", "'")


def statements(said: str) -> list[tuple[Word, ...]]:
    """The statements between semicolons; those that say nothing aren't there."""
    found: list[tuple[Word, ...]] = []
    words: list[Word] = []
    space = ""
    for match in _TOKEN.finditer(said):
        kind, token = match.lastgroup or "", match[0]
        if kind == "tag":
            kind = "dollars"
        if kind == "space":
            space += token
        elif kind == "symbol" and token == ";":
            if words:
                found.append(tuple(words))
            words, space = [], ""
        elif kind == "open":
            raise DataError(f"what begins with {token} has no end: {said[match.start() :][:40]}")
        else:
            words.append(Word(kind, token, space))
            space = ""
    return [*found, tuple(words)] if words else found


def parameters_of(words: Sequence[Word]) -> int:
    """How many parameters a statement has: the highest number."""
    return max((int(word.text[1:]) for word in words if word.kind == "parameter"), default=0)


def literal(value: object) -> str:
    """A text or None as Spark writes it; numbers are texts that are cast where they stand."""
    if value is None:
        return "NULL"
    escaped = str(value).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def spark_text(words: Sequence[Word], values: Sequence[str] = ()) -> str:
    """The same for Spark. values: the parameters' literals."""
    parts: list[str] = []
    for i, word in enumerate(words):
        after = words[i + 1].text if i + 1 < len(words) else ""
        before = (words[i - 1].name or words[i - 1].text) if i else ""
        if (word.name == "public" and after == ".") or (before == "public" and word.text == "."):
            spelled = ""
        elif word.kind == "quoted":
            spelled = f"`{word.text[1:-1].replace(word.text[0] * 2, word.text[0]).replace('`', '``')}`"
        elif word.kind in ("string", "escaped", "dollars"):
            spelled = literal(word.string)
        elif word.kind == "parameter":
            spelled = value_of(word, values)
        elif before == "::" and word.kind == "word":
            spelled = _TYPES.get(word.text.lower(), word.text)
        else:
            spelled = word.text
        # a comment is a space, whatever it says
        parts.append((" " if word.before else "") + spelled)
    return "".join(parts).strip()


def value_of(word: Word, values: Sequence[str]) -> str:
    """The literal of a parameter. Raises DataError."""
    number = int(word.text[1:])
    if not 1 <= number <= len(values):
        raise DataError(f"{word.text} has no value; there are {len(values)}")
    return values[number - 1]
