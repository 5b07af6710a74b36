"""Which network addresses belong to the public internet."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

# Addresses that stand for an IPv4 address inside an IPv6 one: translators (NAT64) and old tunnels.
_TRANSLATED = (ip_network("64:ff9b::/96"), ip_network("64:ff9b:1::/48"), ip_network("::/96"))


def is_public(text: str) -> bool:
    """Whether the literal address is public, looking through every form that hides another one.

    Loopback, private, shared, link-local (with the cloud's metadata addresses), multicast,
    reserved and unspecified addresses are not, nor is text that is no address at all.
    """
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv6Address):
        return _is_public_6(address)
    return _is_public_4(address)


def _is_public_4(address: IPv4Address) -> bool:
    return address.is_global and not (address.is_multicast or address.is_reserved)


def _is_public_6(address: IPv6Address) -> bool:
    if address.scope_id:
        return False
    hidden = _hidden_in(address)
    if hidden is not None:
        return _is_public_4(hidden)
    odd = address.is_multicast or address.is_reserved or address.is_site_local
    return address.is_global and not odd


def _hidden_in(address: IPv6Address) -> IPv4Address | None:
    if address.ipv4_mapped:
        return address.ipv4_mapped
    if address.sixtofour:
        return address.sixtofour
    if address.teredo:
        return address.teredo[1]
    if any(address in network for network in _TRANSLATED):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return None
