"""Client of the daemon (``cogvault daemon``): a vault of another process, with ``Vault``'s interface and types.

Only the standard library is imported, so that asking costs a command or a hook next to nothing.

    >>> from cogvault.client import connect
    >>> vault = connect("~/agent/memory")  # doctest: +SKIP
    >>> if vault is None:  # doctest: +SKIP
    ...     print("no daemon answers: open a Vault instead")
"""

from cogvault.client.endpoint import Endpoint, endpoints, runtime_folder
from cogvault.client.parts import RemoteLayers, RemoteSession
from cogvault.client.remote import RemoteVault, connect

__all__ = ["Endpoint", "RemoteLayers", "RemoteSession", "RemoteVault", "connect", "endpoints", "runtime_folder"]
