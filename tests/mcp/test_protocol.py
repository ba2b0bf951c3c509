"""The protocol on the wire: frames that no client should send, versions, cancelling, ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import anyio
import mcp_types
import psutil
import pytest
from mcp.shared.message import SessionMessage

from cogvault import __version__
from cogvault_mcp import pipe
from cogvault_mcp.pipe import refusals
from tests.mcp.raw import LATEST, SECONDS, Server, environment, serving

ALIVE = {"jsonrpc": "2.0", "id": "still there", "method": "ping"}


def is_alive(server: Server) -> bool:
    server.send(ALIVE)
    return server.answer(ALIVE["id"])["result"] == {}  # type: ignore[arg-type]


def test_the_handshake_names_the_server_and_says_when_to_use_it(example_vault: Path, home: Path) -> None:
    with serving(example_vault, home) as server:
        result = server.initialize()["result"]
    assert result["serverInfo"]["name"] == "cogvault"
    assert result["serverInfo"]["version"] == __version__
    assert "cogvault_recall" in result["instructions"]


@pytest.mark.parametrize("version", ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])
def test_a_version_that_is_known_is_spoken(example_vault: Path, home: Path, version: str) -> None:
    with serving(example_vault, home) as server:
        assert server.initialize(version)["result"]["protocolVersion"] == version
        assert server.ask("tools/list")["result"]["tools"]


@pytest.mark.parametrize("version", ["9999-01-01", "1.0", ""])
def test_a_version_that_is_unknown_gets_one_that_is_spoken(example_vault: Path, home: Path, version: str) -> None:
    with serving(example_vault, home) as server:
        assert server.initialize(version)["result"]["protocolVersion"] == LATEST


@pytest.mark.parametrize(
    "frame",
    [
        b"\n",
        b"   \n",
        b"\r\n",
        b"not json\n",
        b"{\n",
        b"[]\n",
        b"null\n",
        b"42\n",
        b'{"jsonrpc": "2.0"}\n',
        b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}\n',
        b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}\n',
        b'{"jsonrpc": "2.0", "id": 99, "result": {}}\n',
        b'{"jsonrpc": "2.0", "method": "nobody/knows"}\n',
        b"\xff\xfe\x00\n",
        b'{"a": ' + b"[" * 5000 + b"\n",
        b"x" * 2_000_000 + b"\n",
        b'[{"jsonrpc": "2.0", "id": 7, "method": "ping"}, {"jsonrpc": "2.0", "id": 8, "method": "ping"}]\n',
    ],
    ids=lambda frame: repr(frame[:24]),
)
def test_a_bad_frame_harms_nothing(server: Server, frame: bytes) -> None:
    server.send_bytes(frame)
    assert is_alive(server)


@pytest.mark.parametrize(
    ("frame", "ids"),
    [
        ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, [1]),
        ({"id": "one", "method": "ping"}, ["one"]),
        ({"jsonrpc": "2.0", "id": 2, "method": "ping", "params": [1]}, [2]),
        ({"jsonrpc": "2.0", "id": 3, "method": 7}, [3]),
        ({"jsonrpc": "2.0", "id": 4}, [4]),
        ([{"jsonrpc": "2.0", "id": 5, "method": "ping"}, {"method": "x"}, 7, {"id": "six"}], [5, "six"]),
        ([], []),
        ({"jsonrpc": "2.0", "method": 7}, []),
        ({"jsonrpc": "1.0", "id": True, "method": "ping"}, []),
        ({"jsonrpc": "1.0", "id": 8, "result": {}}, []),
        ({"jsonrpc": "2.0", "id": 9, "error": 3}, []),
        ("text", []),
    ],
)  # fmt: skip
def test_a_frame_that_is_wrong_is_refused_by_its_id(frame: object, ids: list[int | str]) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        mcp_types.jsonrpc_message_adapter.validate_json(json.dumps(frame), by_name=False)
    refused = list(refusals(caught.value))
    assert [refusal.id for refusal in refused] == ids
    assert all(refusal.error.code == -32600 for refusal in refused)


def test_nobody_waits_for_an_answer_to_a_wrong_frame(server: Server) -> None:
    server.send_bytes(b'{"jsonrpc": "1.0", "id": "old", "method": "ping"}\n')
    assert server.answer("old")["error"]["code"] == -32600  # type: ignore[arg-type]
    assert is_alive(server)


def test_half_an_emoji_becomes_a_mark_and_is_answered(server: Server, example_vault: Path) -> None:
    """Who cuts a text in JavaScript may cut a letter in two."""
    made = server.call("cogvault_record", content="The mascot is a whale \ud83d", title="Masc\udfffot \U0001f433")
    id = made["structuredContent"]["id"]
    assert "The mascot is a whale \ufffd" in (example_vault / id).read_text(encoding="utf-8")
    assert id in [
        hit["id"] for hit in server.call("cogvault_recall", query="\ud800 mascot")["structuredContent"]["hits"]
    ]
    assert "\ufffd" in server.ask("\ud83d")["error"]["data"]
    server.send({"jsonrpc": "1.0", "id": "old \udc00", "method": "ping"})
    assert server.answer("old \ufffd")["error"]["code"] == -32600  # type: ignore[arg-type]


def test_a_byte_order_mark_before_the_first_frame_is_no_part_of_it(server: Server) -> None:
    server.send_bytes(b'\xef\xbb\xbf{"jsonrpc": "2.0", "id": "first", "method": "ping"}\n')
    assert server.answer("first")["result"] == {}  # type: ignore[arg-type]


def test_what_was_asked_is_done_and_answered_when_input_ends_behind_it(example_vault: Path, home: Path) -> None:
    with serving(example_vault, home) as server:
        server.initialize()
        id = server.request("tools/call", {"name": "cogvault_record", "arguments": {"content": "The last word."}})
        server.close()
        answer = server.answer(id, 0)["result"]["structuredContent"]
    assert answer["action"] == "created"
    assert "The last word." in (example_vault / answer["id"]).read_text(encoding="utf-8")


def test_input_that_ends_waits_for_request_1_and_for_request_one_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipe, "ANSWER_SECONDS", SECONDS)
    ids: tuple[int | str, ...] = (1, "1")

    async def run() -> None:
        client, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](9)
        outgoing, answers = anyio.create_memory_object_stream[SessionMessage](9)
        receiving, sending = pipe.piped(incoming, outgoing)
        for id in ids:
            await client.send(SessionMessage(mcp_types.JSONRPCRequest(jsonrpc="2.0", id=id, method="ping")))
        client.close()
        ended = anyio.Event()

        async def receive() -> None:
            async for _ in receiving:
                pass
            ended.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(receive)
            for id in ids:
                await anyio.wait_all_tasks_blocked()
                assert not ended.is_set()
                result = mcp_types.JSONRPCResponse(jsonrpc="2.0", id=id, result={})
                await sending.send(SessionMessage(result))
        for stream in (receiving, sending, answers):
            await stream.aclose()

    anyio.run(run)


@pytest.mark.parametrize("ended_by", ["an answer", "cancelling", "time"])
def test_the_end_of_input_waits_for_answers_but_not_for_ever(monkeypatch: pytest.MonkeyPatch, ended_by: str) -> None:
    monkeypatch.setattr(pipe, "ANSWER_SECONDS", 0.05 if ended_by == "time" else SECONDS)
    request = mcp_types.JSONRPCRequest(jsonrpc="2.0", id=1, method="ping")
    result = mcp_types.JSONRPCResponse(jsonrpc="2.0", id=1, result={})
    cancel = mcp_types.JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params={"requestId": "1"})

    async def run() -> None:
        client, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](9)
        outgoing, answers = anyio.create_memory_object_stream[SessionMessage](9)
        receiving, sending = pipe.piped(incoming, outgoing)
        await client.send(SessionMessage(request))
        if ended_by == "cancelling":
            await client.send(SessionMessage(cancel))
        client.close()
        got = []
        async with anyio.create_task_group() as tasks:
            async for item in receiving:
                got.append(item)
                if ended_by == "an answer":
                    tasks.start_soon(sending.send, SessionMessage(result))
        assert len(got) == 1 + (ended_by == "cancelling")
        for stream in (receiving, sending, answers):
            await stream.aclose()

    anyio.run(run)


def test_a_method_that_is_unknown_is_an_error(server: Server) -> None:
    assert server.ask("nobody/knows")["error"]["code"] == -32601


def test_a_tool_that_is_unknown_is_an_error(server: Server) -> None:
    assert "no such tool" in server.ask("tools/call", {"name": "rm", "arguments": {}})["error"]["message"]


def test_line_separators_inside_text_break_no_frame(server: Server) -> None:
    text = "one\u2028two\u2029three\x85four\x0cfive\u0000"
    made = server.call("cogvault_record", content=text.replace("\u0000", ""), title="Separators")
    read = server.call("cogvault_read", id=made["structuredContent"]["id"])
    assert "one\u2028two\u2029three\x85four\x0cfive" in read["content"][0]["text"]


def test_a_call_that_is_cancelled_gets_no_answer_and_the_next_one_works(server: Server) -> None:
    id = server.request("tools/call", {"name": "cogvault_browse", "arguments": {"sync": True}})
    server.notify("notifications/cancelled", {"requestId": id, "reason": "changed my mind"})
    answered = []
    server.send(ALIVE)
    while (message := server.receive())["id"] != ALIVE["id"]:
        answered.append(message)
    assert len(answered) <= 1  # it may have been faster
    assert server.call("cogvault_recall", query="jobs")["structuredContent"]["status"] == "ok"


def test_cancelling_what_has_ended_or_never_was_yields_nothing(server: Server) -> None:
    id = server.request("ping")
    server.answer(id)
    server.notify("notifications/cancelled", {"requestId": id})
    server.notify("notifications/cancelled", {"requestId": 123456})
    server.notify("notifications/cancelled", {})
    assert server.is_silent()
    assert is_alive(server)


def test_a_slow_call_holds_up_nobody(example_vault: Path, home: Path) -> None:
    for number in range(400):
        (example_vault / f"many_{number}.md").write_text(f"# Many {number}\n\n" + f"word{number} and more. " * 300)
    with serving(example_vault, home) as server:
        server.initialize()
        slow = server.request("tools/call", {"name": "cogvault_browse", "arguments": {"sync": True}})
        server.send(ALIVE)
        first = server.receive()
        assert first["id"] == ALIVE["id"]
        assert server.answer(slow)["result"]["structuredContent"]["cards"] > 400


def test_progress_of_a_sync_is_told(example_vault: Path, home: Path) -> None:
    with serving(example_vault, home) as server:
        server.initialize()
        call = {"name": "cogvault_browse", "arguments": {"sync": True}, "_meta": {"progressToken": "p"}}
        id = server.request("tools/call", call)
        told = []
        while (message := server.receive()).get("id") != id:
            told.append(message)
    assert told
    assert {message["method"] for message in told} == {"notifications/progress"}
    assert all(message["params"]["progressToken"] == "p" for message in told)


def test_the_handshake_does_not_wait_for_a_vault_that_cannot_be_opened(example_vault: Path, home: Path) -> None:
    (example_vault / ".cogvault.toml").write_text("modle = 1\n")
    with serving(example_vault, home) as server:
        server.initialize()
        result = server.call("cogvault_recall", query="jobs")
        assert result["isError"]
        assert "modle" in result["content"][0]["text"]
        (example_vault / ".cogvault.toml").unlink()
        assert not server.call("cogvault_recall", query="jobs").get("isError")


def test_standard_output_carries_protocol_only(example_vault: Path, home: Path) -> None:
    (example_vault / "bad.md").write_bytes(b"---\ntitle: [unclosed\n---\nbody \xff\n")
    (example_vault / "nul.md").write_bytes(b"\x00" * 100)
    with serving(example_vault, home, "--debug", COGVAULT_MODEL="bundled") as server:
        server.initialize()
        server.call("cogvault_recall", query="jobs")
        server.call("cogvault_browse", sync=True)
    assert server.lines
    for line in server.lines:
        assert json.loads(line)["jsonrpc"] == "2.0"
    assert (home / "stderr").stat().st_size > 0


LOCALES = pytest.mark.parametrize(
    "variables",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0"},
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "PYTHONIOENCODING": "cp1252"},
        {"LANG": "", "PYTHONIOENCODING": "ascii"},
    ],
    ids=["C", "cp1252", "ascii"],
)


@LOCALES
def test_text_goes_through_whole_in_any_locale(example_vault: Path, home: Path, variables: dict[str, str]) -> None:
    text = "Řeka 😀 设备 ґанок ěščř"
    with serving(example_vault, home, **variables) as server:
        server.initialize()
        made = server.call("cogvault_record", content=text, title="Řeka 😀")
        id = made["structuredContent"]["id"]
        assert text in (example_vault / id).read_text(encoding="utf-8")
        assert text in server.call("cogvault_read", id=id)["content"][0]["text"]


@LOCALES
def test_cards_are_known_by_their_names_in_any_locale(
    example_vault: Path, home: Path, variables: dict[str, str]
) -> None:
    check_names(example_vault, home, variables)


def test_cards_are_known_by_their_names_where_python_reads_latin_1(
    example_vault: Path, home: Path, latin1: dict[str, str]
) -> None:
    check_names(example_vault, home, latin1)


def check_names(vault: Path, home: Path, variables: dict[str, str]) -> None:
    """What one locale indexed, the next one neither loses nor takes out."""
    named = {"Café ř.md", "设备清单.md"}
    for name in named:
        (vault / name).write_text(f"A wombat lives in {name}.\n", "utf-8")
    for settings in ({}, variables, {}):
        with serving(vault, home, **settings) as server:
            server.initialize()
            synced = server.call("cogvault_browse", sync=True)["structuredContent"]
            assert named <= set(synced["ids"])
            assert synced["status"] == "ok"
            hits = server.call("cogvault_recall", query="wombat")["structuredContent"]["hits"]
            assert named == {hit["id"] for hit in hits}
            listed = server.ask("resources/list")["result"]["resources"]
            assert named <= {resource["name"] for resource in listed}


@pytest.mark.skipif(os.name != "posix", reason="a shell closes the streams")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_the_server_ends_at_once_without_standard_streams(example_vault: Path, home: Path, closed: str) -> None:
    command = f"exec {sys.executable} -m cogvault_mcp --tenant {example_vault} {closed}"
    done = subprocess.run(
        command,
        shell=True,
        env=environment(home, COGVAULT_MODEL="none"),
        capture_output=True,
        text=True,
        timeout=60,
        input="",
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_server_ends_when_standard_input_does(example_vault: Path, home: Path) -> None:
    with serving(example_vault, home) as server:
        server.initialize()
        server.call("cogvault_recall", query="jobs")
        server.close()
        assert server.process.returncode == 0


@pytest.mark.skipif(os.name != "posix", reason="a killed parent is told by its children's new parent")
@pytest.mark.parametrize("is_wrapped", [False, True], ids=["directly", "through a wrapper"])
def test_the_server_ends_when_its_client_is_killed(example_vault: Path, home: Path, is_wrapped: bool) -> None:
    """Somebody else keeps standard input open, so that its end cannot tell."""
    reading, writing = os.pipe()
    serve = [sys.executable, "-m", "cogvault_mcp", "--tenant", str(example_vault)]
    command = ["/bin/sh", "-c", '"$@"; exit $?', "sh", *serve] if is_wrapped else serve
    client = f"""
