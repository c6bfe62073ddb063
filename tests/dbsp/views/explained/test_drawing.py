"""A graph as SVG: well formed whatever names hold, every box below its inputs, and none over another."""

from __future__ import annotations

import itertools
import random
from xml.etree import ElementTree

import pytest

from dbsp.views.explained.drawing import Drawn, svg

SVG = "{http://www.w3.org/2000/svg}"


def graph(seed: int, count: int = 12) -> list[Drawn]:
    choose = random.Random(seed)
    boxes: list[Drawn] = []
    for number in range(count):
        inputs = tuple(choose.sample(range(number), min(number, choose.randrange(3))))
        lines = ["<Map> & 'x'", *["y" * choose.randrange(1, 30)] * choose.randrange(3)]
        boxes.append((number, choose.randrange(4), inputs, lines, ("view",) * choose.randrange(2)))
    return boxes


@pytest.mark.parametrize("seed", range(5))
def test_boxes_lie_below_their_inputs_and_apart(seed: int) -> None:
    boxes = graph(seed)
    root = ElementTree.fromstring(svg(boxes))
    shapes = [{k: int(r.attrib[k]) for k in ("x", "y", "width", "height")} for r in root.iter(f"{SVG}rect")]
    assert len(shapes) == len(boxes)
    assert len([*root.iter(f"{SVG}path")]) == sum(len(box[2]) for box in boxes)
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts.count("<Map> & 'x'") == len(boxes)
    assert texts.count("= view") == sum(len(box[4]) for box in boxes)
    by_row: dict[int, list[dict[str, int]]] = {}
    for shape in shapes:
        assert shape["x"] + shape["width"] <= int(root.attrib["width"])
        assert shape["y"] + shape["height"] <= int(root.attrib["height"])
        by_row.setdefault(shape["y"], []).append(shape)
    ends = [(y, max(one["y"] + one["height"] for one in row)) for y, row in sorted(by_row.items())]
    assert all(end < begin for (_, end), (begin, _) in itertools.pairwise(ends))
    for row in by_row.values():
        for one, other in itertools.pairwise(row):
            assert one["x"] + one["width"] < other["x"]


def test_a_wire_leads_downwards_from_input_to_box() -> None:
    one = svg([(0, 0, (), ["a"], ()), (1, 0, (0,), ["b"], ())])
    (path,) = [e.attrib["d"] for e in ElementTree.fromstring(one).iter(f"{SVG}path")]
    begin, end = path.split()[0], path.split()[-1]
    assert int(begin.rpartition(",")[2]) < int(end.rpartition(",")[2])


def test_an_input_that_isn_t_drawn_has_no_wire() -> None:
    assert "<path" not in svg([(5, 0, (3,), ["b"], ())])
