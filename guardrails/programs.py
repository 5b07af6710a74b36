"""What a program's name says about the classes of a command. By spelling, so it can be evaded:
the sandbox and the push gateway are the fences, this is what makes the question a good one.
"""

from collections.abc import Callable

from guardrails.actions import Words
from guardrails.classes import ActionClass


def names(text: str) -> frozenset[str]:
    """The words of a text, as the tables of this room are written."""
    return frozenset(text.split())


DELETERS = frozenset({"rm", "rmdir", "unlink", "shred", "srm", "trash", "trash-put", "rimraf"})

NETWORKERS = names(
    "curl wget http https xh aria2c ftp sftp scp rsync ssh nc ncat netcat socat telnet ping dig"
    " nslookup host traceroute lynx w3m links rclone mosh whois nmap websocat grpcurl httpie"
    " gh glab hub tea jira acli linear xhs curlie openssl"
)

READERS_OF_SECRETS = names("printenv pass op vault bw gopass secret-tool keyring ssh-add security")

WRITERS = names("tee cp mv ln mkdir touch install dd chmod chown chgrp truncate rsync sed patch")

_ANY = frozenset({"*"})

# The first words after the program that install something; "" is the bare command.
INSTALLERS: dict[str, frozenset[str]] = {
    "pip": frozenset({"install", "download", "wheel"}),
    "uv": frozenset({"add", "sync", "pip", "tool", "python"}),
    "pipx": frozenset({"install", "run", "upgrade", "inject"}),
    "poetry": frozenset({"add", "install", "update"}),
    "pdm": frozenset({"add", "install", "sync", "update"}),
    "pipenv": frozenset({"install", "sync", "update"}),
    "conda": frozenset({"install", "create", "update"}),
    "mamba": frozenset({"install", "create", "update"}),
    "npm": frozenset({"install", "i", "add", "ci", "update", "up", "exec", "create", "init"}),
    "pnpm": frozenset({"install", "i", "add", "update", "up", "dlx", "create", ""}),
    "yarn": frozenset({"install", "add", "upgrade", "up", "dlx", "create", ""}),
    "bun": frozenset({"install", "i", "add", "update", "x", "create"}),
    "deno": frozenset({"install", "add"}),
    "npx": _ANY,
    "bunx": _ANY,
    "uvx": _ANY,
    "cargo": frozenset({"install", "add", "update", "fetch"}),
    "go": frozenset({"install", "get"}),
    "gem": frozenset({"install", "update"}),
    "bundle": frozenset({"install", "add", "update"}),
    "composer": frozenset({"install", "require", "update"}),
    "apt": frozenset({"install", "upgrade", "full-upgrade", "update"}),
    "apt-get": frozenset({"install", "upgrade", "dist-upgrade", "update"}),
    "aptitude": frozenset({"install", "upgrade", "update"}),
    "dpkg": frozenset({"-i", "--install"}),
    "yum": frozenset({"install", "update"}),
    "dnf": frozenset({"install", "update", "upgrade"}),
    "rpm": frozenset({"-i", "-U", "-ivh", "-Uvh"}),
    "apk": frozenset({"add", "update", "upgrade"}),
    "pacman": frozenset({"-S", "-Sy", "-Syu", "-U"}),
    "zypper": frozenset({"install", "in", "update"}),
    "brew": frozenset({"install", "upgrade", "update", "reinstall"}),
    "snap": frozenset({"install", "refresh"}),
    "flatpak": frozenset({"install", "update"}),
    "nix-env": frozenset({"-i", "-iA"}),
    "rustup": frozenset({"install", "update", "toolchain"}),
    "asdf": frozenset({"install"}),
    "mise": frozenset({"install", "use"}),
    "corepack": _ANY,
}

# What puts a package or an image where others get it.
PUBLISHERS: dict[str, frozenset[str]] = {
    "npm": frozenset({"publish", "unpublish", "deprecate", "dist-tag"}),
    "pnpm": frozenset({"publish"}),
    "yarn": frozenset({"publish", "npm"}),
    "bun": frozenset({"publish"}),
    "twine": frozenset({"upload"}),
    "poetry": frozenset({"publish"}),
    "uv": frozenset({"publish"}),
    "flit": frozenset({"publish"}),
    "hatch": frozenset({"publish"}),
    "pdm": frozenset({"publish"}),
    "cargo": frozenset({"publish", "yank"}),
    "gem": frozenset({"push", "yank"}),
    "docker": frozenset({"push"}),
    "podman": frozenset({"push"}),
    "skopeo": frozenset({"copy"}),
    "helm": frozenset({"push"}),
    "mvn": frozenset({"deploy"}),
    "vsce": frozenset({"publish"}),
    "ovsx": frozenset({"publish"}),
}

