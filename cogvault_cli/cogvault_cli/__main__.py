"""``python -m cogvault_cli``, for where the console script is not on the path."""

from cogvault_cli.entry import main

main()
