"""A running pipeline over HTTP: what can be asked where."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from dbsp.circuits.errors import DataError
from dbsp.pipeline.beside.changing import Changing
from dbsp.pipeline.pipeline import Pipeline
from dbsp.serving.access import LOCAL, Access
from dbsp.serving.answers import Refused, answer_to, json_response
from dbsp.serving.evaluating import Evaluating
from dbsp.serving.explaining import Explaining
from dbsp.serving.following.feed import Feed
from dbsp.serving.following.sources import Sources
from dbsp.serving.numbers import Numbers
from dbsp.serving.operations import described
from dbsp.serving.page.files import page_response, wants_page
from dbsp.serving.reads import WORDS, Handler, Reads
from dbsp.serving.status import Status
from dbsp.serving.subscriptions import Subscriptions
from dbsp.serving.writes import Writes
from dbsp.views.changes import Changes

# words of a request's query
_ONCE = (*WORDS, "since", "until", "view")


@dataclass
class Serving:
    """hosts: the names that clients know this machine by; `*`: any. trouble: why no step is made.

    changing: of its program into another, beside its steps.
    """

    pipeline: Pipeline
    access: Access = field(default_factory=Access)
    hosts: tuple[str, ...] = LOCAL
    trouble: str = ""
    evaluating: Evaluating = field(default_factory=Evaluating)
    changing: Changing | None = None

    def __post_init__(self) -> None:
        self.feed = Feed(self.pipeline)
        self.subscriptions = Subscriptions(self.pipeline, self.feed)
        self.sources = Sources(self.pipeline)
        self.numbers = Numbers(self.pipeline, self.subscriptions, self.sources, self.changing)
        self.writes = Writes(self.pipeline, self.made, self.access)
        self.status = Status(
            self.pipeline, self.feed, self.subscriptions, lambda: self.trouble, self.changing
        )
        if self.changing is not None:
            self.writes.waits = self.changing.waits

    def troubled(self, why: str) -> None:
        """No step is made, and why; '': they are. From any thread."""
        if why != self.trouble:
            self.trouble = why
            self.status.troubled()

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """The loop in which readers wait."""
        for rounds in (self.feed.rounds, self.status.rounds):
            rounds.attach(loop)

    def end(self) -> None:
        """No step comes any more: who follows is told. From any thread."""
        for rounds in (self.feed.rounds, self.status.rounds):
            rounds.end()

    def made(self, changes: Changes) -> None:
        """A step was made, in any thread."""
        self.sources.made(changes)
        self.numbers.made(changes)
        self.status.made(changes)
        self.feed.made(changes)

    def app(self) -> Starlette:
        """The routes."""
        reads, writes = Reads(self.pipeline, self.evaluating), self.writes
        explaining = Explaining(self.pipeline, self.status)
        routes: list[tuple[str, list[str], Handler]] = [
            ("/", ["GET"], self._index),
            ("/views", ["GET"], reads.views),
            ("/views/{name}", ["GET"], reads.view),
            ("/views/{name}/why", ["GET"], reads.why),
            ("/views/{name}/changes", ["GET"], self.subscriptions.changes),
            ("/query", ["GET", "POST"], reads.query),
            ("/tables", ["GET"], writes.tables),
            ("/tables/{name}", ["POST", "PUT", "DELETE"], writes.table),
            ("/step", ["POST"], writes.step),
            ("/status", ["GET"], self.status.shown),
            ("/steps", ["GET"], self.status.follow),
            ("/sources", ["GET"], self._sources),
            ("/operators", ["GET"], self.status.operators),
            ("/circuit", ["GET"], explaining.circuit),
            ("/program", ["GET"], explaining.text),
            ("/problems", ["GET"], explaining.problems),
            ("/metrics", ["GET"], self.numbers.shown),
            ("/healthz", ["GET"], self._alive),
            ("/readyz", ["GET"], self._ready),
            ("/page/{file}", ["GET"], self._page),
        ]
        routes.append(("/openapi.json", ["GET"], described(self.pipeline.program, routes)))
        self._said = {path: methods for path, methods, _ in routes}
        return Starlette(
            routes=[
                Route(path, self._guarded(handler), methods=methods) for path, methods, handler in routes
            ],
            middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=[*self.hosts], www_redirect=False)],
            exception_handlers={HTTPException: self._no_route},
        )

    def _guarded(self, handler: Handler) -> Callable[[Request], object]:
        async def guarded(request: Request) -> Response:
            try:
                _check_once(request)
                return await handler(request)
            except ClientDisconnect:
                return Response(status_code=499)  # which nobody reads
            except Exception as error:  # whatever it is, the client gets a line and the server goes on
                return answer_to(error, self.pipeline.store.root)

        return guarded

    async def _index(self, request: Request) -> Response:
        page = page_response() if wants_page(request) else None
        if page is not None:
            return page
        said = {"step": self.pipeline.last_step, "paths": self._said}
        return json_response(said, headers={"Vary": "Accept"})

    async def _page(self, request: Request) -> Response:
        file = page_response(request.path_params["file"])
        if file is None:
            raise Refused(404, f"{request.url.path}: no file of the page")
        return file

    async def _sources(self, request: Request) -> Response:
        said = {"sources": await self.sources.listed()}
        return json_response(said, headers={"Cache-Control": "no-store"})

    async def _alive(self, request: Request) -> Response:
        return json_response({"step": self.pipeline.last_step})

    async def _ready(self, request: Request) -> Response:
        if self.trouble or self.feed.ended:
            raise Refused(503, self.trouble or "the pipeline has ended")
        return json_response({"step": self.pipeline.last_step})

    async def _no_route(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        there = ", ".join(f"{'|'.join(methods)} {path}" for path, methods in self._said.items())
        said = f"{request.method} {request.url.path}: {error.detail}; there are: {there}"
        answer = answer_to(Refused(error.status_code, said), self.pipeline.store.root)
        answer.headers.update(error.headers or {})  # of a method that isn't there: Allow
        return answer


def _check_once(request: Request) -> None:
    """Raises DataError for a word that is there twice: of columns, who reads them says what to do."""
    for word in _ONCE:
        if len(request.query_params.getlist(word)) > 1:
            raise DataError(f"{word}= is there twice; give it once")