# What sends commits elsewhere by its own way.
PUSHERS: dict[str, frozenset[str]] = {
    "hg": frozenset({"push"}),
    "sl": frozenset({"push", "pr"}),
    "bzr": frozenset({"push", "send"}),
    "brz": frozenset({"push", "send"}),
    "darcs": frozenset({"push", "send"}),
    "fossil": frozenset({"push", "sync"}),
    "svn": frozenset({"commit", "ci", "import"}),
    "p4": frozenset({"submit"}),
    "got": frozenset({"send"}),
    "dulwich": frozenset({"push"}),
    "repo": frozenset({"upload"}),
    "arc": frozenset({"diff", "land"}),
    "gt": frozenset({"submit"}),
    "spr": frozenset({"update", "diff", "land"}),
}

PULLERS: dict[str, frozenset[str]] = {
    "docker": frozenset({"pull", "push", "build", "login", "run"}),
    "podman": frozenset({"pull", "push", "build", "login", "run"}),
    "aws": _ANY,
    "gcloud": _ANY,
    "az": _ANY,
    "kubectl": _ANY,
}

_LEAVING = {ActionClass.PACKAGE_INSTALL, ActionClass.PR_PUBLISH, ActionClass.GIT_PUSH}

SECRET_FILES = (
    ".env", ".netrc", ".pgpass", ".npmrc", ".pypirc", ".git-credentials", ".aws/credentials",
    ".docker/config.json", ".kube/config", ".ssh/", "id_rsa", "id_ed25519", "id_ecdsa",
    ".gnupg/", ".config/gh/hosts.yml", ".config/glab-cli/config.yml", ".config/hub",
    "credentials.json", "/etc/shadow", "/proc/self/environ",
)  # fmt: skip


def classes_of(name: str, arguments: Words) -> set[ActionClass]:
    """The classes that a program's name and first word say, beside running a process."""
    verb = first_word(arguments)
    found = {
        action_class
        for action_class, says in _SAYINGS
        if says(name, verb)
    }  # fmt: skip
    if name == "jj" and tuple(arguments[:2]) == ("git", "push"):
        found.add(ActionClass.GIT_PUSH)
    if name == "export" and tuple(arguments) == ("-p",):
        found.add(ActionClass.SECRET_ACCESS)
    if found & _LEAVING:
        found.add(ActionClass.NETWORK_EGRESS)
    if any(_names_secret(word) for word in arguments if word):
        found.add(ActionClass.SECRET_ACCESS)
    return found


def first_word(arguments: Words) -> str:
    """The first argument that is no option; else the first option; else nothing."""
    plain = [word for word in arguments if word is not None and not word.startswith("-")]
    options = [word for word in arguments if word is not None]
    return (plain or options or [""])[0]


def is_python(name: str) -> bool:
    """`python`, `python3`, `python3.12`, `pypy3`."""
    return name.rstrip("0123456789.") in ("python", "pypy")


def canonical(name: str) -> str:
    """`pip3.12` → `pip`: versions are part of some programs' names."""
    return "pip" if name.rstrip("0123456789.") == "pip" else name


def _says(table: dict[str, frozenset[str]]) -> Callable[[str, str], bool]:
    return lambda name, verb: bool(table.get(name, frozenset()) & {verb, "*"})


_SAYINGS: tuple[tuple[ActionClass, Callable[[str, str], bool]], ...] = (
    (ActionClass.FILE_DELETE, lambda name, _: name in DELETERS),
    (ActionClass.NETWORK_EGRESS, lambda name, _: name in NETWORKERS),
    (ActionClass.NETWORK_EGRESS, _says(PULLERS)),
    (ActionClass.SECRET_ACCESS, lambda name, _: name in READERS_OF_SECRETS),
    (ActionClass.PACKAGE_INSTALL, _says(INSTALLERS)),
    (ActionClass.PR_PUBLISH, _says(PUBLISHERS)),
    (ActionClass.GIT_PUSH, _says(PUSHERS)),
)


def _names_secret(word: str) -> bool:
    path = word.rsplit("=", 1)[-1]
    last = path.rsplit("/", 1)[-1]
    return any(
        last == name or path.endswith("/" + name) or ("/" in name and name in path)
        for name in SECRET_FILES
    )
