"""Refuses connections of a program under ``npulint try`` to other machines, and what asks other machines for names."""

import errno
import socket

_SENDING = ("socket.connect", "socket.sendto", "socket.sendmsg", "socket.getnameinfo")  # with an address
_ASKING = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr")  # with a name
_HERE = ("", "localhost", "localhost.localdomain", "ip6-localhost", "::1", "::", "0.0.0.0")
_MAPPED = "::ffff:"  # before an address of the older kind


def check(event, args):
    """Raise `OSError` for an audit event of a socket that reaches another machine."""
    if event in _SENDING:
        address = args[0] if event == "socket.getnameinfo" else args[1]
        if not isinstance(address, tuple) or not address:
            return  # a file of this machine, or a socket that is connected
        host = address[0]
        if isinstance(host, int):
            if getattr(args[0], "family", None) == getattr(socket, "AF_NETLINK", None):
                return  # the kernel
            host = str(host)
    elif event in _ASKING:
        host = args[0]
    else:
        return
    host = bytes(host).decode("ascii", "replace") if isinstance(host, (bytes, bytearray)) else host or ""
    if not _is_here(host.lower()) and host != socket.gethostname():
        raise OSError(errno.ENETUNREACH, "npulint try: the network is off", host)


def _is_here(host):
    """Whether a name or an address is one of this machine."""
    host = host[len(_MAPPED) :] if host.startswith(_MAPPED) else host
    parts = host.split(".")
    return host in _HERE or (parts[0] == "127" and all(part.isdigit() for part in parts))
