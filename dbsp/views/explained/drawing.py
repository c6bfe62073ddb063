"""A graph of boxes as SVG: every box below all of its inputs, rows filled from the left."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

LINE, CHARACTER, PADDING, GAP = 15, 7, 8, 26

# number, level, inputs, lines of text, names of the views it is
Drawn = tuple[int, int, tuple[int, ...], list[str], tuple[str, ...]]


def svg(boxes: Sequence[Drawn]) -> str:
    """The drawing, one file, no scripts, no fonts of its own."""
    rows = _rows(boxes)
    place: dict[int, tuple[int, int, int, int]] = {}
    shapes: list[str] = []
    top, width = GAP, 0
    for row in rows:
        left, tallest = GAP, 0
        for number, level, _, lines, views in row:
            shown = [*lines, *(f"= {view}" for view in views)]
            w = CHARACTER * max(map(len, shown)) + 2 * PADDING
            h = LINE * len(shown) + 2 * PADDING
            place[number] = (left, top, w, h)
            shapes.append(_box(left, top, w, h, shown, level, bool(views)))
            left += w + GAP
            tallest = max(tallest, h)
        width = max(width, left)
        top += tallest + GAP
    wires = [
        _wire(place[i], place[number]) for number, _, inputs, _, _ in boxes for i in inputs if i in place
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top}" '
        'font-family="monospace" font-size="12">'
    )
    return "\n".join([head, *wires, *shapes, "</svg>"]) + "\n"


def _rows(boxes: Sequence[Drawn]) -> list[list[Drawn]]:
    depth: dict[int, int] = {}
    rows: list[list[Drawn]] = []
    for box in boxes:
        row = 1 + max((depth[i] for i in box[2] if i in depth), default=-1)
        depth[box[0]] = row
        if row == len(rows):
            rows.append([])
        rows[row].append(box)
    return rows


def _box(x: int, y: int, w: int, h: int, lines: list[str], level: int, is_view: bool) -> str:
    fill = "#e8f1e4" if is_view else ("#ffffff", "#f3f3f8", "#e8e8f2")[level % 3]
    parts = [f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="4" fill="{fill}" stroke="#555"/>']
    for i, line in enumerate(lines):
        weight = ' font-weight="bold"' if i == 0 else ""
        baseline = y + PADDING + LINE * i + 11
        parts.append(f'<text x="{x + PADDING}" y="{baseline}"{weight}>{escape(line)}</text>')
    return "\n".join(parts)


def _wire(a: tuple[int, int, int, int], b: tuple[int, int, int, int]) -> str:
    x1, y1 = a[0] + a[2] // 2, a[1] + a[3]
    x2, y2 = b[0] + b[2] // 2, b[1]
    middle = (y1 + y2) // 2
    return f'<path d="M{x1},{y1} C{x1},{middle} {x2},{middle} {x2},{y2}" fill="none" stroke="#999"/>'
