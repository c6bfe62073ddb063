"""A graph in layers: every node below all that it reads, wires straight and seldom crossed.

The way of Sugiyama, Tagawa and Toda (1981): layers by the longest path; a wire over several layers goes
through a place of its own in each; sweeps order each layer by the mean place of its neighbours; then each
layer is moved to its neighbours as far as its order and the gaps allow: a regression to increasing values.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 184, 60
GAP, BETWEEN = 26, 44
# what a wire takes beside a box
_WIRE = 22
_SWEEPS, _MOVES = 12, 16

Place = tuple[float, float]
# width and height
Size = tuple[float, float]


@dataclass(frozen=True)
class Wire:
    """points: from the lower edge of a box to the upper edge of another. back: it goes against the layers."""

    start: int
    end: int
    points: tuple[Place, ...]
    back: bool = False


@dataclass(frozen=True)
class Layout:
    """places: the upper left corners of boxes."""

    places: Mapping[int, Place]
    layers: Mapping[int, int]
    wires: tuple[Wire, ...]
    width: float
    height: float


def layout(inputs: Mapping[int, Sequence[int]], sizes: Mapping[int, Size] | None = None) -> Layout:
    """inputs: per node those that it reads. One with a greater number than its own closes a circle.

    sizes: of the boxes; WIDTH × HEIGHT unless said.
    """
    boxes = dict.fromkeys(inputs, (float(WIDTH), float(HEIGHT))) | dict(sizes or {})
    forward = {node: [i for i in read if i < node and i in inputs] for node, read in inputs.items()}
    layers = _layers(forward)
    chains, links = _chains(forward, layers)
    rows = _ordered(layers | _of_chains(chains, layers), links)
    centres = _centred(rows, links, {node: width for node, (width, _) in boxes.items()})
    tops = _tops(layers, boxes)
    places = {node: (centres[node] - boxes[node][0] / 2, tops[layers[node]][0]) for node in inputs}
    wires = [
        Wire(start, end, _through(start, end, between, centres, tops, layers, boxes))
        for (start, end), between in chains.items()
    ]
    for node, read in inputs.items():
        backs = [i for i in dict.fromkeys(read) if i >= node and i in inputs]
        wires += [_back(places, boxes, i, node) for i in backs]
    width = max((x + boxes[node][0] for node, (x, _) in places.items()), default=0)
    height = max((bottom for _, bottom in tops), default=0)
    return Layout(places, layers, tuple(wires), width, height)


def _tops(layers: Mapping[int, int], boxes: Mapping[int, Size]) -> list[tuple[float, float]]:
    """Of each layer where it begins and ends: as high as its highest box."""
    heights = [0.0] * (1 + max(layers.values(), default=-1))
    for node, layer in layers.items():
        heights[layer] = max(heights[layer], boxes[node][1])
    found, at = [], 0.0
    for height in heights:
        found.append((at, at + height))
        at += height + BETWEEN
    return found


def crossings(upper: Sequence[int], lower: Sequence[int], links: Mapping[int, Iterable[int]]) -> int:
    """How many wires between two layers cross. links: of the lower layer's nodes, those above."""
    at = {node: place for place, node in enumerate(upper)}
    passed: list[int] = []
    found = 0
    for node in lower:
        ends = sorted(at[other] for other in links[node])
        found += sum(len(passed) - bisect_right(passed, end) for end in ends)
        for end in ends:
            insort(passed, end)
    return found


def _layers(inputs: Mapping[int, Sequence[int]]) -> dict[int, int]:
    layers: dict[int, int] = {}
    for node in sorted(inputs):
        layers[node] = 1 + max((layers[i] for i in inputs[node]), default=-1)
    readers: dict[int, list[int]] = {node: [] for node in inputs}
    for node, read in inputs.items():
        for i in read:
            readers[i].append(node)
    # what reads nothing stands right above what reads it, not at the far top
    for node in sorted(inputs, reverse=True):
        if not inputs[node] and readers[node]:
            layers[node] = min(layers[reader] for reader in readers[node]) - 1
    return layers


def _chains(
    inputs: Mapping[int, Sequence[int]], layers: Mapping[int, int]
) -> tuple[dict[tuple[int, int], list[int]], dict[int, list[int]]]:
    """(per wire its places in between, as negative numbers; per node or place, what is linked above it)."""
    chains: dict[tuple[int, int], list[int]] = {}
    links: dict[int, list[int]] = {node: [] for node in inputs}
    new = -1
    for node in sorted(inputs):
        for i in dict.fromkeys(inputs[node]):
            above, between = i, []
            for _ in range(layers[i] + 1, layers[node]):
                links[new] = [above]
                between.append(new)
                above, new = new, new - 1
            links[node].append(above)
            chains[i, node] = between
    return chains, links


