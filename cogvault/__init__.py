"""cogvault: a folder of Markdown as searchable memory for agents."""

__version__ = "0.1.0"
