"""/metrics: what a pipeline does, for Prometheus, by its own client.

Counters are of this process; gauges are of the last step.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_1_0_0
from prometheus_client.metrics_core import CounterMetricFamily
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response

from dbsp.circuits.operators.inputs.bad import BAD_ROWS
from dbsp.pipeline.beside.changing import Changing
from dbsp.pipeline.pipeline import Pipeline
from dbsp.running.metrics import Metrics
from dbsp.serving.following.sources import Sources
from dbsp.serving.subscriptions import Subscriptions
from dbsp.views.changes import Changes

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class _Told(Collector):
    """What is told of a registry: all but since when it counts, a series beside each counter's."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterator[Metric]:
        for family in self._registry.collect():
            family.samples = [one for one in family.samples if not one.name.endswith("_created")]
            yield family


@dataclass(eq=False)  # a collector is known by itself
class _Plans(Collector):
    """Queries by where their plan was found: the hits of two caches, and what was compiled."""

    pipeline: Pipeline

    def collect(self) -> Iterator[Metric]:
        family = CounterMetricFamily("dbsp_query_plans", "Queries by where their plan was", labels=["found"])
        for found, count in self.pipeline.plans_found.items():
            family.add_metric([found], count)
        yield family


class Numbers:
    """Told of each step by `made`."""

    def __init__(
        self,
        pipeline: Pipeline,
        subscriptions: Subscriptions,
        sources: Sources,
        changing: Changing | None = None,
    ) -> None:
        self._pipeline, self._sources = pipeline, sources
        self._last: Metrics | None = None
        self.registry = of = CollectorRegistry()
        self._told = _Told(of)
        self.steps = Counter("dbsp_steps", "Steps made by this process", registry=of)
        self.seconds = Histogram("dbsp_step_seconds", "Seconds of a step", buckets=_SECONDS, registry=of)
        self.levels = Counter("dbsp_level_seconds", "Seconds of tasks, summed", ["level"], registry=of)
        self.rows_in = Counter("dbsp_rows_in", "Changes given to a table", ["table"], registry=of)
        self.rows_out = Counter("dbsp_rows_out", "Changed rows of a view", ["view"], registry=of)
        self.late = Counter("dbsp_late_rows", "Rows left out as late", ["relation"], registry=of)
        self.collected = Counter("dbsp_collected_rows", "Rows dropped from state", registry=of)
        self.state_rows = Gauge("dbsp_state_rows", "Rows stored", ["operator"], registry=of)
        self.state_bytes = Gauge("dbsp_state_bytes", "Bytes stored", ["operator"], registry=of)
        self.state_segments = Gauge("dbsp_state_segments", "Files with its rows", ["operator"], registry=of)
        self.behind = Gauge(
            "dbsp_waterline_behind_seconds",
            "Seconds that a waterline is behind the clock",
            ["column"],
            registry=of,
        )
        self.phases = Counter("dbsp_phase_seconds", "Seconds of parts of steps", ["phase"], registry=of)
        self.undelivered = Gauge(
            "dbsp_undelivered_steps", "Steps that a sink is without", ["sink"], registry=of
        )
        self.lag = Gauge(
            "dbsp_source_lag", "What a table's source has that isn't read", ["table", "unit"], registry=of
        )
        self.quiet = Gauge(
            "dbsp_source_quiet_seconds",
            "Seconds since a table with a source had a row",
            ["table"],
            registry=of,
        )
        self.away = Gauge("dbsp_source_away", "1: a table's source doesn't answer", ["table"], registry=of)
        self.bad = Counter("dbsp_bad_rows", "Rows of sources that are none of their table's", registry=of)
        self.requests = Counter(
            "dbsp_store_requests", "Requests to the store of the state", ["request"], registry=of
        )
        self.moved = Counter(
            "dbsp_store_bytes", "Bytes to and from the store of the state", ["direction"], registry=of
        )
        self.copies = Counter(
            "dbsp_store_copies",
            "Segments of a store that steps opened, by where they were",
            ["found"],
            registry=of,
        )
        of.register(_Plans(pipeline))
        self.made_at = Gauge("dbsp_last_step_time_seconds", "When this process made a step", registry=of)
        last = Gauge("dbsp_last_step", "The number of the last step", registry=of)
        last.set_function(lambda: pipeline.last_step)
        connected = Gauge("dbsp_subscribers", "Clients that follow a view", registry=of)
        connected.set_function(lambda: subscriptions.open)
        if changing is not None:
            read = Gauge("dbsp_backfill_rows", "Rows that a change of program has read", registry=of)
            read.set_function(lambda: changing.rows)
            total = Gauge("dbsp_backfill_rows_wanted", "Of how many, as far as is known", registry=of)
            total.set_function(lambda: changing.total)

    def made(self, changes: Changes) -> None:
        """Count a step."""
        metrics = changes.metrics
        self.steps.inc()
        self.seconds.observe(metrics.seconds)
        self.made_at.set(time.time())
        self.collected.inc(metrics.collected)
        for level, seconds in metrics.level_seconds.items():
            self.levels.labels(str(level)).inc(seconds)
        for phase, seconds in metrics.phases.items():
            self.phases.labels(phase).inc(seconds)
        for table, rows in metrics.rows_in.items():
            if table == BAD_ROWS:
                self.bad.inc(rows)
            else:
                self.rows_in.labels(table).inc(rows)
        for view, rows in metrics.rows_out.items():
            self.rows_out.labels(view).inc(rows)
        for relation, rows in metrics.late.items():
            self.late.labels(relation).inc(rows)
        traffic = metrics.traffic
        for request in ("gets", "puts", "deletes", "lists"):
            self.requests.labels(request.removesuffix("s")).inc(getattr(traffic, request))
        self.moved.labels("read").inc(traffic.bytes_read)
        self.moved.labels("written").inc(traffic.bytes_written)
        self.copies.labels("here").inc(traffic.found)
        self.copies.labels("fetched").inc(traffic.fetched)
        self._last = metrics

    def _look(self, metrics: Metrics) -> None:
        """What is so after a step, whenever somebody asks: steps needn't wait for that."""
        for operator, rows in metrics.state_rows.items():
            self.state_rows.labels(operator).set(rows)
        for operator, size in metrics.state_bytes.items():
            self.state_bytes.labels(operator).set(size)
        for operator, count in metrics.state_segments.items():
            self.state_segments.labels(operator).set(count)
        now = datetime.now(UTC)
        for column, value in metrics.waterlines.items():
            if isinstance(value, datetime):
                zoned = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
                self.behind.labels(column).set((now - zoned).total_seconds())

    async def shown(self, request: Request) -> Response:
        """In Prometheus' text format."""
        if self._last is not None:
            self._look(self._last)
        for sink, steps in self._pipeline.undelivered.items():  # they catch up between steps, too
            self.undelivered.labels(sink).set(steps)
        for table, seconds in self._sources.quiet.items():
            self.quiet.labels(table).set(seconds)
        unread = await self._sources.unread()
        self.lag.clear()
        for table, (count, unit) in unread.items():
            self.lag.labels(table, unit).set(count)
        self.away.clear()
        for table in self._pipeline.absent_sources:
            self.away.labels(table).set(1)
        return Response(generate_latest(self._told), media_type=CONTENT_TYPE_PLAIN_1_0_0)
