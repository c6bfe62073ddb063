"""What Spark itself evaluates for us: documents, variants, sketches that come in a column, ciphers, collations."""

# ruff: noqa: E501  a function a line
from __future__ import annotations

from itertools import cycle, islice

import pyarrow as pa

from tests.circuits.functions.catalogue.documents import documents

# of 1, 2, 5 and of 3, 5: what Spark's own aggregates have made
_SKETCHES = {
    "hll": (
        "0201070C030003082BF2FB06862FF90D7B65E6080000000000000000000000000000000000000000",
        "0201070C03000208758166077B65E608000000000000000000000000000000000000000000000000",
    ),
    "kb": (
        "05010F00C80008000300000000000000C8000100C500000001000000000000000500000000000000010000000000000002000000000000000500000000000000",
        "05010F00C80008000200000000000000C8000100C60000000300000000000000050000000000000003000000000000000500000000000000",
    ),
    "kd": (
        "05010F00C80008000300000000000000C8000100C5000000000000000000F03F0000000000001440000000000000F03F00000000000000400000000000001440",
        "05010F00C80008000200000000000000C8000100C60000000000000000000840000000000000144000000000000008400000000000001440",
    ),
    "kf": (
        "05010F00C80008000300000000000000C8000100C50000000000803F0000A0400000803F000000400000A040",
        "05010F00C80008000200000000000000C8000100C6000000000040400000A040000040400000A040",
    ),
    "th": (
        "0104033C011ACC93035A186BDCB7DF915F2B0A88A6F539A89D0DF3AA08965060",
        "0104033F011ACC93022999228CE4E6657B2271D6513D0037F4",
    ),
    "td": (
        "02030901000ACC93030000000000000015F97DCBBD86A105000000000000F03F00BD3273724691CC14000000000000144000C397FC1281709D1E000000000000004000",
        "02030901000ACC930200000000000000BA40B3C1DA06695D000000000000084000BD3273724691CC14000000000000144000",
    ),
    "ti": (
        "02030901000ACC93030000000000000015F97DCBBD86A1050100000000BD3273724691CC140500000000C397FC1281709D1E0200000000",
        "02030901000ACC930200000000000000BA40B3C1DA06695D0300000000BD3273724691CC140500000000",
    ),
}
_XML = [
    "<a><b>1</b><b>2</b><c x='7'>yes</c></a>", "<a><b>-3.5</b></a>", "<a/>", "<a><b>é</b><c/></a>", None,
    "<a><b> 12 </b><b>x</b></a>", "<r><a>1</a></r>",
]  # fmt: skip
# points, one of them of the other order of bytes
_WKB = [
    "0101000000000000000000F03F0000000000000040", "0000000001C0590000000000003FE0000000000000",
    "010100000000000000000000800000000000000000", None,
]  # fmt: skip
_CSV = ["1,x,2.5", "2;y", "", " 3 , 'z' ,", None, "x,y,z", '4,"a,b",1e3', "5", "1,2,3,4"]
_ROWS = 210


def _column(values: list[object], data_type: pa.DataType) -> pa.Array:
    return pa.array(list(islice(cycle(values), _ROWS)), data_type)


ROWS = pa.RecordBatch.from_pydict(
    {
        "i": _column([0, 1, 2, None, -1, 3, 7, 40], pa.int32()),
        "l": _column([1, 2, 5, None, 3], pa.int64()),
        "s": _column(
            ["Hi there! Good morning.", "", None, "Ünïcode? Yes", "a.b", "HI THERE! good morning."],
            pa.string(),
        ),
        "j": pa.array(documents(_ROWS)),
        "x": _column(_XML, pa.string()),
        "c": _column(_CSV, pa.string()),
        "t": _column([0, 1_700_000_000_123_456, None, -1], pa.timestamp("us", "UTC")),
        "n": _column([1_700_000_000_123_456, None], pa.timestamp("us")),
        "dt": _column([0, 19_800, None, -30_000], pa.date32()),
        "tm": _column([0, 36_000_500_000_000, None, 86_399_999_999_000], pa.time64("ns")),
        "a": _column([[1, None, 3], [], None], pa.list_(pa.int32())),
        "y": _column([0, 14, None, -3], pa.duration("s")),
        "g": _column([None if point is None else bytes.fromhex(point) for point in _WKB], pa.binary()),
    }
    | {name: _column([*map(bytes.fromhex, pair), None], pa.binary()) for name, pair in _SKETCHES.items()}
)

