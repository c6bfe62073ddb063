"""Vectors' lengths and angles, by NumPy's."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import EvaluationError
from tests.circuits.functions.calling import called

FLOATS = pa.list_(pa.float32())
VECTORS = "static_invoke.VectorFunctionImplUtils."


number = st.integers(-100, 100).map(lambda n: n / 4)
pairs = st.lists(
    st.integers(0, 20).flatmap(
        lambda n: st.tuples(*(st.lists(number, min_size=n, max_size=n) for _ in range(2)))
    ),
    min_size=1,
    max_size=4,
)


@given(pairs)
def test_two_vectors(listed: list[tuple[list[float], list[float]]]) -> None:
    a, b = (pa.array([*(pair[i] for pair in listed), None], FLOATS) for i in range(2))
    vectors = [(np.array(x), np.array(y)) for x, y in listed]
    expected = {
        "vectorInnerProduct": [x @ y for x, y in vectors],
        "vectorL2Distance": [np.linalg.norm(x - y) for x, y in vectors],
        "vectorCosineSimilarity": [
            None if not (size := np.linalg.norm(x) * np.linalg.norm(y)) else x @ y / size for x, y in vectors
        ],
    }
    for name, values in expected.items():
        found = called(f"{VECTORS}{name}", pa.float32(), a, b, pa.scalar(name))
        assert found[-1] is None
        for got, value in zip(found[:-1], values, strict=True):
            assert got is None if value is None else got == pytest.approx(value, rel=1e-5, abs=1e-5)


@given(pairs, st.sampled_from([1.0, 2.0, float("inf")]))
def test_one_vector(listed: list[tuple[list[float], list[float]]], degree: float) -> None:
    vectors = [np.array(x) for x, _ in listed]
    norms = [np.linalg.norm(x, degree) if len(x) else 0.0 for x in vectors]
    arguments = pa.array([x for x, _ in listed], FLOATS), pa.scalar(degree, pa.float32()), pa.scalar("f")
    assert called(f"{VECTORS}vectorNorm", pa.float32(), *arguments) == pytest.approx(norms, rel=1e-6)
    for x, norm, found in zip(
        vectors, norms, called(f"{VECTORS}vectorNormalize", FLOATS, *arguments), strict=True
    ):
        assert (
            found is None
            if len(x) and not norm
            else found == pytest.approx((x / (norm or 1)).tolist(), rel=1e-6)
        )


def test_what_has_no_length() -> None:
    holes = pa.array([[1.0, None], None, [3.0, 4.0]], FLOATS)
    two, name = pa.scalar(2.0, pa.float32()), pa.scalar("f")
    assert called(f"{VECTORS}vectorNorm", pa.float32(), holes, two, name) == [None, None, 5.0]
    with pytest.raises(EvaluationError, match="INVALID_VECTOR_NORM_DEGREE"):
        called(f"{VECTORS}vectorNorm", pa.float32(), holes, pa.scalar(3.0, pa.float32()), name)
    with pytest.raises(EvaluationError, match=r"VECTOR_DIMENSION_MISMATCH.*2 and 1 dimensions"):
        called(f"{VECTORS}vectorInnerProduct", pa.float32(), holes, pa.array([[1.0]] * 3, FLOATS), name)
