"""The daemon's HTTP interface."""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Callable
from typing import Any, Literal

import anyio
import psutil
from anyio.to_thread import run_sync
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field, JsonValue
from starlette.exceptions import HTTPException

from cogvault import __version__
from cogvault.client import Endpoint
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
from cogvault.types import Status, to_json, worst
from cogvault_cli.daemon.gate import MAX_QUEUE, PROOF_PATH, Gate, answer, problem
from cogvault_cli.daemon.house import House
from cogvault_cli.daemon.methods import METHODS, Arguments, Body, Method
from cogvault_cli.daemon.metrics import Metrics
from cogvault_cli.hooks.recall import on_prompt, on_start

__all__ = ["create_app"]

# Searches wait for their turn to compute, and health for searches, in threads of their own: however many they are, a
# write, a sync or a question of another kind finds a thread.
_SEARCH_THREADS = 32
_HEALTH_THREADS = 1
# Nothing, or not all that the vault holds, can be found: also while a first or a damaged index is being made.
_UNWELL = (Status.STALE, Status.FAILED)
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

    error: dict[str, JsonValue] = Field(description="kind (a class of cogvault.errors), message, path, line, key, hint")


class OpenBody(Body):
    """Whose vault, and with what settings the asker would open it."""

    settings: dict[str, JsonValue] = Field({}, description="Fields of Config that were set explicitly.")
    environment: dict[str, str] = Field({}, description="The asker's COGVAULT_* variables.")


class HookBody(OpenBody):
    """An event of an agent: everything that a hook would ask one after the other."""

    version: str = Field(description="Of the asker.")
    event: Literal["session-start", "prompt"]
    project: str = Field("", description="Name of the folder where the agent works (session-start).")
    prompt: str = Field("", description="What the user wrote (prompt).")
    seen: list[str] = Field([], description="Ids that the session was told.")


class Empty(Arguments):
    """No arguments."""


def create_app(house: House, stop: Callable[[], None], token: str = "", max_queue: int = MAX_QUEUE) -> FastAPI:
    """The daemon as an ASGI application.

    Args:
        house: its vaults.
        stop: ends the daemon, soon.
        token: what requests have to bear, "" = nothing.
        max_queue: calls that wait or run at most.
    """
    app = FastAPI(title="cogvault daemon", version=__version__, docs_url=None, redoc_url=None, redirect_slashes=False)
    metrics = Metrics(house, [*(method.name for method in METHODS), "hook"])
    instance = secrets.token_hex(8)
    app.add_middleware(Gate, metrics=metrics, token=token, instance=instance, max_queue=max_queue)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(CogvaultError, _failed)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(Exception, _crashed)
    search_threads = anyio.CapacityLimiter(_SEARCH_THREADS)
    _add_own_routes(app, house, metrics, stop, token, instance)
    _add_hook(app, house, search_threads)
    for method in METHODS:
        _add_method(app, house, method, search_threads if method.name == "search" else None)
    return app


def _add_own_routes(
    app: FastAPI, house: House, metrics: Metrics, stop: Callable[[], None], token: str, instance: str
) -> None:
    started = time.time()
    health_threads = anyio.CapacityLimiter(_HEALTH_THREADS)

    # Asynchronous, so that it is answered also while all threads work.
    @app.get("/v1/hello", summary="Who answers.")
    async def hello() -> dict[str, Any]:
        return {"name": "cogvault", "version": __version__, "pid": os.getpid(), "instance": instance}

    @app.get(PROOF_PATH, summary="Show that the daemon has the token, without telling it.")
    async def proof(challenge: str) -> dict[str, str]:
        return {"proof": Endpoint(token=token).proof(challenge)}

    @app.get("/v1/status", summary="Version, vaults, models, memory, queue.")
    async def status() -> dict[str, Any]:
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
    async def health() -> Response:
        found = await run_sync(house.health, limiter=health_threads)
        overall = worst(one.status for one in found)
        return answer({"status": overall, "vaults": to_json(found)}, 503 if overall in _UNWELL else 200)

    @app.get("/metrics", summary="Figures for Prometheus.", response_class=Response)
    async def figures() -> Response:
        return Response(metrics.text(), media_type="text/plain; version=0.0.4")

    @app.post("/v1/stop", summary="End the daemon; calls that run are finished.", responses=_FAILURES)
    def end(body: Empty) -> dict[str, Any]:
        threading.Timer(0.1, stop).start()  # after this answer
        return {"stopping": True}

    @app.post("/v1/open", summary="Open a vault, if it has these settings here.", responses=_FAILURES)
    def open_vault(body: OpenBody) -> dict[str, Any]:
        return {"tenant": str(house.open(body.tenant, body.settings, body.environment))}


def _add_hook(app: FastAPI, house: House, threads: anyio.CapacityLimiter) -> None:
    def run(body: HookBody) -> dict[str, Any]:
        if body.version != __version__:
            raise DaemonError(f"the daemon is cogvault {__version__}, the hook {body.version}", hint="restart it")
        folder = house.open(body.tenant, body.settings, body.environment)
        with house.vault(str(folder)) as vault:
            is_start = body.event == "session-start"
            told = on_start(vault, body.project, body.seen) if is_start else on_prompt(vault, body.prompt, body.seen)
        return told._asdict()

    @app.post("/v1/vault/hook", summary="What to tell an agent.", responses=_FAILURES)
    async def hook(body: HookBody) -> dict[str, Any]:
        return await run_sync(run, body, limiter=threads)


def _add_method(app: FastAPI, house: House, method: Method, threads: anyio.CapacityLimiter | None) -> None:
    """Serve one call in these threads; None = in those that all other calls share."""

    def run(body: Any) -> Response:
        arguments = {name: getattr(body, name) for name in type(body).model_fields if name != "tenant"}
        with house.vault(body.tenant) as vault:
            return answer(method.run(vault, arguments))

    async def call(body: Any) -> Response:
        return await run_sync(run, body, limiter=threads)

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
        (400, "The body is no JSON"),
        (404, "The id or path names nothing"),
        (409, "The card or the settings are others by now"),
        (
            412,
            "The header Cogvault-Daemon names another daemon than this one (instance of /v1/hello); nothing was done",
        ),
        (413, "The request is too large"),
        (422, "An argument is wrong"),
        (500, "The index or a model failed"),
        (503, "Too many calls wait"),
    )
}


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    faults = [f"{'.'.join(str(part) for part in item['loc'][1:]) or 'body'}: {item['msg']}" for item in error.errors()]
    return problem(422, "QueryError", "; ".join(faults), "see /openapi.json")


async def _failed(request: Request, error: Exception) -> Response:
    assert isinstance(error, CogvaultError)
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
    return answer({"error": error_to_json(error)}, status)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    refusal = problem(error.status_code, "QueryError", str(error.detail), "see /openapi.json")
    refusal.headers.update(error.headers or {})
    return refusal


async def _crashed(request: Request, error: Exception) -> Response:
    """For what nobody foresaw; the server logs it."""
    hint = "this is a defect of cogvault; its log says more"
    return problem(500, "CogvaultError", f"unexpected {type(error).__name__}: {error}", hint)
