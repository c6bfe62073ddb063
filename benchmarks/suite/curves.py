"""A curve as SVG: lines over logarithmic axes, with a mark a point. No library: a few shapes and texts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

Points = Sequence[tuple[float, float]]

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 80, 160, 40, 50
COLOURS = ("#0b6e99", "#c0504d", "#5b8c3a", "#7a5195", "#b8860b", "#444444", "#d6689c", "#2a9d8f")


def drawn(title: str, across: str, up: str, lines: Mapping[str, Points]) -> str:
    """The document. across, up: what the axes are, with their units. Every coordinate is above 0."""
    horizontal = _Axis([x for points in lines.values() for x, _ in points], LEFT, WIDTH - RIGHT)
    vertical = _Axis([y for points in lines.values() for _, y in points], HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        _text(WIDTH / 2, 20, title, "middle", "bold"),
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, across, "middle"),
        _text(LEFT, TOP - 8, up, "middle"),
    ]
    for value in horizontal.marks:
        x = horizontal.place(value)
        parts.append(f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>')
        parts.append(_text(x, HEIGHT - BOTTOM + 16, _short(value), "middle"))
    for value in vertical.marks:
        y = vertical.place(value)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(_text(LEFT - 6, y + 4, _short(value), "end"))
    for i, (name, points) in enumerate(lines.items()):
        colour = COLOURS[i % len(COLOURS)]
        placed = [(horizontal.place(x), vertical.place(y)) for x, y in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in placed]
        parts.append(_text(WIDTH - RIGHT + 10, TOP + 16 * (i + 1), name, "start", colour=colour))
    return "\n".join([*parts, "</svg>\n"])


class _Axis:
    """From the power of ten at or below the least value to the one at or above the greatest."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        self.low = math.floor(math.log10(min(values)))
        self.high = max(math.ceil(math.log10(max(values))), self.low + 1)
        self.start, self.end = start, end

    @property
    def marks(self) -> list[float]:
        return [10.0**power for power in range(self.low, self.high + 1)]

    def place(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


def _text(x: float, y: float, text: str, anchor: str, weight: str = "normal", colour: str = "black") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}" '
        f'fill="{colour}">{escape(text)}</text>'
    )


def _short(value: float) -> str:
    for unit, factor in (("M", 1e6), ("k", 1e3)):
        if value >= factor:
            return f"{value / factor:g}{unit}"
    return f"{value:g}"
