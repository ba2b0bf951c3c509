"""Entry point of the console script, and the list of commands.

Kept small on purpose: ``cogvault --help`` imports this module, ``app`` and click, nothing else.
"""

from __future__ import annotations

import click

from cogvault_cli.app import CONTEXT, Application

# A new command is a module in ``commands`` and a line here.
COMMANDS = {
    "index": "Make the index equal to the files.",
    "watch": "Keep the index equal to the files while they change.",
    "search": "Find the cards that answer a question.",
    "show": "Print a card, or some of its lines.",
    "record": "Write a card, and say what is like it.",
    "update": "Change a card's text or its frontmatter, and nothing that is not named.",
    "layers": "Print the abstract and overview of a card or a folder.",
    "session": "Keep dialogues, turn by turn.",
    "ls": "List the cards of a folder or address.",
    "move": "Give a card another name or folder, its links with it.",
    "supersede": "Say that one card takes the place of another.",
    "history": "Tell all versions of the fact that a card tells.",
    "forget": "Move a card to the archive, or delete it.",
    "restore": "Bring a card back from the archive.",
    "status": "Say what the index holds and what is wrong.",
    "config": "Show every setting and where its value comes from.",
    "daemon": "Serve vaults to commands, hooks and MCP servers from one process.",
    "hook": "Answer an event of Claude Code.",
    "mcp": "Serve a vault to any MCP client: `cogvault-mcp` with the same options.",
    "demo": "Try cogvault on a small example vault.",
}


def _print_version(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from cogvault import __version__

        click.echo(f"cogvault {__version__}")
        context.exit()


@click.group(cls=Application, commands_help=COMMANDS, context_settings=CONTEXT)
@click.option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_print_version, help="Print it.")
def cli() -> None:
    """A folder of Markdown as searchable memory for agents.

    Every command takes `--tenant DIR`, the folder of the vault, or reads COGVAULT_TENANT.
    `cogvault COMMAND --help` shows its options and an example.

    \b
    First steps:
      cogvault demo
      cogvault index ~/notes
      cogvault search "how do we deploy" --tenant ~/notes
    """


def main() -> None:
    """Run the command line of this process. Never returns: ends it with an exit code."""
    cli.main()
