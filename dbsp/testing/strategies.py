"""Random deltas as a strategy of hypothesis, which shrinks what fails: needs `pip install 'dbsp[testing]'`.

@given(deltas_of(PROGRAM))
def test_totals_are_never_negative(steps): ...
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from dbsp.testing.deltas import Deltas, draw_deltas
from dbsp.testing.programs import ProgramLike, load

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

T = TypeVar("T")


class Drawn:
    """Decisions by hypothesis."""

    def __init__(self, draw: DrawFn) -> None:
        from hypothesis import strategies  # noqa: PLC0415  an extra

        self.draw, self._strategies = draw, strategies

    def integer(self, low: int, high: int) -> int:
        return self.draw(self._strategies.integers(low, high))

    def choice(self, options: Sequence[T]) -> T:
        return self.draw(self._strategies.sampled_from(options))


def deltas_of(program: ProgramLike, steps: int = 5, most: int = 4) -> SearchStrategy[Deltas]:
    """Up to `steps` steps, of up to `most` changes of each table.

    program: a compiled one, or what `load` takes. Raises ProgramError.

    Examples:
        >>> from hypothesis import given, settings
        >>> @settings(max_examples=3, database=None)
        ... @given(deltas_of(p.program, steps=2))
        ... def test(deltas):
        ...     assert 1 <= len(deltas) <= 2
        >>> test()
    """
    from hypothesis import strategies  # noqa: PLC0415

    compiled = load(program)

    @strategies.composite
    def drawn(draw: DrawFn) -> Deltas:
        choices = Drawn(draw)
        return draw_deltas(choices, compiled, choices.integer(1, steps), most)

    return drawn()
