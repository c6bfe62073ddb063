"""Strings, bytes and numbers as digits, digests and other encodings."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import zlib
from collections.abc import Callable
from urllib.parse import quote_plus

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Literal
from dbsp.circuits.expressions.registry import Value
from dbsp.circuits.expressions.vectors.numbers import per_distinct, strict, vector
from dbsp.circuits.expressions.vectors.utf8 import bytes_of, from_bytes, slice_bytes

_DIGITS = np.frombuffer(b"0123456789ABCDEF", np.uint8)


def _in_base(array: pa.Array, bits: int) -> pa.Array:
    """BIGINT as the digits, of `bits` bits each, of its two's complement, without leading zeros."""
    values = vector(array).values.astype(np.int64).view(np.uint64)
    places = 64 // bits
    shifts = np.arange(places - 1, -1, -1, dtype=np.uint64) * np.uint64(bits)
    digits = (values[:, None] >> shifts) & np.uint64(2**bits - 1)
    leading = np.where(values == 0, places - 1, np.argmax(digits != 0, axis=1))
    ends = np.arange(1, len(values) + 1) * places
    text = _DIGITS[digits.astype(np.intp)].ravel()
    return slice_bytes(text, ends - places + leading, ends, _strings_like(array))


def _strings_like(array: pa.Array) -> pa.Array:
    """A STRING array that is NULL where `array` is."""
    return pc.if_else(array.is_valid(), "", pa.scalar(None, pa.string()))


@strict("hex")
def hexadecimal(call: Call, value: pa.Array) -> Value:
    """Of a BIGINT, or two digits per byte of a string."""
    if pa.types.is_integer(value.type):
        return _in_base(value, 4)
    data, offsets = bytes_of(value)
    digits = np.stack((_DIGITS[data >> 4], _DIGITS[data & 15]), axis=1).ravel()
    return from_bytes(digits, offsets * 2, _strings_like(value))


@strict("bin")
def binary(call: Call, value: pa.Array) -> Value:
    return _in_base(value, 1)


@strict("unhex")
def from_hexadecimal(call: Call, text: pa.Array) -> Value:
    """NULL where a character is no digit; an odd first digit is a byte of its own."""

    def decode(digits: str) -> bytes | None:
        if not re.fullmatch("[0-9a-fA-F]*", digits):
            return None
        return bytes.fromhex("0" * (len(digits) % 2) + digits)

    if call.option("failOnError"):
        return per_distinct(_or_fail(decode), call.type, text)
    return per_distinct(decode, call.type, text)


def _or_fail(decode: Callable[[str], bytes | None]) -> Callable[[str], bytes]:
    def run(text: str) -> bytes:
        found = decode(text)
        if found is None:
            raise EvaluationError("CONVERSION_INVALID_INPUT", f"'{text}' can't be decoded")
        return found

    return run


def _register_digest(name: str, digest: Callable[[bytes], object]) -> None:
    @strict(name)
    def run(call: Call, data: pa.Array) -> Value:
        """Digests have no vectorised form here: each distinct value is digested once."""
        return per_distinct(digest, call.type, data)


_register_digest("md5", lambda data: hashlib.md5(data, usedforsecurity=False).hexdigest())
_register_digest("sha1", lambda data: hashlib.sha1(data, usedforsecurity=False).hexdigest())
_register_digest("crc32", zlib.crc32)


@strict("static_invoke.ExpressionImplUtils.hmac")
def keyed_digest(call: Call, key: pa.Array, data: Value, algorithm: Value) -> Value:
    names = {"SHA-224", "SHA-256", "SHA-384", "SHA-512", "SHA1", "SHA-1", "MD5"}

    def run(secret: bytes, message: bytes, name: str) -> bytes:
        if name.upper() not in names:
            raise EvaluationError("INVALID_PARAMETER_VALUE.HMAC_ALGORITHM", f"'{name}' is no digest")
        if not secret:
            raise EvaluationError("INVALID_PARAMETER_VALUE.HMAC_CRYPTO_ERROR", "an empty key of hmac")
        return hmac.digest(secret, message, name.upper().replace("-", ""))

    return per_distinct(run, call.type, key, data, algorithm)


_SHA2 = {0: "sha256", 224: "sha224", 256: "sha256", 384: "sha384", 512: "sha512"}


@strict("sha2")
def sha2(call: Call, data: pa.Array, bits: Value) -> Value:
    """NULL for a length that isn't SHA-2's."""
    return per_distinct(
        lambda each, length: hashlib.new(_SHA2[length], each).hexdigest() if length in _SHA2 else None,
        call.type,
        data,
        bits,
    )


@strict("static_invoke.Base64.encode")
def to_base64(call: Call, data: pa.Array, chunked: Value) -> Value:
    """In lines of 76 characters where `chunked`."""
    lines = bool(chunked.as_py())

    def encode(each: bytes) -> str:
        text = base64.b64encode(each).decode()
        return "\r\n".join(text[at : at + 76] for at in range(0, len(text), 76)) if lines else text

    return per_distinct(encode, call.type, data)


@strict("un_base64")
def from_base64(call: Call, text: pa.Array) -> Value:
    """As Java's MIME decoder, which skips characters of no meaning; option failOnError allows only blanks.

    option tried: what can't be decoded is NULL.
    """
    if call.option("tried"):
        return per_distinct(_checked_base64, call.type, text)
    if call.option("failOnError"):
        return per_distinct(_or_fail(_checked_base64), call.type, text)
    return per_distinct(_mime_base64, call.type, text)


