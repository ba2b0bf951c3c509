"""The daemon's HTTP interface."""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import psutil
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field

from cogvault import __version__
from cogvault.client.wire import error_to_json
from cogvault.errors import (
    CogvaultError,
    ConfigError,
    ConflictError,
    DaemonError,
    IndexFault,
    ModelError,
    PathError,
    QueryError,
    VaultError,
)
from cogvault.types import to_json
from cogvault_cli.daemon.house import House
from cogvault_cli.daemon.methods import METHODS, Body, Method
from cogvault_cli.daemon.metrics import Metrics

__all__ = ["MAX_QUEUE", "create_app"]

logger = logging.getLogger(__name__)

# Calls that wait or run; one more is turned away, so that neither memory nor waiting grows without bound.
MAX_QUEUE = 256
_STATUS: tuple[tuple[type[CogvaultError], int], ...] = (
    (PathError, 404),
    (ConflictError, 409),
    (DaemonError, 409),
    (QueryError, 422),
    (ConfigError, 422),
    (VaultError, 422),
    (IndexFault, 500),
    (ModelError, 500),
)


class Failure(BaseModel):
    """What went wrong."""

    error: dict[str, Any] = Field(description="kind, message, path, line, key, hint")


class OpenBody(Body):
    """Whose vault, and with what settings the asker would open it."""

    settings: dict[str, Any] = Field({}, description="Fields of Config that were set explicitly.")
    environment: dict[str, str] = Field({}, description="The asker's COGVAULT_* variables.")


class Empty(BaseModel):
    """No arguments."""

    model_config = ConfigDict(extra="forbid")


def create_app(house: House, stop: Callable[[], None], token: str = "") -> FastAPI:
    """The daemon as an ASGI application.

    Args:
        house: its vaults.
        stop: ends the daemon, soon.
        token: what requests have to bear, "" = nothing.
    """
    app = FastAPI(title="cogvault daemon", version=__version__, docs_url=None, redoc_url=None)
    metrics = Metrics(house)
    _Gate(metrics, token).install(app)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(CogvaultError, _failed)
    _add_own_routes(app, house, metrics, stop)
    for method in METHODS:
        _add_method(app, house, method)
    return app


def _add_own_routes(app: FastAPI, house: House, metrics: Metrics, stop: Callable[[], None]) -> None:
    started = time.time()

    @app.get("/v1/hello", summary="Who answers.")
    def hello() -> dict[str, Any]:
        return {"name": "cogvault", "version": __version__, "pid": os.getpid()}

    @app.get("/v1/status", summary="Version, vaults, models, memory, queue.")
    def status() -> dict[str, Any]:
        return {
            "version": __version__,
            "pid": os.getpid(),
            "uptime_seconds": round(time.time() - started, 1),
            "vaults": [str(folder) for folder in house.folders()],
            "models": list(house.models()),
            "rss_bytes": psutil.Process().memory_info().rss,
            "queue": metrics.queue,
        }

    @app.get("/health", summary="Search every open vault.", responses={503: {"description": "One cannot be searched"}})
    def health() -> Response:
        found = house.health()
        is_well = not any(one.error for one in found)
        document = {"status": "ok" if is_well else "failed", "vaults": to_json(found)}
        return _json(document, 200 if is_well else 503)

    @app.get("/metrics", summary="Figures for Prometheus.", response_class=Response)
    def figures() -> Response:
        return Response(metrics.text(), media_type="text/plain; version=0.0.4")

    @app.post("/v1/stop", summary="End the daemon; calls that run are finished.", responses=_FAILURES)
    def end(body: Empty) -> dict[str, Any]:
        threading.Timer(0.1, stop).start()  # after this answer
        return {"stopping": True}

    @app.post("/v1/open", summary="Open a vault, if it has these settings here.", responses=_FAILURES)
    def open_vault(body: OpenBody) -> dict[str, Any]:
        return {"tenant": str(house.open(body.tenant, body.settings, body.environment))}


def _add_method(app: FastAPI, house: House, method: Method) -> None:
    def call(body: Any) -> Response:
        arguments = {name: getattr(body, name) for name in type(body).model_fields if name != "tenant"}
        with house.vault(body.tenant) as vault:
            return _json(method.run(vault, arguments))

    call.__annotations__ = {"body": method.body, "return": Response}
    app.post(
        f"/v1/vault/{method.name}",
        summary=method.summary,
        operation_id=method.name,
        response_class=Response,
        responses={200: {"content": {"application/json": {"schema": {"type": "object"}}}}, **_FAILURES},
    )(call)


_FAILURES: dict[int | str, dict[str, Any]] = {
    status: {"model": Failure, "description": text}
    for status, text in (
        (401, "No or a wrong token"),
        (404, "The id or path names nothing"),
        (409, "The card or the settings are others by now"),
        (422, "An argument is wrong"),
        (500, "The index or a model failed"),
        (503, "Too many calls wait"),
    )
}


class _Gate:
    """What every request passes: the token, the bounded queue, the figures."""

    def __init__(self, metrics: Metrics, token: str) -> None:
        self._metrics = metrics
        self._token = token

    def install(self, app: FastAPI) -> None:
        app.middleware("http")(self)

    async def __call__(self, request: Request, go_on: Callable[[Request], Awaitable[Response]]) -> Response:
        import hmac

        given = request.headers.get("authorization", "").encode()
        if self._token and not hmac.compare_digest(given, f"Bearer {self._token}".encode()):
            return _problem(401, "Unauthorized", "no or a wrong token", "send Authorization: Bearer TOKEN")
        if request.url.path.startswith("/v1/vault/") and self._metrics.queue >= MAX_QUEUE:
            answer = _problem(503, "Busy", f"{MAX_QUEUE} calls wait already", "try again in a second")
            answer.headers["Retry-After"] = "1"
            return answer
        with self._metrics.timed(request.url.path) as outcome:
            response = await go_on(request)
            outcome.append(response.status_code)
        return response


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    faults = [f"{'.'.join(str(part) for part in item['loc'][1:]) or 'body'}: {item['msg']}" for item in error.errors()]
    return _problem(422, "QueryError", "; ".join(faults), "see /openapi.json")


async def _failed(request: Request, error: Exception) -> Response:
    assert isinstance(error, CogvaultError)
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
    return _json({"error": error_to_json(error)}, status)


def _problem(status: int, kind: str, message: str, hint: str) -> Response:
    return _json({"error": {"kind": kind, "message": message, "hint": hint}}, status)


def _json(document: Mapping[str, Any], status: int = 200) -> Response:
    return Response(json.dumps(document, allow_nan=False), status, media_type="application/json")
