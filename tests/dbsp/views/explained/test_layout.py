"""What is read stands above what reads it, and nothing stands on anything else."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.views.explained.layout import GAP, HEIGHT, WIDTH, crossings, layout


@st.composite
def graphs(draw: st.DrawFn) -> dict[int, list[int]]:
    """Any graph whose nodes read earlier ones, and at times a later one."""
    n = draw(st.integers(0, 14))
    found = {}
    for node in range(n):
        read = draw(st.lists(st.integers(0, node - 1), max_size=3)) if node else []
        found[node] = read + draw(st.lists(st.integers(node, n - 1), max_size=draw(st.integers(0, 1))))
    return found


SIZES = st.dictionaries(st.integers(0, 13), st.tuples(st.integers(10, 400), st.integers(10, 100)))


def sized(inputs: dict[int, list[int]], sizes: dict[int, tuple[int, int]]) -> dict[int, tuple[int, int]]:
    return {node: sizes.get(node, (WIDTH, HEIGHT)) for node in inputs}


@given(graphs(), SIZES)
def test_boxes_are_apart_and_inputs_above(
    inputs: dict[int, list[int]], sizes: dict[int, tuple[int, int]]
) -> None:
    sizes = sized(inputs, sizes)
    found = layout(inputs, sizes)
    assert found.places.keys() == found.layers.keys() == inputs.keys()
    for one, other in combinations(inputs, 2):
        (a, b), (c, d) = (sorted([found.places[i][side], i] for i in (one, other)) for side in (0, 1))
        apart = b[0] - a[0] - sizes[int(a[1])][0] >= GAP - 1e-6
        assert apart or d[0] - c[0] - sizes[int(c[1])][1] > 0
    for node, (x, y) in found.places.items():
        assert -1e-6 <= x <= found.width - sizes[node][0] + 1e-6
        assert 0 <= y <= found.height - sizes[node][1]
    forward = [(i, node) for node, read in inputs.items() for i in read if i < node]
    assert all(found.layers[i] < found.layers[node] for i, node in forward)


@given(graphs(), SIZES)
def test_a_wire_for_each_input_from_edge_to_edge(
    inputs: dict[int, list[int]], sizes: dict[int, tuple[int, int]]
) -> None:
    sizes = sized(inputs, sizes)
    found = layout(inputs, sizes)
    wires = sorted((wire.start, wire.end) for wire in found.wires)
    assert wires == sorted({(i, node) for node, read in inputs.items() for i in read})
    for wire in found.wires:
        assert wire.back == (wire.start >= wire.end)
        if not wire.back:
            start, end = found.places[wire.start], found.places[wire.end]
            width, height = sizes[wire.start]
            assert wire.points[0] == pytest.approx((start[0] + width / 2, start[1] + height))
            assert wire.points[-1] == pytest.approx((end[0] + sizes[wire.end][0] / 2, end[1]))
            heights = [y for _, y in wire.points]
            assert heights == sorted(heights)


@given(graphs(), SIZES)
def test_a_wire_goes_through_no_box(inputs: dict[int, list[int]], sizes: dict[int, tuple[int, int]]) -> None:
    sizes = sized(inputs, sizes)
    found = layout(inputs, sizes)
    for wire in found.wires:
        for x, y in wire.points[1:-1]:
            for node, (left, top) in found.places.items():
                assert not (left < x < left + sizes[node][0] and top <= y <= top + sizes[node][1])


def test_crossings_are_counted() -> None:
    assert crossings([0, 1], [2, 3], {2: [0], 3: [1]}) == 0
    assert crossings([0, 1], [2, 3], {2: [1], 3: [0]}) == 1
    assert crossings([0, 1], [2, 3], {2: [0, 1], 3: [0, 1]}) == 1


def test_what_can_be_drawn_without_a_crossing_is() -> None:
    """Two chains, numbered so that their first order crosses."""
    inputs: dict[int, list[int]] = {0: [], 1: [], 2: [1], 3: [0], 4: [2], 5: [3]}
    places = layout(inputs).places
    assert (places[3][0] < places[2][0]) == (places[0][0] < places[1][0])
    assert places[0][0] == places[3][0] == places[5][0]


def test_a_chain_is_straight() -> None:
    places = layout({n: [n - 1] if n else [] for n in range(5)}).places
    assert {x for x, _ in places.values()} == {0.0}
