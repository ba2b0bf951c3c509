"""``cogvault-mcp``: serve a vault over MCP."""

from __future__ import annotations

import argparse
import logging
import os
import re
import secrets
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cogvault import __version__
from cogvault.errors import CogvaultError, ConfigError, VaultError
from cogvault.streams import open_streams
from cogvault.utf8 import read_names_as_utf8
from cogvault_mcp.memory import MAX_K, Memory
from cogvault_mcp.paths import given_folder
from cogvault_mcp.told import without_places

if TYPE_CHECKING:
    from cogvault import Vault
    from cogvault.client import RemoteVault

TOKEN_VARIABLE = "COGVAULT_TOKEN"
_LOOPBACK = "127.0.0.1"
_EVERYWHERE = ("0.0.0.0", "[::]", "::")
_EXAMPLES = """\
examples:
  cogvault-mcp --tenant ~/agent/memory
  cogvault-mcp --tenant ~/agent/memory --http 127.0.0.1:8765
  cogvault-mcp --http 127.0.0.1:8765 --token-file ~/.config/cogvault/tokens.toml
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until the client is gone; 2 = wrong command line, 3 = the vault could not be used."""
    if argv is None:
        read_names_as_utf8()
        open_streams()
    arguments = command_line().parse_args(argv)
    if arguments.plugin:
        sys.stdout.write(f"{Path(__file__).parent / 'plugin'}\n")
        return 0
    if arguments.debug:
        logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
    try:
        return _serve(arguments)
    except CogvaultError as error:
        sys.stderr.write(f"cogvault-mcp: {error}\n")
        return 2 if isinstance(error, ConfigError) else 3
    except KeyboardInterrupt:
        return 130


def _serve(arguments: argparse.Namespace) -> int:
    settings = {
        "model": arguments.model,
        "half_life_days": arguments.half_life,
        "mmr_lambda": arguments.mmr,
        "recursive": arguments.recursive,
        "strip_frontmatter": arguments.strip_frontmatter,
        "ignore": tuple(arguments.ignore) or None,
    }
    chosen = {name: value for name, value in settings.items() if value is not None}

    def memory(folder: Path) -> Memory:
        if not folder.is_dir():
            raise VaultError("no such folder", path=folder, hint="create it, or name the vault's folder")
        opening, connecting = partial(_open, folder, chosen), partial(_connect, folder, chosen)
        told = without_places(folder) if arguments.http else str  # only that may go to another machine
        return Memory(opening, connecting, types=tuple(arguments.types), k=arguments.k, told=told)

    if arguments.token_file and (arguments.tenant or not arguments.http):
        raise ConfigError(
            "a token file names the tenants of --http", key="token-file", hint="leave out --tenant, and say --http"
        )
    if arguments.allow_host and not arguments.http:
        raise ConfigError("only clients of --http name a host", key="allow-host", hint="leave it out, or say --http")
    if not arguments.http:
        from cogvault_mcp.stdio import serve_stdio

        serve_stdio(memory(_tenant(arguments.tenant)))
        return 0
    from cogvault_mcp.http import listen, serve_http

    host, port = _address(arguments.http)
    if arguments.token_file:
        from cogvault_mcp.tenants import read_tokens

        memories = {token: memory(folder) for token, folder in read_tokens(arguments.token_file).items()}
    else:
        memories = {_token(): memory(_tenant(arguments.tenant))}
    listener = listen(host, port)
    sys.stderr.write(f"cogvault-mcp: http://{host}:{port}/mcp\n")
    if host in _EVERYWHERE and not arguments.allow_host:
        sys.stderr.write("cogvault-mcp: only clients of this machine are answered: name it with --allow-host\n")
    serve_http(memories, listener, host, arguments.allow_host)
    return 0


def _open(folder: Path, settings: dict[str, Any]) -> Vault:
    from cogvault import Config, Vault

    return Vault(folder, Config(**settings))


def _connect(folder: Path, settings: dict[str, Any]) -> RemoteVault | None:
    from cogvault.client import connect

    return connect(folder, settings)


def _tenant(given: str | None) -> Path:
    return given_folder(os.environ.get("COGVAULT_TENANT", "") if given is None else given)


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    host = host or _LOOPBACK
    if not port.isdecimal() or not 0 < int(port) < 65536:
        raise ConfigError(f"not an address: {text!r}", key="http", hint="write 127.0.0.1:8765, or 8765")
    return host, int(port)


def _token() -> str:
    from cogvault_mcp.tenants import TOKEN_FAULT, TOKEN_HINT, is_token

    if token := os.environ.get(TOKEN_VARIABLE):
        if not is_token(token):
            raise ConfigError(TOKEN_FAULT, key=TOKEN_VARIABLE, hint=TOKEN_HINT)
        return token
    token = secrets.token_urlsafe(32)
    sys.stderr.write(f"cogvault-mcp: token {token} (set {TOKEN_VARIABLE} to keep one)\n")
    return token


def _within(low: float, high: float, kind: type[float] = float) -> Callable[[str], float]:
    def number(text: str) -> float:
        if not low <= (value := kind(text)) <= high:  # also for "nan"
            raise argparse.ArgumentTypeError(f"{text} is not between {low:g} and {high:g}")
        return value

    return number


def _host(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no host name: write memory.example.com, without scheme and port")
    return text.lower()


def command_line() -> argparse.ArgumentParser:
    """What the program takes."""
    parser = argparse.ArgumentParser(
        "cogvault-mcp",
        description="Serve a folder of Markdown as memory over the Model Context Protocol.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--tenant", metavar="DIR", help="folder of the vault (COGVAULT_TENANT)")
    add(
        "--http",
        metavar="[HOST:]PORT",
        help="serve streamable HTTP instead of standard input and output; on loopback unless you name a host",
    )
    add(
        "--allow-host",
        action="append",
        default=[],
        type=_host,
        metavar="NAME",
        help="name by which clients of --http reach it, such as a proxy's; repeatable",
    )
    add("--token-file", type=Path, metavar="FILE", help="TOML file of several tenants and their tokens")
    add("--model", metavar="NAME", help="embedding model, as for `cogvault index`")
    add("--half-life", type=_within(0.001, 1e6), metavar="DAYS", help="age at which a score is halved")
    add("--mmr", type=_within(0, 1), metavar="LAMBDA", help="diversity of hits, 0 to 1")
    add("--type", dest="types", action="append", default=[], metavar="T", help="recall cards of this type only")
    add(
        "-k",
        type=_within(1, MAX_K, int),
        default=None,
        metavar="N",
        help="passages at most of a recall that names no number",
    )
    add("--recursive", action=argparse.BooleanOptionalAction, help="walk subfolders")
    add("--strip-frontmatter", action=argparse.BooleanOptionalAction, help="keep frontmatter out of the body text")
    add("--ignore", action="append", default=[], metavar="GLOB", help="gitignore pattern to leave out; repeatable")
    add("--plugin", action="store_true", help="print the folder of the Claude Code plugin, and end")
    add("--debug", action="store_true", help="log to standard error")
    add("--version", action="version", version=f"cogvault-mcp {__version__}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
