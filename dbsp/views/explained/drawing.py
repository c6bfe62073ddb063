"""A graph of boxes as SVG: every box below all of its inputs, wires straight and seldom crossed."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise

from dbsp.views.explained.layout import Place, Size, Wire, layout

LINE, CHARACTER, PADDING = 15, 7.3, 8
# around all of them, and beside them what a wire may take that goes back
_MARGIN, _BACK = 12, 40

# number, level, inputs, lines of text, names of the views it is
Drawn = tuple[int, int, tuple[int, ...], list[str], tuple[str, ...]]


def svg(boxes: Sequence[Drawn]) -> str:
    """The drawing, one file, no scripts, no fonts of its own."""
    lines = {number: [*said, *(f"= {view}" for view in views)] for number, _, _, said, views in boxes}
    sizes = {number: _size(shown) for number, shown in lines.items()}
    inputs = {number: [i for i in read if i in lines] for number, _, read, _, _ in boxes}
    drawn = layout(inputs, sizes)
    shapes = [
        _box(drawn.places[number], sizes[number], lines[number], level, bool(views))
        for number, level, _, _, views in boxes
    ]
    right = _BACK if any(wire.back for wire in drawn.wires) else 0
    width, height = drawn.width + 2 * _MARGIN + right, drawn.height + 2 * _MARGIN
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        'font-family="monospace" font-size="12">'
        f'<g transform="translate({_MARGIN} {_MARGIN})">'
    )
    return "\n".join([head, *map(_path, drawn.wires), *shapes, "</g></svg>"]) + "\n"


def _size(lines: Sequence[str]) -> Size:
    return CHARACTER * max(map(len, lines)) + 2 * PADDING, LINE * len(lines) + 2 * PADDING


def _box(place: Place, size: Size, lines: list[str], level: int, is_view: bool) -> str:
    fill = "#e8f1e4" if is_view else ("#ffffff", "#f3f3f8", "#e8e8f2")[level % 3]
    (x, y), (w, h) = place, size
    at = f'x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}"'
    parts = [f'<rect {at} rx="4" fill="{fill}" stroke="#555"/>']
    for i, line in enumerate(lines):
        weight = ' font-weight="bold"' if i == 0 else ""
        baseline = y + PADDING + LINE * i + 11
        parts.append(f'<text x="{x + PADDING:.1f}" y="{baseline:.1f}"{weight}>{escape(line)}</text>')
    return "\n".join(parts)


def _path(wire: Wire) -> str:
    (x, y), *_ = wire.points
    parts = [f"M{x:.1f},{y:.1f}"]
    for (x1, y1), (x2, y2) in pairwise(wire.points):
        if wire.back:
            out = max(x1, x2) + _BACK
            parts.append(f"C{out:.1f},{y1:.1f} {out:.1f},{y2:.1f} {x2:.1f},{y2:.1f}")
        elif x1 == x2:
            parts.append(f"L{x2:.1f},{y2:.1f}")
        else:
            middle = (y1 + y2) / 2
            parts.append(f"C{x1:.1f},{middle:.1f} {x2:.1f},{middle:.1f} {x2:.1f},{y2:.1f}")
    return f'<path d="{" ".join(parts)}" fill="none" stroke="#999"/>'
