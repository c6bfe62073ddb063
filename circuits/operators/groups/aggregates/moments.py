"""Moments: Σ xᵃ yᵇ of doubles, exactly, and the central moments that statistics are made of.

    Σ (x − c)ᵖ (y − d)ᵠ = Σᵢⱼ C(p, i) C(q, j) (−c)^(p−i) (−d)^(q−j) Σ xⁱ yʲ        for any c and d

The sums are exact sums (`circuits/columns/exact_sums.py`), whose index is wide enough for fourth powers.
The right side is computed in integers, with the rounded means for c and d, and rounded once: nothing cancels
in floating point, whatever was inserted and retracted before.
State: a row a part, moment and group.  Cost: O(|d|) products of two to seven digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import comb, prod
from typing import ClassVar

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import fixed_values, validity
from dbsp.circuits.columns.exact_sums import dense_sums
from dbsp.circuits.operators.groups.state.members import Members, Split

_MASK, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
_BIAS = 4608  # a multiple of 32 beyond four times the least subnormal's 2^-1126
_SPECIAL = -1  # the index of NaN and infinities: any of them makes a central moment NaN

Power = tuple[int, ...]  # of each argument
Parts = tuple[np.ndarray, np.ndarray, np.ndarray]  # owner, index, amount


@dataclass(frozen=True, eq=False)
class Number:
    """±digits · 2^exponent, n of them. digits: uint64[L, n], 32 bits each."""

    negative: np.ndarray
    digits: np.ndarray
    exponent: np.ndarray

    @staticmethod
    def of(values: np.ndarray) -> Number:
        """values: finite float64[n]."""
        fraction, exponent = np.frexp(values)
        mantissa = np.abs(fraction * 9007199254740992.0).astype(np.uint64)
        digits = np.stack([mantissa & _MASK, mantissa >> _HALF])
        return Number(values < 0, digits, exponent.astype(np.int64) - 53)

    @staticmethod
    def one(count: int) -> Number:
        zeros = np.zeros(count, dtype=np.int64)
        return Number(zeros != 0, np.ones((1, count), dtype=np.uint64), zeros)

    @staticmethod
    def of_parts(index: np.ndarray, amount: np.ndarray) -> Number:
        size = np.abs(amount).astype(np.uint64)
        return Number(amount < 0, np.stack([size & _MASK, size >> _HALF]), index * 32 - _BIAS)

    def __mul__(self, other: Number) -> Number:
        digits = np.zeros((len(self.digits) + len(other.digits), len(self.exponent)), dtype=np.uint64)
        for i, a in enumerate(self.digits):
            for j, b in enumerate(other.digits):
                partial = a * b
                digits[i + j] += partial & _MASK
                digits[i + j + 1] += partial >> _HALF
        for i in range(len(digits) - 1):
            digits[i + 1] += digits[i] >> _HALF
            digits[i] &= _MASK
        while len(digits) > 1 and not digits[-1].any():
            digits = digits[:-1]
        return Number(self.negative ^ other.negative, digits, self.exponent + other.exponent)

    def __pow__(self, power: int) -> Number:
        return prod([self] * power, start=Number.one(len(self.exponent)))

    def __getitem__(self, rows: np.ndarray) -> Number:
        return Number(self.negative[rows], self.digits[:, rows], self.exponent[rows])

    def parts(self, owner: np.ndarray) -> Parts:
        """The parts of an exact sum that aren't zero, each with the owner of its number."""
        place = self.exponent + _BIAS
        index, shift = place // 32, (place % 32).astype(np.uint64)
        sign = np.where(self.negative, np.int64(-1), np.int64(1))
        carry = np.zeros(len(owner), dtype=np.uint64)
        found: list[Parts] = []
        for j in range(len(self.digits) + 1):
            wide = (self.digits[j] << shift) if j < len(self.digits) else np.zeros_like(carry)
            amount = (wide & _MASK) | carry
            carry = wide >> _HALF
            some = np.flatnonzero(amount)
            found.append((owner[some], index[some] + j, amount[some].astype(np.int64) * sign[some]))
        return _joined(found)


@dataclass(frozen=True)
class Moments(Split):
    """The arguments' values, none of them NULL ↦ parts of xᵃ yᵇ for each of `powers`; the first is zero."""

    powers: tuple[Power, ...]
    index: ClassVar[tuple[str, ...]] = ("moment", "index")

    def split(self, columns: list[pa.Array]) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
        known = np.flatnonzero(np.logical_and.reduce([validity(column) for column in columns]))
        values = [fixed_values(column)[known].astype(np.float64) for column in columns]
        finite = [np.isfinite(value) for value in values]
        numbers = [Number.of(np.where(f, v, 0.0)) for f, v in zip(finite, values, strict=True)]
        found: list[Parts] = []
        moments: list[np.ndarray] = []
        for moment, power in enumerate(self.powers):
            parts = _power(numbers, power, len(known)).parts(known)
            special = [~f for f, exponent in zip(finite, power, strict=True) if exponent]
            if special:
                there = known[np.logical_or.reduce(special)]
                parts = _joined([parts, (there, np.full(len(there), _SPECIAL), np.ones_like(there))])
            found.append(parts)
            moments.append(np.full(len(parts[0]), moment))
        owner, index, amount = _joined(found)
        return owner, [np.concatenate(moments), index], amount


