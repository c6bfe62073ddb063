"""A program explained: text where it is printed, a drawing in a notebook."""

from __future__ import annotations

from dataclasses import dataclass

from dbsp.sql.plans.program import Program
from dbsp.views.explained.program import explain_program


@dataclass(frozen=True, repr=False)
class Explanation:
    """view: only what it needs; None: everything.

    Examples:
        >>> p.explain()._repr_svg_().startswith("<svg")
        True

    A file of the drawing: `Path("circuit.svg").write_text(p.explain().form("svg"))`.
    """

    program: Program
    view: str | None = None

    def form(self, name: str) -> str:
        """As 'text', 'mermaid', 'dot' or 'svg'.

        Examples:
            >>> p.explain("turnover").form("mermaid").splitlines()[0]
            'flowchart TD'
        """
        return explain_program(self.program, self.view, name)

    def __str__(self) -> str:
        return self.form("text")

    __repr__ = __str__

    def _repr_svg_(self) -> str:
        return self.form("svg")