def _of_chains(chains: Mapping[tuple[int, int], list[int]], layers: Mapping[int, int]) -> dict[int, int]:
    return {
        place: layers[start] + 1 + n
        for (start, _), between in chains.items()
        for n, place in enumerate(between)
    }


def _ordered(layers: Mapping[int, int], links: Mapping[int, list[int]]) -> list[list[int]]:
    """The layers, each in the order of least crossings that was met."""
    below = _below(links)
    rows: list[list[int]] = [[] for _ in range(1 + max(layers.values(), default=-1))]
    for node in _depth_first(layers, below):
        rows[layers[node]].append(node)
    best, fewest = [row[:] for row in rows], _all_crossings(rows, links)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        down = sweep % 2 == 0
        neighbours = links if down else below
        numbers = range(1, len(rows)) if down else range(len(rows) - 2, -1, -1)
        for n in numbers:
            at = {node: place for place, node in enumerate(rows[n - 1 if down else n + 1])}
            own = {node: place for place, node in enumerate(rows[n])}
            rows[n].sort(key=lambda node: _mean([at[i] for i in neighbours[node]], own[node]))
        now = _all_crossings(rows, links)
        if now < fewest:
            best, fewest = [row[:] for row in rows], now
    return best


def _depth_first(layers: Mapping[int, int], below: Mapping[int, list[int]]) -> list[int]:
    found: dict[int, None] = {}
    for root in sorted(layers, key=lambda node: (layers[node], node)):
        left = [root]
        while left:
            node = left.pop()
            if node not in found:
                found[node] = None
                left += reversed(below[node])
    return list(found)


def _below(links: Mapping[int, list[int]]) -> dict[int, list[int]]:
    below: dict[int, list[int]] = {node: [] for node in links}
    for node, above in links.items():
        for i in above:
            below[i].append(node)
    return below


def _all_crossings(rows: Sequence[Sequence[int]], links: Mapping[int, list[int]]) -> int:
    return sum(crossings(rows[n], rows[n + 1], links) for n in range(len(rows) - 1))


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _centred(
    rows: Sequence[Sequence[int]], links: Mapping[int, list[int]], widths: Mapping[int, float]
) -> dict[int, float]:
    """The middle of each node and place, from 0 on the left."""
    below = _below(links)
    halves = {node: widths.get(node, _WIRE) / 2 for row in rows for node in row}
    offsets = [_offsets(row, halves) for row in rows]
    centres = {
        node: x for row, xs in zip(rows, offsets, strict=True) for node, x in zip(row, xs, strict=True)
    }
    for move in range(_MOVES):
        for n in range(len(rows)) if move % 2 == 0 else range(len(rows) - 1, -1, -1):
            row, xs = rows[n], offsets[n]
            sides = (links, below) if move >= _MOVES - 2 else ((links,) if move % 2 == 0 else (below,))
            wanted = [
                _mean([centres[i] for side in sides for i in side[node]], centres[node]) - x
                for node, x in zip(row, xs, strict=True)
            ]
            for node, x, moved in zip(row, xs, _increasing(wanted), strict=True):
                centres[node] = x + moved
    left = min((x - halves[node] for node, x in centres.items()), default=0.0)
    return {node: x - left for node, x in centres.items()}


def _offsets(row: Sequence[int], halves: Mapping[int, float]) -> list[float]:
    """The middles of a row that is packed as close as it may be."""
    found, at = [], 0.0
    for node in row:
        at += halves[node]
        found.append(at)
        at += halves[node] + GAP
    return found


def _increasing(wanted: Sequence[float]) -> list[float]:
    """The increasing values whose squared distances to those wanted are least (pool adjacent violators)."""
    pools: list[tuple[float, int]] = []
    for value in wanted:
        total, n = value, 1
        while pools and pools[-1][0] / pools[-1][1] > total / n:
            before, m = pools.pop()
            total, n = total + before, n + m
        pools.append((total, n))
    return [total / n for total, n in pools for _ in range(n)]


def _through(
    start: int,
    end: int,
    between: list[int],
    centres: Mapping[int, float],
    tops: Sequence[tuple[float, float]],
    layers: Mapping[int, int],
    boxes: Mapping[int, Size],
) -> tuple[Place, ...]:
    """From a box by the places in between to another."""
    first = layers[start]
    points = [(centres[start], tops[first][0] + boxes[start][1])]
    for n, place in enumerate(between, first + 1):
        points += [(centres[place], edge) for edge in tops[n]]
    return (*points, (centres[end], tops[layers[end]][0]))


def _back(places: Mapping[int, Place], boxes: Mapping[int, Size], source: int, node: int) -> Wire:
    """From the side of a box to the side of one above it."""
    sides = [(places[one][0] + boxes[one][0], places[one][1] + boxes[one][1] / 2) for one in (source, node)]
    return Wire(source, node, tuple(sides), back=True)
