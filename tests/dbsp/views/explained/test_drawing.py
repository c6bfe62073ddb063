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
    shapes = [{k: float(r.attrib[k]) for k in ("x", "y", "width", "height")} for r in root.iter(f"{SVG}rect")]
    assert len(shapes) == len(boxes)
    assert len([*root.iter(f"{SVG}path")]) == sum(len({*box[2]}) for box in boxes)
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts.count("<Map> & 'x'") == len(boxes)
    assert texts.count("= view") == sum(len(box[4]) for box in boxes)
    for shape in shapes:
        assert shape["x"] + shape["width"] <= int(root.attrib["width"])
        assert shape["y"] + shape["height"] <= int(root.attrib["height"])
    for one, other in itertools.combinations(shapes, 2):
        wide, high = (max(one[k], other[k]) / 2 + min(one[k], other[k]) / 2 for k in ("width", "height"))
        middles = [
            abs(one[k] + one[w] / 2 - other[k] - other[w] / 2) for k, w in (("x", "width"), ("y", "height"))
        ]
        assert middles[0] > wide or middles[1] > high


def test_a_wire_leads_downwards_from_input_to_box() -> None:
    one = svg([(0, 0, (), ["a"], ()), (1, 0, (0,), ["b"], ())])
    (path,) = [e.attrib["d"] for e in ElementTree.fromstring(one).iter(f"{SVG}path")]
    begin, end = path.split()[0], path.split()[-1]
    assert float(begin.rpartition(",")[2]) < float(end.rpartition(",")[2])


def test_one_that_closes_a_circle_goes_back_beside_the_boxes() -> None:
    one = svg([(0, 0, (1,), ["a"], ()), (1, 0, (0,), ["b"], ())])
    down, back = (e.attrib["d"] for e in ElementTree.fromstring(one).iter(f"{SVG}path"))
    assert "C" not in down and "C" in back


def test_an_input_that_isn_t_drawn_has_no_wire() -> None:
    assert "<path" not in svg([(5, 0, (3,), ["b"], ())])