def _checked_base64(text: str) -> bytes | None:
    """Whole groups of four, of which the last one may be padded; None for anything else.

    Blanks may stand before the padding.
    """
    digits = text.rstrip("=")
    compact = re.sub(_JAVA_BLANKS, "", digits) + text[len(digits) :]
    if "=" in digits:
        return None
    if not re.fullmatch(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?", compact):
        return None
    return _mime_base64(compact)


# what Java's Character.isWhitespace says of ASCII
_JAVA_BLANKS = r"[\t-\r\x1c-\x20]"


def _mime_base64(text: str) -> bytes:
    """As java.util.Base64's MIME decoder: what is no digit is skipped, but for the padding's own two."""
    before, padding, after = text.partition("=")
    digits = re.sub(r"[^A-Za-z0-9+/]", "", before)
    last = len(digits) % 4
    if last == 1:
        raise EvaluationError("INVALID_BASE64", f"'{text}' ends within a byte")
    if padding and (last == 0 or (last == 2 and not after.startswith("="))):
        raise EvaluationError("INVALID_BASE64", f"'{text}' has padding of the wrong length")
    if re.search(r"[A-Za-z0-9+/]", after):
        raise EvaluationError("INVALID_BASE64", f"'{text}' goes on behind its padding")
    return base64.b64decode(digits + "=" * (-last % 4))


@strict("static_invoke.UrlCodec.encode")
def url_encode(call: Call, text: pa.Array) -> Value:
    return per_distinct(lambda each: quote_plus(each, safe="*").replace("~", "%7E"), call.type, text)


# Spark's character sets but for UTF-8, by Python's names
_CHARSETS = {"UTF-16BE": "utf-16-be", "UTF-16LE": "utf-16-le", "UTF-16": "utf-16-be", "UTF-32": "utf-32-be"}
_CHARSETS |= {"US-ASCII": "ascii", "ISO-8859-1": "latin-1"}
_MALFORMED = "MALFORMED_CHARACTER_CODING"


def _no_charset(call: Call) -> str | None:
    charset = call.arguments[1]
    if isinstance(charset, Literal) and str(charset.value).upper() in ("UTF-8", "UTF8", *_CHARSETS):
        return None
    return f"a character set that is none of UTF-8, {', '.join(_CHARSETS)}"


@strict("static_invoke.Encode.encode", refuse=_no_charset)
def encode(call: Call, text: pa.Array, charset: Value, *modes: Value) -> Value:
    """Java's UTF-16 begins with a byte order mark where there is text."""
    name = charset.as_py().upper()
    if name not in _CHARSETS:
        return text.cast(pa.binary())
    mark = b"\xfe\xff" if name == "UTF-16" else b""

    def run(each: str) -> bytes:
        try:
            return mark * bool(each) + each.encode(_CHARSETS[name])
        except UnicodeEncodeError as error:
            raise EvaluationError(_MALFORMED, f"a value has characters that {name} hasn't") from error

    return per_distinct(run, call.type, text)


@strict("static_invoke.StringDecode.decode", refuse=_no_charset)
def decode(call: Call, data: pa.Array, charset: Value, legacy_charsets: Value, legacy_errors: Value) -> Value:
    """An error for what the character set doesn't have."""
    name = charset.as_py().upper()
    if name not in _CHARSETS:
        text = data.view(pa.string())
        try:
            text.validate(full=True)
        except pa.ArrowInvalid:
            per_distinct(lambda each: _decoded(each, "UTF-8"), call.type, data)
        return text
    return per_distinct(lambda each: _decoded(each, name), call.type, data)


def _decoded(data: bytes, name: str) -> str:
    try:
        if name == "UTF-16" and data[:2] == b"\xff\xfe":
            return data[2:].decode("utf-16-le")
        text = data.decode(_CHARSETS.get(name, "utf-8"))
    except UnicodeDecodeError as error:
        raise EvaluationError(_MALFORMED, f"a value is not {name}") from error
    # a mark of the order of bytes is no character of those that look for one
    return text.removeprefix("\ufeff") if name in ("UTF-16", "UTF-32") else text


@strict("static_invoke.Base32.encode")
def to_base32(call: Call, data: pa.Array, *modes: Value) -> Value:
    return per_distinct(lambda each: base64.b32encode(each).decode(), call.type, data)


@strict("static_invoke.UnBase32.decode")
def from_base32(call: Call, text: pa.Array, *modes: Value) -> Value:
    """Digits of either case up to the first =; what is no digit is skipped, a part of a byte dropped."""
    return per_distinct(_base32_bytes, call.type, text)


def _base32_bytes(text: str) -> bytes:
    digits = re.sub(r"[^A-Za-z2-7]", "", text.split("=", 1)[0]).upper()
    alone = len(digits) % 8 == 1  # a last digit alone is a byte: its upper three bits behind the digit before
    whole = base64.b32decode((digits + "A" * (-len(digits) % 8)).encode())[: len(digits) * 5 // 8]
    before = _BASE32.index(digits[-2]) if alone and len(digits) > 1 else 0
    return whole + bytes([before << 3 | _BASE32.index(digits[-1]) >> 2]) if alone else whole


_BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
