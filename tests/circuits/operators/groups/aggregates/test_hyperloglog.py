"""HyperLogLog++ against Spark; and its registers against a look at every hash."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import xxhash
from hypothesis import example, given
from hypothesis import strategies as st

from dbsp.circuits.expressions.nodes import Call, Column
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.operators.groups.aggregates.hyperloglog import BITS, ApproximateCount, Registers
from dbsp.circuits.operators.groups.state.members import Members


def estimate(numbers: range) -> int:
    rows = pa.record_batch([pa.array(numbers, pa.int64())], names=["n"])
    hashes = evaluate(Call("xx_hash64", (Column(0, pa.int64()),), pa.int64()), rows)
    at, index, amount = Registers().split([hashes])
    # what is retracted leaves no trace
    gone = np.arange(len(at)) % 3 == 0
    columns = [pa.array(np.concatenate([column, column[gone]])) for column in index]
    columns.append(pa.array(np.concatenate([2 * amount, -amount[gone]])))
    owner = np.zeros(len(columns[0]), dtype=np.int64)
    result = ApproximateCount().finalize(
        Members(owner, columns, np.ones(len(owner), np.int64), 1), pa.int64()
    )
    return int(result[0].as_py())


@pytest.mark.spark
def test_estimates_are_sparks(spark: Any) -> None:
    """Below the threshold of linear counting, within and beyond the reach of bias correction."""
    sizes = [0, 1, 50, 380, 420, 700, 1500, 2500, 6000, 40000]
    counts = [f"approx_count_distinct(id) FILTER (WHERE id < {size})" for size in sizes]
    (row,) = spark.sql(f"SELECT {', '.join(counts)} FROM range(40000)").collect()
    assert [estimate(range(size)) for size in sizes] == list(row)


@given(st.lists(st.integers(0, 2**64 - 1), max_size=8))
@example([0, 1, 2**55 - 1, 2**55, 2**64 - 1, 2**53 + 1])
def test_a_hash_is_its_register_and_its_leading_zeros(hashes: list[int]) -> None:
    column = pa.array(np.array(hashes, np.uint64).view(np.int64))
    at, (register, rank), amount = Registers().split([column])
    assert at.tolist() == list(range(len(hashes))) and amount.tolist() == [1] * len(hashes)
    for value, found, zeros in zip(hashes, register.tolist(), rank.tolist(), strict=True):
        bits = f"{value:064b}"
        assert found == int(bits[:BITS], 2)
        # the first bit behind the rest always counts
        assert zeros == len(bits[BITS:]) - len(bits[BITS:].lstrip("0")) + 1


@pytest.mark.parametrize("size", [0, 1, 2, 50, 300])
def test_few_values_are_counted_by_their_empty_registers(size: int) -> None:
    """Linear counting, m ln(m / empty), with Spark's hash of a BIGINT."""
    registers = {xxhash.xxh64_intdigest(n.to_bytes(8, "little"), 42) >> (64 - BITS) for n in range(size)}
    expected = 512 * np.log(512 / (512 - len(registers)))
    assert estimate(range(size)) == int(np.floor(expected + 0.5))


@pytest.mark.parametrize("size", [2000, 20_000])
def test_many_values_are_estimated_within_a_few_percent(size: int) -> None:
    """512 registers have a standard error of 1.04 / √512, which is 4.6 %."""
    assert abs(estimate(range(size)) - size) < 3 * 0.046 * size
