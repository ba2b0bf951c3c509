"""Options that all commands share, and what they select."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from cogvault_cli.command import OWN, option
from cogvault_cli.failures import UsageFault

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from cogvault import Config, Vault
    from cogvault.client import RemoteVault

RECALL = "Searching (every command takes these)"
INDEXING = "Indexing"
OUTPUT = "Vault and output"

# Option to field of Config.
_SETTINGS = {
    "half_life": "half_life_days",
    "ignore": "ignore",
    "mmr": "mmr_lambda",
    "model": "model",
    "recursive": "recursive",
    "rerank": "rerank_model",
    "strip_frontmatter": "strip_frontmatter",
}
_SHARED = (*_SETTINGS, "types", "k", "tenant", "as_json", "debug", "daemon")


class Folder(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.5 only
    """A folder by its name; it need not exist. An empty name would be the current folder and is refused."""

    name = "folder"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Text to a path."""
        if not str(value).strip():
            self.fail("the name of the folder is empty", param, ctx)
        try:
            return Path(value).expanduser()
        except RuntimeError:
            self.fail(f"nobody has such a home folder: {value}", param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Let the shell complete names of folders."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="dir")]


@dataclass(frozen=True, slots=True)
class Shared:
    """What the shared options of one command line say.

    Attributes:
        tenant: folder of the vault, None = neither given nor in the environment.
        settings: fields of ``Config`` that were given.
        types: card types to keep, () = all.
        k: hits at most, None = the library's default.
        as_json: print one JSON document.
        debug: show tracebacks and log to standard error.
        daemon: ask the daemon when one runs.
    """

    tenant: Path | None
    settings: Mapping[str, Any]
    types: tuple[str, ...]
    k: int | None
    as_json: bool
    debug: bool
    daemon: bool

    def at(self, folder: Path) -> Shared:
        """The same for another vault.

        Raises:
            UsageFault: ``--tenant`` names a different one.
        """
        if "tenant" in self.settings and self.tenant != folder:
            raise UsageFault("two vaults were named", f"leave out either `{folder}` or `--tenant {self.tenant}`")
        return replace(self, tenant=folder, settings={**self.settings, "tenant": str(folder)})

    def folder(self) -> Path:
        """The vault's folder as it was named.

        Raises:
            UsageFault: none was named.
        """
        if self.tenant is None:
            raise UsageFault("no vault was named", "say `--tenant DIR`, or set COGVAULT_TENANT to the vault's folder")
        return self.tenant

    def config(self) -> Config:
        """The settings that were given, and no others: the rest comes from environment, file and defaults."""
        from cogvault import Config

        return Config(**self.settings)

    def open(self) -> AbstractContextManager[Vault | RemoteVault]:
        """The vault as the daemon serves it, when one runs, else opened here; for a ``with`` statement."""
        folder = self.folder()
        if self.daemon:
            from cogvault.client import connect
            from cogvault.errors import DaemonError

            try:
                if (remote := connect(folder, self.settings)) is not None:
                    return remote
            except DaemonError as error:
                click.echo(f"working without the daemon: {error}", err=True)
        return self.open_here()

    @contextmanager
    def open_here(self) -> Iterator[Vault]:
        """Open the vault in this process. A repair that is not done at the end goes on in a process of its own."""
        folder = self.folder()
        from cogvault import Vault

        with Vault(folder, self.config()) as vault:
            yield vault
            is_unfinished = vault.is_repairing
        if is_unfinished:
            from cogvault_cli.alone import index_alone

            number = index_alone(folder, self.settings)
            click.echo(f"the damaged index is made anew by process {number}, which goes on alone", err=True)


def shared_options(*, recall: str = RECALL) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the shared options; its function gets them as one ``Shared``, its first argument.

    Args:
        recall: heading for the options of searches; ``OWN`` where they are the command's own business.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        @click.pass_context
        def command(context: click.Context, /, **given: Any) -> Any:
            values = {name: given.pop(name) for name in _SHARED}
            settings = {field: values.pop(name) for name, field in _SETTINGS.items()}
            if context.get_parameter_source("tenant") is ParameterSource.COMMANDLINE:
                settings["tenant"] = str(values["tenant"])
            chosen = {field: value for field, value in settings.items() if value not in (None, ())}
            _set_up_logging(values["debug"])
            return function(Shared(settings=chosen, **values), **given)

        first, last = (_recall_options(recall), []) if recall == OWN else ([], _recall_options(recall))
        for add in reversed([*first, *_vault_options(), *last]):
            command = add(command)
        return command

    return decorate


def _vault_options() -> list[Callable[..., Any]]:
    return [
        option("--tenant", type=Folder(), metavar="DIR", envvar="COGVAULT_TENANT", show_envvar=True, section=OUTPUT,
               help="Folder of the vault."),
        option("--json", "as_json", is_flag=True, section=OUTPUT, help="Print one JSON document, also for an error."),
        option("--debug", is_flag=True, section=OUTPUT, help="Log to standard error and show tracebacks."),
        option("--daemon/--no-daemon", default=True, envvar="COGVAULT_DAEMON", show_envvar=True, section=OUTPUT,
               help="Let the daemon do it when one runs."),
        option("--model", metavar="NAME", section=INDEXING,
               help="auto, none, bundled, a FastEmbed name, a model's folder, or openai:MODEL@URL."),
        option("--recursive/--no-recursive", default=None, section=INDEXING, help="Walk subfolders."),
        option("--strip-frontmatter/--no-strip-frontmatter", default=None, section=INDEXING,
               help="Keep the frontmatter block out of the body text."),
        option("--ignore", multiple=True, metavar="GLOB", section=INDEXING,
               help="Leave out files that match a gitignore pattern; repeatable."),
    ]  # fmt: skip


def _recall_options(section: str) -> list[Callable[..., Any]]:
    return [
        option("-k", "k", type=click.IntRange(1), metavar="N", section=section,
               help="Hits at most; 5, or with --budget as many as fit."),
        option("--type", "types", multiple=True, metavar="T", section=section,
               help="Only cards of this type; repeat it for any of several."),
        option("--half-life", type=click.FloatRange(0, min_open=True), metavar="DAYS", section=section,
               help="Age at which a score is halved; without it age does not matter."),
        option("--mmr", type=click.FloatRange(0, 1), metavar="LAMBDA", section=section,
               help="Diversity of hits: 1 = relevance only, 0 = difference only."),
        option("--rerank", metavar="MODEL", section=section,
               help="Let a cross-encoder order the top 10: a FastEmbed name or a model's folder."),
    ]  # fmt: skip


def _set_up_logging(debug: bool) -> None:
    import logging

    if debug:
        logging.basicConfig(level=logging.DEBUG, format="%(levelname)s %(name)s: %(message)s")
    else:
        # What matters is in an answer's status. Without a handler, warnings would stand between the lines of it.
        logging.getLogger("cogvault").addHandler(logging.NullHandler())
        # A machine's damaged cache belongs to no answer, and making it anew takes seconds: that goes to stderr.
        if logging.lastResort is not None:
            logging.getLogger("cogvault.embedders").addHandler(logging.lastResort)
