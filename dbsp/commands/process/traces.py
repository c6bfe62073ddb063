"""Where the spans of a command's steps go: to a collector, by OTLP over HTTP, if one is asked for.

`--otlp URL`, or the variables that OpenTelemetry names: OTEL_EXPORTER_OTLP_ENDPOINT and its kin. Sending has
a thread of its own: a collector that is down costs spans and no step.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from dbsp.circuits.errors import Error
from dbsp.commands.process.logs import say

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

_ENDPOINT, _OF_TRACES = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_HTTP = "http/protobuf"


def _url(_: click.Context, __: click.Parameter, given: str | None) -> str | None:
    if given is not None and not given.startswith(("http://", "https://")):
        raise click.BadParameter(f"'{given}' is no URL of a collector, such as http://localhost:4318")
    return given


otlp_option = click.option(
    "--otlp",
    metavar="URL",
    callback=_url,
    help=f"Send traces of steps to this collector, such as http://localhost:4318; or {_ENDPOINT}.",
)


@contextmanager
def tracing(endpoint: str | None, program: str) -> Iterator[Tracer | None]:
    """A tracer while the block runs, whose spans are sent by its end; None where nobody asks for one.

    Raises Error where it is asked for by the option and can't be.
    """
    if endpoint is None and not _asked():
        yield None
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError as error:
        problem = f"traces need {error.name}: pip install 'dbsp[otel]'"
        if endpoint is not None:
            raise Error(problem) from None
        say(f"{problem}; going on without", logging.WARNING)  # the variable may be every process'
        yield None
        return
    about = {"dbsp.program": program}
    if not os.environ.get("OTEL_SERVICE_NAME") and "service.name" not in os.environ.get(
        "OTEL_RESOURCE_ATTRIBUTES", ""
    ):
        about["service.name"] = "dbsp"
    provider = TracerProvider(resource=Resource.create(about), shutdown_on_exit=False)
    at = None if endpoint is None else f"{endpoint.rstrip('/')}/v1/traces"
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=at)))
    try:
        yield provider.get_tracer("dbsp")
    finally:
        provider.shutdown()


def _asked() -> bool:
    """By the environment."""
    if not (os.environ.get(_ENDPOINT) or os.environ.get(_OF_TRACES)):
        return False
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    if os.environ.get("OTEL_TRACES_EXPORTER", "otlp") != "otlp":
        return False
    protocol = next((os.environ[name] for name in _PROTOCOLS if os.environ.get(name)), _HTTP)
    if protocol != _HTTP:
        say(f"no traces: they are sent as {_HTTP}, not by {protocol}", logging.WARNING)
    return protocol == _HTTP
