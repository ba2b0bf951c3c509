"""Small signs: bars, sizes, states, and the line they stand in."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from cogvault.types import Status
from cogvault_cli.output import printable

DIM = "bright_black"
BLOCKS = " ▏▎▍▌▋▊▉█"
CONFIDENCE_STYLES = {"high": "green", "medium": "yellow", "low": "blue", "weak": DIM}
STATUS_STYLES = {
    Status.OK: "green",
    Status.EMPTY: "yellow",
    Status.STALE: "yellow",
    Status.DEGRADED: "yellow",
    Status.FAILED: "bold red",
}


def bar(share: float, width: int, *, ascii_only: bool = False) -> str:
    """A horizontal bar of ``width`` cells, filled to ``share`` (0 to 1, cut to that range).

    >>> bar(0.5, 5)
    '██▌  '
    """
    share = min(max(share, 0.0), 1.0)
    if ascii_only:
        return ("#" * round(share * width)).ljust(width)
    eighths = round(share * width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (BLOCKS[rest] if rest else "")).ljust(width)


def size(count: int) -> str:
    """Bytes for people.

    >>> size(1_536_000)
    '1.5 MB'
    """
    value = float(count)
    for unit in ("bytes", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            break
        value /= 1000
    return f"{value:.0f} {unit}" if unit == "bytes" or value >= 100 else f"{value:.1f} {unit}"


def state(status: Status, reason: str, hint: str) -> Text:
    """A status with its reason and hint, in one line."""
    return Text.assemble(
        (status.value, STATUS_STYLES[status]),
        printable(f": {reason}" if reason else ""),
        (printable(f" ({hint})" if hint else ""), DIM),
    )


def column(texts: Sequence[str]) -> list[str]:
    """Texts as wide as the widest, on a terminal, where a letter of Chinese takes two cells.

    >>> column(["plan.md", "计划.md"])
    ['plan.md', '计划.md']
    """
    shown = [printable(text) for text in texts]
    width = max(map(cell_len, shown), default=0)
    return [text + " " * (width - cell_len(text)) for text in shown]


def put(console: Console, *pieces: str | Text | tuple[str, str]) -> None:
    """Print one line made of plain and of styled pieces; the terminal wraps it, nothing is cut."""
    console.print(Text.assemble(*pieces), soft_wrap=True)
