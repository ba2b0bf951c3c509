"""The daemon: one process that serves many vaults and has each model in memory once."""
