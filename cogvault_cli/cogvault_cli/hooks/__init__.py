"""What ``cogvault hook`` does: memory for a coding agent that does not ask for it.

Only the standard library and ``cogvault.client`` are imported before a daemon has answered: a hook stands between a
person and their agent.
"""
