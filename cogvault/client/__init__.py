"""Client of the daemon (``cogvault daemon``): a vault of another process, with ``Vault``'s interface and types.

Only the standard library is imported, so that asking costs a command or a hook next to nothing.

    >>> from cogvault.client import connect
    >>> vault = connect("~/agent/memory")  # doctest: +SKIP
    >>> if vault is None:  # doctest: +SKIP
    ...     print("no daemon answers: open a Vault instead")
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cogvault.client.endpoint import Endpoint as Endpoint
    from cogvault.client.endpoint import endpoints as endpoints
    from cogvault.client.endpoint import runtime_folder as runtime_folder
    from cogvault.client.parts import RemoteLayers as RemoteLayers
    from cogvault.client.parts import RemoteSession as RemoteSession
    from cogvault.client.remote import RemoteVault as RemoteVault
    from cogvault.client.remote import connect as connect

_HOMES = {
    "Endpoint": "endpoint",
    "RemoteLayers": "parts",
    "RemoteSession": "parts",
    "RemoteVault": "remote",
    "connect": "remote",
    "endpoints": "endpoint",
    "runtime_folder": "endpoint",
}

__all__ = ["Endpoint", "RemoteLayers", "RemoteSession", "RemoteVault", "connect", "endpoints", "runtime_folder"]


def __getattr__(name: str) -> Any:
    """Import public names on first use: a hook needs a fraction of them."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"cogvault.client.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'cogvault.client' has no attribute {name!r}")