class Central:
    """Central moments of the touched groups, from the parts of `Moments(powers)`.

    size: float64[groups], how many values; means: of each argument. NaN wherever a special value took part.
    """

    def __init__(self, members: Members, powers: tuple[Power, ...]) -> None:
        self.powers, self.count = powers, members.count
        moment, index, amount = (fixed_values(column) for column in members.columns)
        self._sums: list[Parts] = []
        self._special = np.zeros((len(powers), members.count), dtype=np.int64)
        for i in range(len(powers)):
            mine = (moment == i) & (index != _SPECIAL)
            self._sums.append((members.owner[mine], index[mine], amount[mine]))
            other = (moment == i) & (index == _SPECIAL)
            np.add.at(self._special[i], members.owner[other], amount[other])
        self.size = _total(self._sums[0], self.count)
        self._divisor = np.where(self.size > 0, self.size, 1.0)
        arity = len(powers[0])
        self._units = [tuple(int(i == j) for j in range(arity)) for i in range(arity)]
        self._centres = [Number.of(np.zeros(self.count))] * arity
        # twice: the first is rounded of a rounded sum; corrected, equal values deviate by exactly 0
        centres = [np.zeros(self.count)] * arity
        for _ in range(2):
            centres = [c + self.deviation(i) for i, c in enumerate(centres)]
            centres = [np.where(np.isfinite(c), c, 0.0) for c in centres]
            self._centres = [Number.of(-c) for c in centres]
        self.means = [c + self.deviation(i) for i, c in enumerate(centres)]

    def deviation(self, argument: int) -> np.ndarray:
        """The mean's distance from the centre."""
        unit = self._units[argument]
        mean = self.shifted(unit) / self._divisor
        if np.isinf(mean).any():  # a sum may overflow whose mean doesn't
            mean = np.where(np.isinf(mean), np.ldexp(self.shifted(unit, scale=2) / self._divisor, 64), mean)
        return np.asarray(mean)

    def shifted(self, power: Power, scale: int = 0) -> np.ndarray:
        """float64[groups]: Σ (x − c)ᵖ (y − d)ᵠ · 2^(−32 scale), rounded once."""
        found: list[Parts] = []
        special = np.zeros(self.count, dtype=np.int64)
        for lower in product(*(range(p + 1) for p in power)):
            moment = self.powers.index(lower)
            special += self._special[moment]
            owner, index, amount = self._sums[moment]
            rest = tuple(p - i for p, i in zip(power, lower, strict=True))
            amount = amount * prod(comb(p, i) for p, i in zip(power, lower, strict=True))
            if any(rest):
                factor = _power(self._centres, rest, self.count)[owner]
                owner, index, amount = (Number.of_parts(index, amount) * factor).parts(owner)
            found.append((owner, index - scale, amount))
        return np.where(special > 0, np.nan, _total(_joined(found), self.count))

    def second(self, argument: int) -> np.ndarray:
        """Σ (x − mean)²."""
        power = tuple(2 * unit for unit in self._units[argument])
        mean = self.deviation(argument)
        return np.asarray(np.maximum(self.shifted(power) - self.size * mean * mean, 0.0))

    def product(self) -> np.ndarray:
        """Σ (x − mean) (y − mean)."""
        return np.asarray(self.shifted((1, 1)) - self.size * self.deviation(0) * self.deviation(1))

    def third(self) -> np.ndarray:
        mean = self.deviation(0)
        return np.asarray(self.shifted((3,)) - 3 * mean * self.shifted((2,)) + 2 * self.size * mean**3)

    def fourth(self) -> np.ndarray:
        mean, second, third = self.deviation(0), self.shifted((2,)), self.shifted((3,))
        moment = self.shifted((4,)) - 4 * mean * third + 6 * mean**2 * second - 3 * self.size * mean**4
        return np.asarray(moment)


def _power(numbers: Sequence[Number], power: Power, count: int) -> Number:
    factors = [number**exponent for number, exponent in zip(numbers, power, strict=True) if exponent]
    return prod(factors, start=Number.one(count))


def _joined(parts: Sequence[Parts]) -> Parts:
    owner, index, amount = (np.concatenate(column) for column in zip(*parts, strict=True))
    return owner, index, amount


def _total(parts: Parts, count: int) -> np.ndarray:
    """float64[count]: the nearest double of each owner's exact sum."""
    owner, index, amount = parts
    return dense_sums(owner, index, amount, count, _BIAS) if len(owner) else np.zeros(count)
