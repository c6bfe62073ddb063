"""URLs: taken apart as java.net.URI reads them, and decoded. Once per distinct URL, in the interpreter."""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

import pyarrow as pa

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value
from dbsp.circuits.expressions.vectors.numbers import per_distinct, strict

# RFC 2396, with Java's "other" characters: what isn't ASCII and no space or control character.
_OTHER = r"[^\x00-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
_CHARACTER = rf"(?:[A-Za-z0-9_.!~*'();:@&=+$,/?\[\]-]|%[0-9A-Fa-f]{{2}}|{_OTHER})"
_PATH = _CHARACTER.replace("?\\[\\]", "")
_URI = re.compile(
    r"(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):)?"
    rf"(?://(?P<authority>(?:(?![/?#]){_CHARACTER})*))?"
    rf"(?P<path>{_PATH}*)"
    rf"(?:\?(?P<query>{_CHARACTER}*))?"
    rf"(?:\#(?P<fragment>{_CHARACTER}*))?"
)
_SERVER = re.compile(
    r"(?:(?P<user>[^@\[\]]*)@)?(?P<host>\[[0-9A-Fa-f:.]+\]|(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)*"
    r"[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.?|\d{1,3}(?:\.\d{1,3}){3})(?::(?P<port>\d*))?"
)


def _parsed(url: str) -> dict[str, str | None] | None:
    """The parts of a URI, None where Java finds none; None for what is no URI."""
    found = _URI.fullmatch(url)
    if found is None:
        return None
    parts = found.groupdict()
    if parts["scheme"] and parts["authority"] is None and not parts["path"]:
        return None  # a scheme and nothing behind it
    if parts["authority"] == "" and not parts["path"]:
        return None
    authority = parts["authority"] or None
    server = _SERVER.fullmatch(authority) if authority else None
    if authority and server is None and {"[", "]"} & {*authority}:
        return None  # brackets are an address's only
    opaque = bool(parts["scheme"]) and authority is None and not (parts["path"] or "").startswith("/")
    path, query = (None, None) if opaque else (parts["path"], parts["query"])
    return {
        "HOST": server and server["host"],
        "PATH": path,
        "QUERY": query,
        "REF": parts["fragment"],
        "PROTOCOL": parts["scheme"],
        "FILE": path if query is None or path is None else f"{path}?{query}",
        "AUTHORITY": authority,
        "USERINFO": server and server["user"],
    }


@strict("static_invoke.ParseUrlEvaluator.evaluate")
def parse_url(call: Call, url: pa.Array, part: Value, key: Value | None = None) -> Value:
    """A part of a URL, or a key's value in its query. option failOnError: for what is no URL."""
    fail = bool(call.option("failOnError"))

    def run(text: str, wanted: str, name: str | None = None) -> str | None:
        parts = _parsed(text)
        if parts is None:
            if fail:
                raise EvaluationError("INVALID_URL", f"'{text}' is not a URL")
            return None
        if name is None:
            return parts.get(wanted)
        if wanted != "QUERY" or parts["QUERY"] is None:
            return None
        try:
            found = re.search(f"(&|^){name}=([^&]*)", parts["QUERY"])
        except re.error:
            return None
        return found and found[2]

    return per_distinct(run, call.type, url, part, *([] if key is None else [key]))


@strict("static_invoke.UrlCodec.decode")
def url_decode(call: Call, text: pa.Array, fail: Value) -> Value:
    """NULL, or an error where `fail`, for a % without two digits behind it."""
    failing = bool(fail.as_py())

    def run(each: str) -> str | None:
        if re.search(r"%(?![0-9A-Fa-f]{2})", each):
            if failing:
                raise EvaluationError("CANNOT_DECODE_URL", f"'{each}' is not encoded as a URL")
            return None
        return re.sub(
            r"(?:%[0-9A-Fa-f]{2})+",
            lambda run: unquote_to_bytes(run[0]).decode(errors="replace"),
            each.replace("+", " "),
        )

    return per_distinct(run, call.type, text)
