"""What the SDK leaves out between a client's pipe and the server: the end of input, and frames that are wrong.

The SDK cancels what it works at when input ends, and says nothing to a frame that it cannot read. Here input ends for
it only when each request was answered, and a wrong frame with an id gets an error, so that no client waits for nothing.
Half an emoji, as a client in JavaScript makes when it cuts a text, makes no frame wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import anyio
import mcp_types as types
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from cogvault_mcp.letters import with_whole_letters

__all__ = ["ANSWER_SECONDS", "mended", "piped", "refusals"]

# What runs when input ends may take so long; then the server ends without an answer to it.
ANSWER_SECONDS = 10.0
Item: TypeAlias = SessionMessage | Exception
Receive: TypeAlias = ObjectReceiveStream[Item]
Send: TypeAlias = ObjectSendStream[SessionMessage]


def piped(incoming: Receive, outgoing: Send) -> tuple[Receive, Send]:
    """The two ends of a pipe as a server needs them."""
    unanswered = _Unanswered()
    answers = _Outgoing(outgoing, unanswered)
    return _Incoming(incoming, answers, unanswered), answers


def mended(item: Item) -> Item:
    """A frame that is JSON but for halves of letters, or a byte order mark before it, without them; others as is."""
    for error in item.errors(include_url=False) if isinstance(item, ValidationError) else ():
        if error["type"] != "json_invalid" or not isinstance(text := error["input"], str):
            continue
        try:
            whole = with_whole_letters(text)
        except (ValueError, RecursionError):
            continue
        try:
            return SessionMessage(types.jsonrpc_message_adapter.validate_json(whole, by_name=False))
        except ValidationError as fault:
            return fault
    return item


def refusals(fault: Exception) -> Iterator[types.JSONRPCError]:
    """Errors for the requests in a frame that could not be read, as far as they have an id."""
    frame = _frame(fault)
    is_batch = isinstance(frame, list)
    for request in frame if is_batch else [frame]:
        if not isinstance(request, dict) or {"result", "error"} & request.keys():
            continue
        if isinstance(id := request.get("id"), int | str) and not isinstance(id, bool):
            message = "send one request a line, batches are not taken" if is_batch else "no request of JSON-RPC 2.0"
            yield types.JSONRPCError(
                jsonrpc="2.0", id=id, error=types.ErrorData(code=types.INVALID_REQUEST, message=message)
            )


def _frame(fault: Exception) -> Any:
    """What was sent, when it was JSON: errors about all of it carry it."""
    if isinstance(fault, ValidationError):
        for error in fault.errors(include_url=False):
            if error["type"] in ("missing", "model_type"):
                return error["input"]
    return None


class _Unanswered:
    """Requests that have no answer yet; 1 and "1" are two."""

    def __init__(self) -> None:
        self._ids: set[object] = set()
        self._none = anyio.Event()

    def add(self, id: types.RequestId) -> None:
        self._ids.add(id)

    def discard(self, id: object) -> None:
        self._drop({id})

    def cancel(self, id: object) -> None:
        """The SDK cancels request 1 for "1" as well, and answers it no more."""
        self._drop({one for one in self._ids if str(one) == str(id)})

    def _drop(self, ids: set[object]) -> None:
        self._ids -= ids
        if not self._ids:
            self._none.set()

    async def wait(self) -> None:
        """Until there is none. No more may be added."""
        self._none = anyio.Event()
        if self._ids:
            await self._none.wait()


class _Outgoing(ObjectSendStream[SessionMessage]):
    def __init__(self, inner: Send, unanswered: _Unanswered) -> None:
        self._inner = inner
        self._unanswered = unanswered

    async def send(self, item: SessionMessage) -> None:
        await self._inner.send(item)
        if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
            self._unanswered.discard(item.message.id)

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Incoming(ObjectReceiveStream[Item]):
    def __init__(self, inner: Receive, answers: _Outgoing, unanswered: _Unanswered) -> None:
        self._inner = inner
        self._answers = answers
        self._unanswered = unanswered

    async def receive(self) -> Item:
        while True:
            try:
                item = mended(await self._inner.receive())
            except anyio.EndOfStream:
                with anyio.move_on_after(ANSWER_SECONDS):
                    await self._unanswered.wait()
                raise
            if isinstance(item, SessionMessage):
                self._note(item.message)
                return item
            for refusal in refusals(item):
                await self._answers.send(SessionMessage(refusal))

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _note(self, message: types.JSONRPCMessage) -> None:
        if isinstance(message, types.JSONRPCRequest):
            self._unanswered.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._unanswered.cancel((message.params or {}).get("requestId"))
