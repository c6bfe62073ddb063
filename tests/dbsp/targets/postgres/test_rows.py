"""Rows as CSV for COPY: an independent reader finds every value, and NULL apart from an empty text."""

from __future__ import annotations

import csv
import io

import pyarrow as pa

from dbsp.targets.postgres.rows import as_csv


def test_texts_are_in_quotes_and_null_is_nothing() -> None:
    texts = ["", None, 'a"b', "x\ny,\\.", "é"]
    rows = pa.record_batch({"n": pa.array([1, None, 3, -4, 5]), "s": pa.array(texts)})
    written = bytes(as_csv(rows)).decode()
    assert written.splitlines()[:2] == ['1,""', ","]
    read = list(csv.reader(io.StringIO(written, newline="")))
    assert read == [["1", ""], ["", ""], ["3", 'a"b'], ["-4", "x\ny,\\."], ["5", "é"]]


def test_bytes_are_two_digits_each_of_a_slice_too() -> None:
    values = [b"\x01", b"\x00\xff", None, b"", b"A"]
    rows = pa.record_batch({"b": pa.array(values, pa.binary())})
    assert bytes(as_csv(rows)).decode().splitlines() == [r'"\x01"', r'"\x00ff"', "", r'"\x"', r'"\x41"']
    assert bytes(as_csv(rows.slice(1, 3))).decode().splitlines() == [r'"\x00ff"', "", r'"\x"']
    assert bytes(as_csv(rows.slice(0, 0))) == b""
