"""Decisions by a seed."""

from __future__ import annotations

from dbsp.testing.choices import Seeded, chance


def test_a_seed_decides_the_same_again():
    def drawn(seed: int) -> list[int]:
        choices = Seeded(seed)
        return [choices.integer(0, 99) for _ in range(9)] + [choices.choice([1, 2, 3]) for _ in range(9)]

    assert drawn(7) == drawn(7) != drawn(8)


def test_a_chance_comes_once_in_so_many_times():
    choices = Seeded(1)
    assert 150 < sum(chance(choices, 5) for _ in range(1000)) < 250
    assert all(chance(choices, 1) for _ in range(9))