import subprocess, sys, time
child = subprocess.Popen({command!r}, stdin={reading}, stdout=subprocess.PIPE)
print(child.pid, flush=True)
child.stdout.readline()
print("served", flush=True)
time.sleep(600)
"""
    variables = environment(home, COGVAULT_MODEL="none")
    parent = subprocess.Popen(
        [sys.executable, "-c", client], stdout=subprocess.PIPE, pass_fds=(reading,), env=variables, text=True
    )
    hello = {"protocolVersion": LATEST, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    os.write(writing, json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).encode() + b"\n")
    assert parent.stdout is not None
    child = psutil.Process(int(parent.stdout.readline()))
    assert parent.stdout.readline() == "served\n"
    family = [child, *child.children(recursive=True)]
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    if is_wrapped:  # the shell lives on, and with it the pipe: only its own end tells the server
        child.kill()
    _, left = psutil.wait_procs(family[::-1], timeout=SECONDS)
    os.close(reading)
    os.close(writing)
    assert left == []


def test_the_first_answer_does_not_wait_for_the_whole_index(tmp_path: Path, home: Path) -> None:
    vault = tmp_path / "large"
    vault.mkdir()
    for number in range(3000):
        (vault / f"card_{number:05}.md").write_text(f"# Card {number}\n\nThe answer of card {number} is here.\n" * 20)
    with serving(vault, home) as server:
        server.initialize()
        result = server.call("cogvault_recall", query="answer of card")
        assert result["structuredContent"]["status"] in ("stale", "ok")
        assert "being built" in result["structuredContent"]["text"] or result["structuredContent"]["hits"]
        end = time.monotonic() + SECONDS
        while server.call("cogvault_browse", limit=1)["structuredContent"]["cards"] < 3000:
            assert time.monotonic() < end
        assert server.call("cogvault_recall", query="answer of card")["structuredContent"]["status"] == "ok"
