"""Text and bytes: strings, patterns, digests, encodings, URLs."""

# ruff: noqa: E501  a function a line
from __future__ import annotations

import pyarrow as pa

from tests.generators.columns.texts import text_rows

URLS = [
    "http://spark.apache.org/path?query=1", "https://u:p@h.com:8080/a/b.php?x=1&y=2#frag", "", "x", "a%20b+c",
    "http://ex.org/ü?é=1", "%41%C3%A9", "%zz", "%4", "ftp://h/%7Ea", "mailto:a@b.c", "http://h?x=1&x=2&xy=3",
    "//h/p?q", "http://[::1]:80/p", "a b", "http://h/a b", "%ff%fe", "file:///etc/x", "http://h_x/y?z=%20",
]  # fmt: skip
NUMERALS = [
    "", "0", "4111111111111111", "79927398713", "79927398714", "12a", "$1,234.50", "-12", "12-", "1234", "<12>",
    " 12", "0.5", "123,456", "MDEyMzQ1", "YQ==", "YQ", "a", "QUJD\r\nREVG", "JBSWY3DP", "S0", "abcd1234XYZ-é",
]  # fmt: skip


def _rows() -> pa.RecordBatch:
    rows = text_rows()
    count = rows.num_rows
    for name, values in (("u", URLS), ("n", NUMERALS)):
        repeated = [None, *(values[at % len(values)] for at in range(count - 1))]
        rows = rows.append_column(name, pa.array(repeated, pa.string()))
    return rows


ROWS = _rows()

