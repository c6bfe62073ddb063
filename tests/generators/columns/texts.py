"""Strings where text functions go wrong: empty, non-ASCII, beyond the BMP, patterns' own characters."""

from __future__ import annotations

import random
import unicodedata

import pyarrow as pa

WORDS = [
    "", "a", "A", "abc", " abc ", " a b ", "Straße", "ΑΣΣ", "ὈΔΥΣΣΕΎΣ Σ", "İstanbul", "ﬁn", "😀", "a😀b", "é",
    "e\u0301x", "日本語", "hello world foo", "a.b.c", "a..b", "aaa", "aXbXc", "%_\\", "x_y%z", "tab\there",
    "nl\nline\n", "\r\n", "a,b,,c,", "1234567890", ",", "ǆabc ǅ", "o'neil mc-donald", "\u00a0nb\u00a0",
    "http://x.y/z?q=1&channel_id=77&r=2", "\u2028z", "0xFF", "-15", "zz9", "12ab", "ffffffffffffff", "Robert",
    "Tymczak", "Pfister", "Ashcraft", "Honeyman",
]  # fmt: skip
PARTS = [None, "", "a", "b", ".", "é", "😀", "aa", "Σ", " ", "ab", "%", "a%", "_b%"]
_ALPHABET = "aAbB .,é😀Σß%_\\x"


def letters() -> pa.RecordBatch:
    """s: every letter of the Basic Multilingual Plane that Unicode 3.2 had, alone and in a word."""
    codes = [code for code in range(1, 0xFFFF) if unicodedata.ucd_3_2_0.category(chr(code)).startswith("L")]
    cased = [code for code in codes if chr(code).lower() != chr(code) or chr(code).upper() != chr(code)]
    return pa.RecordBatch.from_pydict({"s": [f"{chr(code)}x{chr(code)} {chr(code)}" for code in cased]})


def text_rows(rows: int = 250) -> pa.RecordBatch:
    """s: text; p: parts of it; b, b2: their bytes; k: small integers; l: BIGINT; arr: arrays of strings."""
    choose = random.Random(5)
    made = ["".join(choose.choices(_ALPHABET, k=choose.randint(0, 12))) for _ in range(rows - len(WORDS) - 1)]
    text = [*WORDS, None, *made]
    parts = choose.choices(PARTS, k=rows)
    small = choose.choices([None, 0, 1, 2, 3, -1, -2, -3, 5], k=rows)
    wide = choose.choices([None, 0, 1, 65, 256, 321, -1, 233, 2**63 - 1, -(2**63), 10**12], k=rows)
    arrays = choose.choices([None, [], ["a"], ["a", None, "b"], [None], ["", "é"]], k=rows)
    columns = {
        "s": pa.array(text, pa.string()),
        "p": pa.array(parts, pa.string()),
        "b": pa.array([each and each.encode() for each in text], pa.binary()),
        "b2": pa.array([each and each.encode() for each in parts], pa.binary()),
        "k": pa.array(small, pa.int32()),
        "l": pa.array(wide, pa.int64()),
        "arr": pa.array(arrays, pa.list_(pa.string())),
    }
    return pa.RecordBatch.from_pydict(columns)
