"""Figures of the daemon for Prometheus."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.process_collector import ProcessCollector

if TYPE_CHECKING:
    from cogvault_cli.daemon.house import House

__all__ = ["Metrics"]

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0)
_CALLS = "/v1/vault/"
_OTHER = "other"


class Metrics:
    """Counts and times requests.

    Args:
        house: whose vaults and models are told of.
        calls: names of the calls that are told apart.
    """

    def __init__(self, house: House, calls: Collection[str]) -> None:
        self._calls = frozenset(calls)
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "cogvault_requests", "Requests by call and HTTP status.", ["call", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "cogvault_request_seconds", "Duration of calls.", ["call"], buckets=_BUCKETS, registry=self._registry
        )
        self._queue = 0
        Gauge("cogvault_queue", "Calls that wait or run.", registry=self._registry).set_function(lambda: self._queue)
        vaults = Gauge("cogvault_vaults", "Open vaults.", registry=self._registry)
        vaults.set_function(lambda: len(house.folders()))
        models = Gauge("cogvault_models", "Models in memory.", registry=self._registry)
        models.set_function(lambda: len(house.models()))
        ProcessCollector(registry=self._registry)

    @property
    def queue(self) -> int:
        """Calls that wait or run; changed by the event loop only."""
        return self._queue

    def is_call(self, path: str) -> bool:
        """True for the path of a call of a vault."""
        return self._name(path) != _OTHER

    @contextmanager
    def timed(self, path: str) -> Iterator[list[int]]:
        """Count and time one request, whose status is put into the list."""
        call = self._name(path)
        outcome: list[int] = []
        began = time.perf_counter()
        self._queue += call != _OTHER
        try:
            yield outcome
        finally:
            self._queue -= call != _OTHER
            self._requests.labels(call, str(outcome[0] if outcome else 500)).inc()
            self._seconds.labels(call).observe(time.perf_counter() - began)

    def text(self) -> bytes:
        """In Prometheus's text format."""
        return generate_latest(self._registry)

    def _name(self, path: str) -> str:
        name = path.removeprefix(_CALLS) if path.startswith(_CALLS) else _OTHER
        return name if name in self._calls else _OTHER  # a path that does not exist makes no label
