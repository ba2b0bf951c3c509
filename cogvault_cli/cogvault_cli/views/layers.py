"""Layers of a card or a folder for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.markdown import Markdown

from cogvault_cli.output import printable
from cogvault_cli.views.marks import DIM, put

if TYPE_CHECKING:
    from cogvault.types import CardLayers


def print_layers(console: Console, name: str, layers: CardLayers) -> None:
    """The abstract as it is, the overview as rendered Markdown."""
    put(console, (printable(name), "cyan"))
    for title, text in (("abstract", layers.abstract), ("overview", layers.overview)):
        put(console, (f"\n{title}", "bold"), ("" if text else "  nothing to tell", DIM))
        if text:
            console.print(Markdown(printable(text)))
