"""A click command that lists its options under headings and ends its help with examples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

OWN = "Options"


class SectionOption(click.Option):
    """An option that is listed under a heading of its own.

    Args:
        section: the heading.
    """

    def __init__(self, *args: Any, section: str = OWN, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.section = section

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Without click's ``0<=x<=1``: the help says it in words."""
        extra = super().get_help_extra(ctx)
        extra.pop("range", None)
        return extra


def option(*names: str, **settings: Any) -> Callable[..., Any]:
    """``click.option`` with a ``section``."""
    return click.option(*names, cls=SectionOption, **settings)


class ExampleCommand(click.Command):
    """A command whose help shows how it is used.

    Args:
        examples: command lines.
    """

    def __init__(self, *args: Any, examples: tuple[str, ...], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.examples = examples

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Options by heading, in the order in which the headings first appear."""
        sections: dict[str, list[tuple[str, str]]] = {OWN: []}
        for param in self.get_params(ctx):
            if isinstance(param, click.Option) and (record := param.get_help_record(ctx)):
                sections.setdefault(getattr(param, "section", OWN), []).append(record)
        width = min(max(len(names) for records in sections.values() for names, _ in records), 28)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl([(names.ljust(width), text) for names, text in records], col_max=width)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The examples, unwrapped so that they can be copied."""
        with formatter.section("Examples"):
            for example in self.examples:
                formatter.write(f"{'':{formatter.current_indent}}{example}\n")
