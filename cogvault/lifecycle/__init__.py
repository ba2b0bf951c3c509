"""The life of memory: writing, revising, addresses, sessions, forgetting."""