FUNCTIONS: dict[str, list[str]] = {
    "||": ["s || p", "b || b2"],
    "ascii": ["ascii(s)"],
    "jaro_winkler_similarity": [
        "jaro_winkler_similarity(s, p)",
        "jaro_winkler_similarity(s, reverse(s))",
        "jaro_winkler_similarity(s, substr(s, 2) || p)",
        "jaro_winkler_similarity('MARTHA', upper(s))",
    ],
    "base64": ["base64(s)", "base64(b)"],
    "binary": ["binary(s)"],
    "bit_length": ["bit_length(s)", "bit_length(b)"],
    "btrim": ["btrim(s)", "btrim(s, p)"],
    "char": ["char(l)"],
    "char_length": ["char_length(s)"],
    "character_length": ["character_length(s)"],
    "chr": ["chr(l)"],
    "collation": ["collation(s)"],
    "concat": ["concat(s, p, 'é')", "concat(b, b2)", "concat(arr, arr)"],
    "concat_ws": ["concat_ws(',', s, p)", "concat_ws(p, arr, s)"],
    "contains": ["contains(s, p)", "contains(b, b2)"],
    "conv": ["conv(s, 10, 16)", "conv(n, 16, 10)"],
    "crc32": ["crc32(s)"],
    **{name: [f"{name}()"] for name in ("version", "current_user", "session_user", "user", "current_path")},
    **{f"current_{of}": [f"current_{of}()"] for of in ("catalog", "database", "schema")},
    "decode": ["decode(b, 'utf-8')", "decode(encode(s, 'UTF-16'), 'UTF-16')", "decode(encode(s, 'utf-16le'), 'utf-16le')",
               "decode(encode(s, 'UTF-16BE'), 'UTF-16BE')", "decode(encode(s, 'UTF-32'), 'UTF-32')", "decode(b, 'ISO-8859-1')", "decode(unhex(hex(hex(s))), 'us-ascii')",
               "decode(k, 1, 'one', 2, p, NULL, 'none', s)", "decode(k, 1, 'one')"],
    "elt": ["elt(1, s, p)", "elt(CASE WHEN k > 0 AND k < 3 THEN k END, s, p)"],
    "encode": ["encode(s, 'utf-8')", "encode(s, 'UTF-16BE')", "encode(s, 'utf-16')", "encode(decode(b, 'ISO-8859-1'), 'iso-8859-1')", "encode(hex(s), 'US-ASCII')"],
    "endswith": ["endswith(s, p)", "endswith(b, b2)"],
    "find_in_set": ["find_in_set(p, s)", "find_in_set('b', s)"],
    "format_number": ["format_number(l, 3)"],
    "format_string": ["format_string('%s is %d', s, k)", "format_string('[%-6s|%6.2s|%.1s]', s, p, s)", "format_string('%2$s %1$s %<s %%%n', s, p)",
                      "format_string('%d %+d %,d %(d', l, l, l, l)", "format_string('% 08d %-25d|%(,25d %025d', k, l, l, l)", "format_string('%x %X %#o %010x', k, l, k, l)",
                      "format_string('%s %s', k > 1, l)", "format_string('%b %B %5b', k > 1, s, k)", "format_string('%c%3c', abs(k) + 65, 128512)",
                      "format_string('é😀')", "format_string(NULL, s)", "format_string('%s %d', NULL, NULL)"],
    "from_base32": ["from_base32(n)", "from_base32(s)", "from_base32(to_base32(b))", "from_base32(lower(substr(to_base32(s), 1, abs(k) * 3 - 1)))"],
    "hex": ["hex(s)", "hex(b)", "hex(l)"],
    "hmac": ["hmac(concat('k', s), b)", "hmac(b || b2 || X'01', b, 'SHA1')"],
    "ilike": ["s ILIKE 'A_c'", "s ILIKE p"],
    "initcap": ["initcap(s)"],
    "instr": ["instr(s, p)", "instr(s, '😀')", "instr(s, p, 2)", "instr(s, p, -1)", "instr(s, 'a', -2, 2)", "instr(s, 'a', 0)", "instr(s, '', 0, 2)", "instr(s, p, k)",
              "instr(s || s || s, p, 2, 2)", "instr('aaaaa' || s, 'aa', 1, 3)", "instr(s || 'aaaaa', 'aa', -1, 2)", "instr('', p, k)", "instr('', p, 1, 2)"],
    "is_valid_utf8": ["is_valid_utf8(s)", "is_valid_utf8(string(unhex('41ff')))"],
    "lcase": ["lcase(s)"],
    "left": ["left(s, k)"],
    "len": ["len(s)"],
    "length": ["length(s)", "length(b)"],
    "levenshtein": ["levenshtein(s, p)", "levenshtein(s, p, 3)"],
    "like": ["s LIKE 'a%c'", "s LIKE 'x!_y%' ESCAPE '!'", "s LIKE ANY ('a%', '%b')", "s LIKE ALL ('a%', '%b')"],
    "locate": ["locate(p, s)", "locate(p, s, k)"],
    "lower": ["lower(s)"],
    "lpad": ["lpad(s, 5, 'é😀')", "lpad(b, 5, b2)"],
    "ltrim": ["ltrim(s)", "ltrim('ab', s)"],
    "luhn_check": ["luhn_check(n)", "luhn_check(s)", "luhn_check('é')"],
    "make_valid_utf8": ["make_valid_utf8(s)", "make_valid_utf8(string(b || unhex('ff41e2')))"],
    "mask": ["mask(n)", "mask(s, 'Q', 'q', 'd', 'o')", "mask(s, NULL, 'x', NULL, '*')"],
    "md5": ["md5(s)"],
    "octet_length": ["octet_length(s)"],
    "overlay": ["overlay(s PLACING p FROM 2)", "overlay(s PLACING 'zz' FROM k FOR 1)"],
    "parse_url": ["parse_url(CASE WHEN u NOT LIKE '% %' AND u NOT LIKE '%zz' AND u <> '%4' THEN u END, 'HOST')"],
    "position": ["position(p IN s)", "position(p, s, 2)"],
    "printf": ["printf('%05d-%s', k, p)"],
    "quote": ["quote(s)"],
    "regexp": ["s REGEXP '^a+'"],
    "regexp_count": ["regexp_count(s, 'a')", "regexp_count(s, '[b😀]')"],
    "regexp_extract": ["regexp_extract(s, '([a-z]+) ([a-z]+)', 2)"],
    "regexp_extract_all": ["regexp_extract_all(s, '([a-z])([0-9])?', 2)"],
    "regexp_instr": ["regexp_instr(s, '[b😀]')"],
    "regexp_like": ["regexp_like(s, 'b$')"],
    "regexp_replace": ["regexp_replace(s, '(a)(.)', '$2$1')"],
    "regexp_substr": ["regexp_substr(s, '[b-y]+')"],
    "repeat": ["repeat(s, k)"],
    "replace": ["replace(s, p, 'é')", "replace(s, 'a')"],
    "reverse": ["reverse(s)", "reverse(arr)"],
    "right": ["right(s, k)"],
    "rlike": ["s RLIKE 'b+'"],
    "rpad": ["rpad(s, 5, 'é😀')", "rpad(b, 5)"],
    "rtrim": ["rtrim(s)", "rtrim('c ', s)"],
    "sha": ["sha(s)"],
    "sha1": ["sha1(b)"],
    "sha2": ["sha2(s, 256)", "sha2(s, 512)", "sha2(s, k)"],
    "soundex": ["soundex(s)"],
    "space": ["space(k)"],
    "split": ["split(s, '[,.]')", "split(s, 'a', 2)"],
    "split_part": ["split_part(s, ',', 2)", "split_part(s, p, -1)"],
    "startswith": ["startswith(s, p)", "startswith(b, b2)"],
    "str_to_map": ["str_to_map(concat('a:', p, ',b'), ',', ':')"],
    "substr": ["substr(s, k, 2)", "substr(b, k)"],
    "substring": ["substring(s, 2, 3)", "substring(s FROM k)"],
    "substring_index": ["substring_index(s, '.', 1)", "substring_index(s, p, k)"],
    "to_base32": ["to_base32(s)", "to_base32(b)"],
    "to_binary": ["to_binary(hex(s), 'hex')", "to_binary(s, 'utf-8')", "to_binary(base64(b), 'base64')"],
    "to_char": ["to_char(b, 'hex')", "to_char(b, 'base64')", "to_char(b, 'utf-8')"],
    "translate": ["translate(s, 'aéa', 'xyz')", "translate(s, p, 'q')"],
    "trim": ["trim(s)", "trim(BOTH p FROM s)"],
    "try_parse_url": ["try_parse_url(u, 'HOST')", "try_parse_url(u, 'QUERY', 'x')"],
    "try_to_binary": ["try_to_binary(n, 'hex')", "try_to_binary(n, 'base64')", "try_to_binary(s, 'utf-8')"],
    "try_url_decode": ["try_url_decode(u)", "try_url_decode(s)"],
    "try_validate_utf8": ["try_validate_utf8(s)", "try_validate_utf8(string(b || unhex('ff')))"],
    "ucase": ["ucase(s)"],
    "unbase64": ["unbase64(base64(s))"],
    "unhex": ["unhex(hex(s))"],
    "upper": ["upper(s)"],
    "url_decode": ["url_decode(url_encode(s))"],
    "url_encode": ["url_encode(s)", "url_encode(u)"],
    "validate_utf8": ["validate_utf8(s)"],
    "bitmap_count": ["bitmap_count(b)"],
    "hash": ["hash(s)", "hash(s, p, k, l)", "hash(arr)", "hash(b, NULL, 'é')", "hash(struct(s, k))"],
    "xxhash64": ["xxhash64(s)", "xxhash64(s, p, k, l)", "xxhash64(repeat(s, 9))", "xxhash64(arr)"],
}  # fmt: skip
