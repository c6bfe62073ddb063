"""URLs taken apart, against Python's urllib and what Spark documents."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote_plus, unquote_plus, urlsplit

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import EvaluationError
from tests.circuits.functions.calling import called

TEXT = pa.string()


def part(url: str | None, wanted: str, key: str | None = None, fail: bool = True) -> Any:
    keys = [] if key is None else [pa.scalar(key)]
    return called(
        "static_invoke.ParseUrlEvaluator.evaluate",
        TEXT,
        pa.array([url], TEXT),
        pa.scalar(wanted),
        *keys,
        failOnError=fail,
    )[0]


pieces = st.sampled_from(["a", "b-c", "x.y", "1"])
urls = st.builds(
    lambda scheme, user, host, port, path, query, ref: f"{scheme}://{user}{host}{port}{path}{query}{ref}",
    st.sampled_from(["http", "ftp+x"]),
    st.sampled_from(["", "me@", "me:pw@"]),
    st.sampled_from(["example.org", "localhost", "10.0.0.1", "[::1]"]),
    st.sampled_from(["", ":80"]),
    st.sampled_from(["", "/", "/p/q.html"]),
    st.sampled_from(["", "?a=1&b=2", "?x"]),
    st.sampled_from(["", "#ref"]),
)


@given(urls)
def test_parts(url: str) -> None:
    python = urlsplit(url)
    query = python.query or None
    host = (
        None
        if python.hostname is None
        else f"[{python.hostname}]"
        if ":" in python.hostname
        else python.hostname
    )
    assert part(url, "PROTOCOL") == python.scheme
    assert part(url, "HOST") == host
    assert part(url, "AUTHORITY") == python.netloc
    assert part(url, "PATH") == python.path
    assert part(url, "QUERY") == query
    assert part(url, "REF") == (python.fragment or None)
    assert part(url, "FILE") == (python.path if query is None else f"{python.path}?{query}")
    assert part(url, "USERINFO") == (python.netloc.rpartition("@")[0] or None)


# as Spark documents parse_url
def test_documented() -> None:
    url = "http://spark.apache.org/path?query=1"
    assert part(url, "HOST") == "spark.apache.org"
    assert part(url, "QUERY") == "query=1"
    assert part(url, "QUERY", "query") == "1"
    assert part(url, "QUERY", "other") is None and part(url, "PATH", "query") is None
    assert part(url, "NOTHING") is None and part(None, "HOST") is None


@pytest.mark.parametrize("url", ["inva lid://u.org", "http://a b", "http:", "http://[x", "http://a/%zz"])
def test_what_is_no_url(url: str) -> None:
    with pytest.raises(EvaluationError, match="INVALID_URL"):
        part(url, "HOST")
    assert part(url, "HOST", fail=False) is None


def decoded(text: str | None, fail: bool = True) -> Any:
    return called("static_invoke.UrlCodec.decode", TEXT, pa.array([text], TEXT), pa.scalar(fail))[0]


@given(st.text(st.sampled_from("a é+%&日😀"), max_size=6))
def test_decode(text: str) -> None:
    assert decoded(quote_plus(text)) == text
    assert decoded(None) is None


@pytest.mark.parametrize("text", ["%FF", "a%C3", "+%2B", "%e6%97%a5"])
def test_decode_as_python(text: str) -> None:
    assert decoded(text) == unquote_plus(text)


@pytest.mark.parametrize("text", ["%", "%4", "%zz", "a%"])
def test_what_is_not_encoded(text: str) -> None:
    with pytest.raises(EvaluationError, match="CANNOT_DECODE_URL"):
        decoded(text)
    assert decoded(text, fail=False) is None
