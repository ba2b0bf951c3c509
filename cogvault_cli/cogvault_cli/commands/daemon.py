"""``cogvault daemon``: serve vaults to all commands, hooks and MCP servers of this user."""

from __future__ import annotations

import sys
from typing import Any

import click

from cogvault_cli.command import ExampleCommand, option
from cogvault_cli.failures import DONE, FINDINGS, UsageFault

_DEFAULT_HOST = "127.0.0.1"
# Both are answered at once, also while all calls wait.
_SECONDS = 3.0


@click.command(
    "daemon",
    cls=ExampleCommand,
    examples=(
        "cogvault daemon",
        "cogvault daemon --status",
        "cogvault daemon --print-unit systemd",
    ),
)
@option("--status", "show_status", is_flag=True, help="Say whether one runs: version, vaults, models, memory, queue.")
@option("--stop", "stop", is_flag=True, help="Stop the one that runs; calls that run are finished.")
@option("--tcp", metavar="HOST:PORT", help="Listen on this loopback address, with a token, instead of a Unix socket.")
@option("--print-unit", type=click.Choice(["systemd", "launchd"]), help="Print a file that lets the system start it.")
@option("--json", "as_json", is_flag=True, help="Print one JSON document, also for an error.")
@option("--debug", is_flag=True, help="Log to standard error and show tracebacks.")
def command(show_status: bool, stop: bool, tcp: str | None, print_unit: str | None, as_json: bool, debug: bool) -> int:
    """Serve vaults from one process that has each model in memory once.

    Commands, hooks and MCP servers find it by themselves; without it they do the work on their own. Only this user can
    ask it. It runs until it is stopped. `--status` ends with 1 when none runs.
    """
    if print_unit is not None:
        from cogvault_cli.daemon import units

        program = units.own_program()
        unit = units.systemd(program) if print_unit == "systemd" else units.launchd(program)
        _print(as_json, {"status": "ok", "unit": unit}, unit.rstrip("\n"))
        return DONE
    if show_status or stop:
        return _ask(stop, as_json)
    return _serve(tcp, debug)


def _ask(stop: bool, as_json: bool) -> int:
    from cogvault.client import endpoints, runtime_folder
    from cogvault.client.connection import Connection, NobodyListens
    from cogvault.errors import DaemonError

    for endpoint in endpoints():
        connection = Connection(endpoint)
        try:
            told = connection.call("/v1/stop" if stop else "/v1/status", {} if stop else None, timeout_seconds=_SECONDS)
        except NobodyListens:
            continue
        finally:
            connection.close()
        if not stop:
            _print(as_json, {"status": "ok", **told}, _text(told, str(endpoint)))
            return DONE
        from cogvault_cli.daemon.serve import wait_for_end

        if wait_for_end(runtime_folder()):
            _print(as_json, {"status": "stopped"}, "the daemon has stopped")
            return DONE
        raise DaemonError("the daemon still runs; a call takes long", hint="cogvault daemon --status")
    _print(as_json, {"status": "stopped"}, "no daemon runs; `cogvault daemon` starts one")
    return DONE if stop else FINDINGS


def _print(as_json: bool, document: dict[str, Any], text: str) -> None:
    if as_json:
        from cogvault_cli.output import print_json

        print_json(document)
    else:
        click.echo(text)


def _text(told: dict[str, Any], endpoint: str) -> str:
    models = ", ".join(told["models"]) or "none"
    lines = [
        f"cogvault {told['version']}, process {told['pid']}, up {told['uptime_seconds']:.0f} s, at {endpoint}",
        f"memory {told['rss_bytes'] / 2**20:.0f} MB, queue {told['queue']}, models {models}",
        *(f"vault {folder}" for folder in told["vaults"]),
    ]
    return "\n".join(lines)


def _serve(tcp: str | None, debug: bool) -> int:
    import logging
    import os

    from cogvault.client.endpoint import ENDPOINT_FILE, socket_path
    from cogvault_cli.daemon.place import Place
    from cogvault_cli.daemon.serve import AlreadyRunning, listen_tcp, listen_unix, one_daemon

    try:
        from cogvault_cli.daemon import app  # noqa: F401 - its needs are an extra
    except ImportError as error:
        from cogvault.errors import DaemonError

        raise DaemonError(f"{error.name} is not installed", hint="pip install 'cogvault-cli[daemon]'") from error
    from cogvault_cli.daemon.serve import run

    logging.basicConfig(level=logging.DEBUG if debug else logging.INFO, stream=sys.stderr, format="%(message)s")
    if tcp is None and os.name != "posix":
        tcp = f"{_DEFAULT_HOST}:0"
    address = None if tcp is None else _address(tcp)
    try:
        with one_daemon() as folder:
            if address is None:
                with listen_unix(folder) as listener:
                    run(listener, Place.of(socket_path(folder)))
            else:
                with listen_tcp(folder, *address) as (listener, token):
                    run(listener, Place.of(folder / ENDPOINT_FILE), token)
    except AlreadyRunning as other:
        click.echo(f"{other.message}; nothing to do", err=True)
    return DONE


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise UsageFault(f"not an address: {text!r}", f"write {_DEFAULT_HOST}:8764")
    return host.strip("[]"), int(port)
