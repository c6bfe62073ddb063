"""What explains a program.

GET /circuit?view=name    its operators, or those that a view needs, and where to draw them
GET /program              its text, without secrets, and the lines of what it defines
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response

from dbsp.serving.answers import json_response
from dbsp.serving.page.graph import graph
from dbsp.serving.page.text import shown_statements, shown_text
from dbsp.sql.plans.program import Program
from dbsp.views.outputs import output_view


@dataclass
class Explaining:
    """An answer is made once, for the program doesn't change."""

    program: Program
    _known: dict[object, object] = field(default_factory=dict)

    async def circuit(self, request: Request) -> Response:
        """The operators."""
        asked = request.query_params.get("view")
        view = None if asked is None else output_view(self.program, asked)
        return json_response(await self._answer(("circuit", view), lambda: graph(self.program, view)))

    async def text(self, request: Request) -> Response:
        """The text."""
        return json_response(await self._answer("text", self._text))

    def _text(self) -> dict[str, object]:
        listed = [{"name": one.name, "lines": one.lines} for one in shown_statements(self.program)]
        return {"name": self.program.name, "text": shown_text(self.program), "statements": listed}

    async def _answer(self, key: object, make: Callable[[], object]) -> object:
        if key not in self._known:
            self._known[key] = await asyncio.to_thread(make)
        return self._known[key]
