"""What a PostgreSQL client says, read by PostgreSQL's lexical rules, and said again for Spark.

"name"  -> `name`        'it''s' -> 'it\\'s'        $1 -> the parameter's literal        public.v -> v
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from dbsp.circuits.errors import DataError
from dbsp.serving.postgres.language.literals.escapes import unescaped
from dbsp.serving.postgres.language.types import TYPES

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
# PostgreSQL's names of types as Spark's, after `::`; TIMESTAMP is Spark's own
_TYPES = {type_.name: type_.spark for type_ in TYPES.values() if type_.name != "timestamp"}
# of a message, with the spaces between them: each takes a hundred bytes or two
_WORDS = 1_000_000
# numbers of parameters, as in PostgreSQL
_PARAMETERS = 65_535


@dataclass(frozen=True, slots=True)
class Word:
    """A token. kind: as in the pattern. text: as it was said, from the character `start` on, with the space
    before it in `before`. spark: what Spark is told instead; None: the same. ahead: what it is told first.
    """

    kind: str
    text: str
    before: str = ""
    start: int = field(default=0, compare=False)
    spark: str | None = None
    ahead: str = ""

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
            return unescaped(self.text[2:-1])
        return self.text[1:-1].replace("''", "'")


def statements(said: str) -> list[tuple[Word, ...]]:
    """The statements between semicolons; those that say nothing aren't there. Raises DataError."""
    found: list[tuple[Word, ...]] = []
    words: list[Word] = []
    space = ""
    for count, match in enumerate(_TOKEN.finditer(said)):
        if count > _WORDS:
            raise DataError(
                f"a message has at most {_WORDS:,} words; send rows by COPY, or in several statements"
            )
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
            words.append(Word(kind, token, space, match.start()))
            space = ""
    return [*found, tuple(words)] if words else found


def parameters_of(words: Sequence[Word]) -> int:
    """How many parameters a statement has: the highest number. Raises DataError."""
    return max((_number(word) for word in words if word.kind == "parameter"), default=0)


def _number(word: Word) -> int:
    digits = word.text[1:]
    if len(digits) > 5 or not 1 <= int(digits) <= _PARAMETERS:
        raise DataError(f"${digits[:9]}: parameters are $1 to ${_PARAMETERS}")
    return int(digits)


def literal(text: str) -> str:
    """A text as Spark writes it."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def spark_text(words: Sequence[Word], values: Sequence[str] = ()) -> str:
    """The same for Spark. values: the parameters' literals."""
    return "".join(spelled_words(words, values)).strip()


def spelled_words(words: Sequence[Word], values: Sequence[str] = ()) -> list[str]:
    """Of each word what Spark is told, with the space before it."""
    parts: list[str] = []
    for i, word in enumerate(words):
        after = words[i + 1].text if i + 1 < len(words) else ""
        before = (words[i - 1].name or words[i - 1].text) if i else ""
        if word.spark is not None:
            spelled = word.spark
        elif (word.name == "public" and after == ".") or (before == "public" and word.text == "."):
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
        parts.append((" " if word.before else "") + word.ahead + spelled)
    return parts


def value_of(word: Word, values: Sequence[str]) -> str:
    """The literal of a parameter. Raises DataError."""
    number = _number(word)
    if number > len(values):
        raise DataError(f"{word.text} has no value; there are {len(values)}")
    return values[number - 1]


class Cursor:
    """Reads the words of a statement, one after the other."""

    def __init__(self, words: Sequence[Word]) -> None:
        self._words, self._at = words, 0

    @property
    def is_over(self) -> bool:
        return self._at == len(self._words)

    @property
    def rest(self) -> Sequence[Word]:
        return self._words[self._at :]

    @property
    def next(self) -> Word:
        return self._words[self._at] if not self.is_over else Word("end", "")

    def takes(self, *texts: str) -> bool:
        """Whether the next words are these, which are read then."""
        found = [word.upper for word in self._words[self._at : self._at + len(texts)]] == [*texts]
        self._at += len(texts) * found
        return found

    def name(self) -> str | None:
        """The next word, where it is a name."""
        name = self.next.name
        self._at += name is not None
        return name

    def relation(self) -> str | None:
        """The name of a view, perhaps with the one schema that there is."""
        name = self.name()
        return self.name() if name == "public" and self.takes(".") else name

    def value(self) -> Word | None:
        """The next word, where it is a value or a parameter."""
        word = self.next
        if word.kind not in ("string", "number", "parameter"):
            return None
        self._at += 1
        return word
