"""JSON text as tokens, one at a time, as Jackson reads it for Spark.

Jackson takes 'single quotes' and `\\'`, reads nothing behind the first value, keeps duplicate names, and
looks into a string only when it is asked for or passed. What stands in a document behind an error is read on
from where it stopped: Spark's PERMISSIVE mode keeps the fields around a bad one. So the place and the token
after an error are Jackson's too: a name is the current token until the value behind it has been recognised.
"""

from __future__ import annotations

import re

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?P<fraction>\.[0-9]+)?(?P<exponent>[eE][+-]?[0-9]+)?")
_PLAIN = {quote: re.compile(rf"[^{quote}\\\x00-\x1f]*") for quote in "\"'"}
_IDENTIFIER = re.compile(r"[\w$]*")
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "/": "/", "\\": "\\", "'": "'"}
_LITERALS = {"t": "true", "f": "false", "n": "null"}
_NON_NUMBERS = {"NaN": "NaN", "Infinity": "Infinity", "-INF": "-Infinity", "-Infinity": "-Infinity"}
_NON_NUMBERS |= {"+INF": "Infinity", "+Infinity": "Infinity"}
_MOST_NESTED = 1000
_MOST_DIGITS = 1000


class Malformed(ValueError):
    """The text is no JSON."""


class Reader:
    """token: one of { } [ ] name string int float true false null; None before the first and behind the last.

    control_characters: whether strings may hold them as they are. non_numbers: NaN, ±INF and ±Infinity.
    """

    def __init__(self, text: str, *, control_characters: bool, non_numbers: bool) -> None:
        self._text = text
        self._at = 0
        self._control_characters = control_characters
        self._non_numbers = non_numbers
        self._value = ""
        self._unread = False
        self._behind_name: str | None = None
        self._is_object: list[bool] = []
        self._counts = [0]
        self._names = [""]
        self.token: str | None = None

    @property
    def name(self) -> str:
        """The last name read in the object around the token."""
        return self._names[-2 if self.token in ("{", "[") else -1]

    @property
    def text(self) -> str:
        """Of a string its characters (a code unit outside a pair as it is), else as written."""
        if self._unread:
            self._unread = False
            self._value = self._string('"')
        return self._value

    @property
    def number(self) -> str:
        """Of an int or a float as written; of what is no number NaN, Infinity or -Infinity."""
        if len(self._value) > _MOST_DIGITS:
            raise Malformed("a number of too many digits")
        return self._value

    def next(self) -> str | None:
        """Moves to the next token. Raises Malformed."""
        if self.token == "name":
            self.token, self._behind_name = self._behind_name, None
            self._open(self.token)
            return self.token
        if self._unread:
            _ = self.text
        character = self._skip_space()
        if not character:
            if self._is_object:
                raise Malformed("the text ends inside a value")
            self.token = None
            return None
        if character in "]}":
            self._at += 1
            if not self._is_object or self._is_object[-1] != (character == "}"):
                raise Malformed(f"{character} closes nothing")
            for stack in (self._is_object, self._counts, self._names):
                stack.pop()
            self.token = character
            return character
        inside = bool(self._is_object)
        self._counts[-1] += 1
        if inside and self._counts[-1] > 1:
            self._expect(",")
            character = self._skip_space()
        if not inside or not self._is_object[-1]:
            token = self._recognise(character)
            self.token = token
            self._open(token)
            return token
        self._at += 1
        if character not in ('"', "'"):
            raise Malformed("a name starts with a quote")
        self._names[-1] = self._string(character)
        self.token = "name"
        self._skip_space()
        self._expect(":")
        self._behind_name = self._recognise(self._skip_space())
        return self.token

    def skip(self) -> None:
        """Over what is inside of the object or array that the token opens."""
        if self.token not in ("{", "["):
            return
        depth = 1
        while depth:
            token = self.next()
            if token is None:
                return
            depth += (token in ("{", "[")) - (token in ("}", "]"))

    def _open(self, token: str | None) -> None:
        if token not in ("{", "["):
            return
        self._is_object.append(token == "{")
        self._counts.append(0)
        self._names.append("")
        if len(self._is_object) > _MOST_NESTED:
            raise Malformed("nested too deeply")

    def _skip_space(self) -> str:
        found = _SPACE.match(self._text, self._at)
        assert found is not None
        self._at = found.end()
        return self._text[self._at : self._at + 1]

    def _expect(self, character: str) -> None:
        found = self._text[self._at : self._at + 1]
        self._at += 1
        if found != character:
            raise Malformed(f"{character} expected")

    def _recognise(self, character: str) -> str:
        """The token that starts with the character, and moves behind what of it is read at once."""
        if character == '"':
            self._at += 1
            self._unread = True
            return "string"
        if character == "'":
            self._at += 1
            self._value = self._string("'")
            return "string"
        if character and character in "{[":
            self._at += 1
            return character
        if character in _LITERALS:
            self._value = _LITERALS[character]
            self._word(self._value)
            return self._value
        if character.isascii() and (character.isdigit() or character == "-"):
            found = _NUMBER.match(self._text, self._at)
            if found is not None:
                return self._read_number(found)
        return self._read_non_number()

    def _read_number(self, found: re.Match[str]) -> str:
        self._at = found.end()
        behind = self._text[self._at : self._at + 1]
        self._value = found[0]
        if found[0].lstrip("-") == "0" and behind.isascii() and behind.isdigit():
            raise Malformed("a number starts with 0")
        if (behind == "." and found[0].lstrip("-").isdigit()) or (
            behind in ("e", "E") and not found["exponent"]
        ):
            self._at += 1
            raise Malformed("digits expected")
        if not self._is_object and behind and behind not in " \t\n\r":
            raise Malformed("a space expected")
        return "float" if found["fraction"] or found["exponent"] else "int"

    def _read_non_number(self) -> str:
        for spelled, value in _NON_NUMBERS.items():
            if self._non_numbers and self._text.startswith(spelled, self._at):
                self._value = value
                self._word(spelled)
                return "float"
        self._at += 1
        self._at = _identifier_end(self._text, self._at)
        raise Malformed("a value expected")

    def _word(self, word: str) -> None:
        start, end = self._at, _identifier_end(self._text, self._at + 1)
        self._at = end
        if self._text[start:end] != word:
            raise Malformed(f"{word} expected")

    def _string(self, quote: str) -> str:
        """The characters up to the closing quote, which is passed."""
        pieces = []
        while True:
            found = _PLAIN[quote].match(self._text, self._at)
            assert found is not None
            self._at = found.end() + 1
            pieces.append(found[0])
            stop = self._text[found.end() : self._at]
            if stop == quote:
                return _paired("".join(pieces))
            if not stop:
                raise Malformed("the text ends inside a string")
            if stop == "\\":
                pieces.append(self._escaped())
            elif self._control_characters:
                pieces.append(stop)
            else:
                raise Malformed("a control character in a string")

    def _escaped(self) -> str:
        letter = self._text[self._at : self._at + 1]
        self._at += 1
        if letter in _ESCAPES:
            return _ESCAPES[letter]
        if letter != "u":
            raise Malformed(f"\\{letter} stands for nothing")
        code = 0
        for digit in self._text[self._at : self._at + 4].ljust(4, " "):
            self._at += 1
            if digit not in "0123456789abcdefABCDEF":
                raise Malformed("four hexadecimal digits expected")
            code = code * 16 + int(digit, 16)
        return chr(code)


def _identifier_end(text: str, at: int) -> int:
    found = _IDENTIFIER.match(text, at)
    assert found is not None
    return found.end()


def _paired(text: str) -> str:
    """Surrogates written one by one as the characters they are together."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
