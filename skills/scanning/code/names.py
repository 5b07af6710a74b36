"""The tables that the readers of code share: programs, paths and hosts by what they mean."""

import re
from functools import cache, lru_cache

from ..ruleset import COMMANDS, PLACES

DOWNLOADERS = frozenset(COMMANDS["downloaders"])
SENDERS = frozenset(COMMANDS["senders"])
RESOLVERS = frozenset(COMMANDS["resolvers"])
SHELLS = frozenset(COMMANDS["shells"])
INTERPRETERS = frozenset(COMMANDS["interpreters"])
WRAPPERS = frozenset(COMMANDS["wrappers"])
DECODERS = frozenset(COMMANDS["decoders"])
READERS = frozenset(COMMANDS["readers"])
ENVIRONMENT = frozenset(COMMANDS["environment"])
DELETERS = frozenset(COMMANDS["deleters"])
WRITERS = frozenset(COMMANDS["writers"])
INSTALLERS = frozenset(COMMANDS["installers"])
INSTALL_WORDS = frozenset(COMMANDS["install_words"])
RUNS_REMOTE = frozenset(COMMANDS["runs_remote"])
AGENTS = frozenset(COMMANDS["agents"])
UNSAFE_SWITCHES = frozenset(COMMANDS["unsafe_switches"])
INTERESTING = DOWNLOADERS | SENDERS | INTERPRETERS | DECODERS | DELETERS | WRAPPERS | {"git"}

GIT_SETTINGS = re.compile(COMMANDS["git_settings"])
GIT_HARMLESS = re.compile(COMMANDS["git_settings_harmless"])
SECRETS = re.compile("|".join(f"(?:{one})" for one in PLACES["secrets"]), re.IGNORECASE)
OWN_SETTINGS = re.compile(PLACES["own_settings"])
PERSISTENCE = re.compile("|".join(f"(?:{one})" for one in PLACES["persistence"]), re.IGNORECASE)
FOREIGN_KEYS = re.compile(PLACES["keys_of_others"])
AGENT_MEMORY = re.compile(PLACES["agent_memory"])
DROP_SITES = re.compile(PLACES["drop_sites"])
SHORT_LINKS = re.compile(PLACES["short_links"])
LOCAL_HOSTS = re.compile(PLACES["local_hosts"])
NEAR_HOSTS = re.compile(PLACES["near_hosts"])
ADDRESS = re.compile(r"(?i)\b(?:https?|ftp|wss?|git|ssh)://([^\s\"'`<>)\]}|\\]+)")
_INSTALLERS = tuple(PLACES["installers"])


@lru_cache(4096)
def base_name(word: str) -> str:
    """`/usr/bin/Curl.exe` → `curl`."""
    name = word.replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe")
    return re.sub(r"^(python|pypy|ruby|perl|php|lua|node)[\d.]+$", r"\1", name) or word


def host(address: str) -> str:
    """The host of an address without scheme, sign-in and port."""
    found = ADDRESS.search(address)
    rest = found[1] if found else address
    rest = re.split(r"[/?#]", rest, maxsplit=1)[0].rpartition("@")[2]
    return rest.lower() if rest.startswith("[") else rest.partition(":")[0].lower()


def is_local(address: str) -> bool:
    return bool(LOCAL_HOSTS.match(host(address)))


def is_inner(address: str) -> bool:
    """Whether the address is of this machine, of a company's own network, or made up for a page."""
    name = host(address)
    return bool(LOCAL_HOSTS.match(name) or _INNER.search(name))


_INNER = re.compile(r"(\.|^)(example\.(com|org|net)|corp|lan|intranet|home|internal)$")


def is_near(address: str) -> bool:
    """Whether this machine or its network answers; a made-up name may be somebody's after all."""
    return bool(NEAR_HOSTS.match(host(address)))


@cache
def is_known_installer(address: str) -> bool:
    """Whether the address is a publisher's own installer, over https."""
    rest = address.partition("://")[2] if address.startswith("https://") else ""
    if not rest and "://" not in address:
        rest = address
    return any(
        rest.startswith(f"{known}/") or rest == known or rest.partition("/")[0] == known
        for known in _INSTALLERS
    )


_ORIGINS = re.compile(
    r"://([\w.-]+@)?(www\.)?(github\.com|gitlab\.com|codeberg\.org|files\.pythonhosted\.org"
    r"|(test\.)?pypi\.org|download\.pytorch\.org|registry\.npmjs\.org|rubygems\.org"
    r"|pypi\.nvidia\.com)(/|$)"
)


def is_known_origin(address: str) -> bool:
    """Whether packages at the address come from a registry or a public forge."""
    return bool(_ORIGINS.search(address)) or is_known_installer(address)