_V = "try_parse_json(j)"
_HLL, _THETA = (f"unhex('{_SKETCHES[name][1]}')" for name in ("hll", "th"))
_AES = "'0000111122223333'"
FUNCTIONS = {
    "parse_json": ["to_json(parse_json(to_json(named_struct('a', i, 'b', a))))", "parse_json(to_json(a))::array<int>"],
    "try_parse_json": [f"to_json({_V})", f"{_V}::string"],
    "variant_get": [f"variant_get({_V}, '$.a', 'string')", f"variant_get({_V}, '$.b', 'variant')::string"],
    "try_variant_get": [f"try_variant_get({_V}, '$.a', 'int')", f"try_variant_get({_V}, '$.b[0]', 'double')"],
    "is_variant_null": [f"is_variant_null({_V})", f"is_variant_null(try_variant_get({_V}, '$.a'))"],
    "is_valid_variant": [f"is_valid_variant({_V})"],
    "schema_of_variant": [f"schema_of_variant({_V})"],
    "to_variant_object": ["to_json(to_variant_object(named_struct('i', i, 's', s)))"],
    "variant_insert": ["to_json(variant_insert(parse_json('{}'), '$.a', i))"],
    "try_variant_insert": ["to_json(try_variant_insert(parse_json('{\"a\": 1}'), '$.a', i))"],
    "variant_set": ["to_json(variant_set(parse_json('{\"a\": 1}'), '$.a', s))"],
    "try_variant_set": ["to_json(try_variant_set(parse_json('{\"a\": 1}'), '$.a', s))"],
    "variant_delete": [f"to_json(variant_delete({_V}, '$.a'))"],
    "variant_array_append": ["to_json(variant_array_append(parse_json('[]'), '$', i))"],
    "try_variant_array_append": [f"to_json(try_variant_array_append({_V}, '$', i))"],
    "variant_strip_nulls": [f"to_json(variant_strip_nulls({_V}))"],
    "from_json": ["from_json(j, 'a TIMESTAMP_NTZ')", "from_json(j, 'a INT, _corrupt_record STRING')", "from_json(j, 'a INT', map('allowComments', 'true'))"],
    "from_csv": ["from_csv(c, 'a INT, b STRING')", "from_csv(c, 'a STRING, b STRING, d DOUBLE', map('sep', ';'))"],
    "to_csv": ["to_csv(named_struct('i', i, 's', s, 't', t))", "to_csv(named_struct('d', dt, 'n', n), map('sep', '|'))"],
    "from_xml": ["from_xml(x, 'b ARRAY<STRING>, c STRING')", "from_xml(x, 'b INT')"],
    "to_xml": ["to_xml(named_struct('i', i, 's', s))", "to_xml(named_struct('a', a))", "to_xml(named_struct('m', map('k', i)))"],
    "xpath": ["xpath(x, 'a/b/text()')"],
    "xpath_boolean": ["xpath_boolean(x, 'a/b')"],
    "xpath_double": ["xpath_double(x, 'sum(a/b)')"],
    "xpath_float": ["xpath_float(x, 'a/b')"],
    "xpath_int": ["xpath_int(x, 'sum(a/b)')"],
    "xpath_long": ["xpath_long(x, 'a/b')"],
    "xpath_number": ["xpath_number(x, 'a/b')"],
    "xpath_short": ["xpath_short(x, 'a/c/@x')"],
    "xpath_string": ["xpath_string(x, 'a/c')"],
    "sentences": ["sentences(s)", "sentences(s, 'en', 'US')"],
    "collate": ["collate(s, 'UTF8_LCASE') = 'hi there! good morning.'", "collate(s, 'UNICODE_CI') < 'm'"],
    "collation": ["collation(collate(s, 'UNICODE'))"],
    "aes_encrypt": [f"aes_encrypt(s, {_AES}, 'ECB')", f"aes_encrypt(s, {_AES}, 'GCM', 'DEFAULT', unhex('00112233445566778899AABB'))"],
    "aes_decrypt": [f"aes_decrypt(aes_encrypt(s, {_AES}, 'ECB'), {_AES}, 'ECB')::string"],
    "try_aes_decrypt": [f"try_aes_decrypt(s::binary, {_AES}, 'ECB')"],
    "make_interval": ["t + make_interval(0, i, 0, i)", "make_interval(0, i, 1)::string"],
    "try_make_interval": ["dt + try_make_interval(0, i)", "try_make_interval(i * 1000000)::string"],
    "make_time": ["make_time(pmod(i, 24), pmod(l, 60), 7.25)"],
    "time_diff": ["time_diff('MINUTE', tm, TIME'12:00')", "time_diff('hour', TIME'12:00', tm)"],
    "time_trunc": ["time_trunc('HOUR', tm)", "time_trunc('MILLISECOND', tm)"],
    "time_from_seconds": ["time_from_seconds(pmod(i, 86400))", "time_from_seconds(0.5)"],
    "time_from_millis": ["time_from_millis(pmod(l, 1000))"],
    "time_from_micros": ["time_from_micros(pmod(l, 1000))"],
    "time_to_seconds": ["time_to_seconds(tm)"],
    "time_to_millis": ["time_to_millis(tm)"],
    "time_to_micros": ["time_to_micros(tm)"],
    "to_time": ["to_time(tm::string)", "to_time(format_string('%02d.30', pmod(coalesce(i, 0), 24)), 'HH.mm')"],
    "try_to_time": ["try_to_time(s)", "try_to_time(tm::string)", "try_to_time('10.30', 'HH.mm')"],
    "time": ["time(t)", "time(tm::string)"],
    "timestamp_nanos": ["timestamp_nanos(l)::timestamp", "timestamp_nanos(i * 1000000001L)::string", "timestamp_nanos(l) > timestamp_nanos(i)"],
    "unix_nanos": ["unix_nanos(timestamp_nanos(l))", "unix_nanos(timestamp_nanos(i * 1000000001L)) % 1000"],
    "st_asbinary": ["st_asbinary(st_geomfromwkb(g))", "st_asbinary(st_geogfromwkb(g))"],
    "st_geomfromwkb": ["st_geomfromwkb(g) IS NULL", "st_asbinary(st_geomfromwkb(g, 3857))"],
    "st_geogfromwkb": ["st_srid(st_geogfromwkb(g))"],
    "st_srid": ["st_srid(st_geomfromwkb(g))", "st_srid(st_geomfromwkb(g, 4326))"],
    "st_setsrid": ["st_srid(st_setsrid(st_geomfromwkb(g), 3857))"],
    "assert_true": ["assert_true(i IS NULL OR i < 100)::int"],
    "hll_sketch_estimate": ["hll_sketch_estimate(hll)"],
    "hll_union": [f"hll_sketch_estimate(hll_union(hll, {_HLL}))"],
    "theta_sketch_estimate": ["theta_sketch_estimate(th)"],
    "theta_union": [f"theta_sketch_estimate(theta_union(th, {_THETA}))"],
    "theta_intersection": [f"theta_sketch_estimate(theta_intersection(th, {_THETA}))"],
    "theta_difference": [f"theta_sketch_estimate(theta_difference(th, {_THETA}))"],
}  # fmt: skip
for _kind, _value in (("bigint", "kb"), ("double", "kd"), ("float", "kf")):
    FUNCTIONS[f"kll_sketch_get_n_{_kind}"] = [f"kll_sketch_get_n_{_kind}({_value})"]
    FUNCTIONS[f"kll_sketch_get_quantile_{_kind}"] = [f"kll_sketch_get_quantile_{_kind}({_value}, 0.5)"]
    FUNCTIONS[f"kll_sketch_get_rank_{_kind}"] = [f"kll_sketch_get_rank_{_kind}({_value}, CAST(2 AS {_kind}))"]
    FUNCTIONS[f"kll_sketch_to_string_{_kind}"] = [f"kll_sketch_to_string_{_kind}({_value})"]
for _kind, _value in (("double", "td"), ("integer", "ti")):
    _other = f"unhex('{_SKETCHES[_value][1]}')"
    FUNCTIONS[f"tuple_sketch_estimate_{_kind}"] = [f"tuple_sketch_estimate_{_kind}({_value})"]
    FUNCTIONS[f"tuple_sketch_summary_{_kind}"] = [f"tuple_sketch_summary_{_kind}({_value}, 'sum')"]
    FUNCTIONS[f"tuple_sketch_theta_{_kind}"] = [f"tuple_sketch_theta_{_kind}({_value})"]
    for _set in ("union", "intersection", "difference"):
        for _with, _right in (("", _other), ("_theta", "th")):
            _name = f"tuple_{_set}{_with}_{_kind}"
            FUNCTIONS[_name] = [f"tuple_sketch_estimate_{_kind}({_name}({_value}, {_right}))"]
