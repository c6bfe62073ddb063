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


@dataclass(frozen=True)
class Wire:
    """points: from the lower edge of a box to the upper edge of another. back: it goes against the layers."""

    start: int
    end: int
    points: tuple[Place, ...]
    back: bool = False


@dataclass(frozen=True)
class Layout:
    """places: the upper left corners of boxes of WIDTH × HEIGHT."""

    places: Mapping[int, Place]
    layers: Mapping[int, int]
    wires: tuple[Wire, ...]
    width: float
    height: float


def layout(inputs: Mapping[int, Sequence[int]]) -> Layout:
    """inputs: per node those that it reads. One with a greater number than its own closes a circle."""
    forward = {node: [i for i in read if i < node and i in inputs] for node, read in inputs.items()}
    layers = _layers(forward)
    chains, links = _chains(forward, layers)
    rows = _ordered(layers | _of_chains(chains, layers), links)
    centres = _centred(rows, links)
    places = {node: (centres[node] - WIDTH / 2, layers[node] * (HEIGHT + BETWEEN)) for node in inputs}
    wires = [_wire(start, end, between, centres, layers) for (start, end), between in chains.items()]
    for node, read in inputs.items():
        wires += [_back(places[i], places[node], i, node) for i in dict.fromkeys(read) if i >= node]
    width = max((x for x, _ in places.values()), default=0) + WIDTH
    height = max((y for _, y in places.values()), default=0) + HEIGHT
    return Layout(places, layers, tuple(wires), width, height)


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


def _centred(rows: Sequence[Sequence[int]], links: Mapping[int, list[int]]) -> dict[int, float]:
    """The middle of each node and place, from 0 on the left."""
    below = _below(links)
    offsets = [_offsets(row) for row in rows]
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
    left = min((x - _half(node) for node, x in centres.items()), default=0.0)
    return {node: x - left for node, x in centres.items()}


def _half(node: int) -> float:
    return WIDTH / 2 if node >= 0 else _WIRE / 2


def _offsets(row: Sequence[int]) -> list[float]:
    """The middles of a row that is packed as close as it may be."""
    found, at = [], 0.0
    for node in row:
        at += _half(node)
        found.append(at)
        at += _half(node) + GAP
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


def _wire(
    start: int, end: int, between: list[int], centres: Mapping[int, float], layers: Mapping[int, int]
) -> Wire:
    pitch = HEIGHT + BETWEEN
    top = layers[start] * pitch
    points = [(centres[start], top + HEIGHT)]
    for n, place in enumerate(between, 1):
        points += [(centres[place], top + n * pitch), (centres[place], top + n * pitch + HEIGHT)]
    return Wire(start, end, (*points, (centres[end], float(layers[end] * pitch))))


def _back(start: Place, end: Place, source: int, node: int) -> Wire:
    """From the side of a box to the side of one above it."""
    first = (start[0] + WIDTH, start[1] + HEIGHT / 2)
    last = (end[0] + WIDTH, end[1] + HEIGHT / 2)
    return Wire(source, node, (first, last), back=True)
