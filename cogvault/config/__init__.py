"""Configuration: what can be set, where a value came from, and where derived files live.

A value comes from the first of: an explicit argument, ``COGVAULT_<FIELD>`` in the environment,
``<vault>/.cogvault.toml``, the default.
"""

from cogvault.config.cpus import available_cpus
from cogvault.config.folders import cache_folder, index_folder, make_private, state_folder, vault_folder
from cogvault.config.model import MACHINE_FIELDS, Config
from cogvault.config.sources import CONFIG_FILE, ENVIRONMENT_PREFIX, ResolvedConfig, resolve

__all__ = [
    "CONFIG_FILE",
    "ENVIRONMENT_PREFIX",
    "MACHINE_FIELDS",
    "Config",
    "ResolvedConfig",
    "available_cpus",
    "cache_folder",
    "index_folder",
    "make_private",
    "resolve",
    "state_folder",
    "vault_folder",
]
