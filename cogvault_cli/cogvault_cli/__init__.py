"""The ``cogvault`` command: a thin adapter over the library's public modules."""
