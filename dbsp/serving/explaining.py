"""What explains a program.

GET /circuit?view=name    its operators, or those that a view needs, and where to draw them
GET /program              its text, without secrets, and the lines of what it defines
GET /problems             what is wrong with it, or may become so, by the lines of its text
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict, dataclass, field

from starlette.requests import Request
from starlette.responses import Response

from dbsp.pipeline.pipeline import Pipeline
from dbsp.serving.answers import json_response
from dbsp.serving.page.graph import graph
from dbsp.serving.page.problems import Problems
from dbsp.serving.page.text import shown_statements, shown_text
from dbsp.serving.status import Status
from dbsp.sql.plans.program import Program
from dbsp.views.outputs import output_view


@dataclass
class Explaining:
    """What is of the program is made once, for it doesn't change. status: of the steps."""

    pipeline: Pipeline
    status: Status
    _known: dict[object, object] = field(default_factory=dict)

    @property
    def program(self) -> Program:
        return self.pipeline.program

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

    async def problems(self, request: Request) -> Response:
        """Each with the line that it is about."""
        of = await self._answer("problems", lambda: Problems(self.program))
        assert isinstance(of, Problems)
        found = await asyncio.to_thread(lambda: self.status.problems(of))
        listed = [asdict(one) for one in found]
        return json_response({"problems": listed}, headers={"Cache-Control": "no-store"})

    async def _answer(self, key: object, make: Callable[[], object]) -> object:
        if key not in self._known:
            self._known[key] = await asyncio.to_thread(make)
        return self._known[key]
