"""What curl, wget and their like are told: which addresses, and whether they send or only fetch."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from guardrails.actions import Words
from guardrails.programs import names

HTTPIE = names("http https xh xhs curlie httpie")
PROGRAMS = HTTPIE | {"curl", "wget"}

_READING = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND"})
_METHODS = _READING | names("POST PUT PATCH DELETE MERGE MKCOL MOVE COPY LINK UNLINK PURGE")


@dataclass(slots=True)
class Call:
    """`addresses` None when there may be others than one sees; `said` is what is sent, where seen.

    `is_opaque`: the rest of the command stands in a file that nobody has read.
    """

    addresses: list[str] | None = field(default_factory=list)
    method: str = ""
    sends: bool = False
    said: str = ""
    is_opaque: bool = False

    @property
    def writes(self) -> bool:
        return self.method not in _READING if self.method else self.sends

    @property
    def hosts(self) -> tuple[str, ...] | None:
        """The hosts that are spelled out; None when there may be others."""
        found = [host_of(address) for address in self.addresses or ()]
        return tuple(host for host in found if host) if found and all(found) else None

    def reach(self, address: str | None) -> None:
        if address is None:
            self.addresses = None
        elif self.addresses is not None:
            self.addresses.append(address)

    def use(self, method: str | None) -> None:
        self.method = (method or "?").upper()

    def send(self, text: str | None) -> None:
        self.sends, self.said = True, f"{self.said} {text or '@'}"


Act = Callable[[Call, str | None], None]


def _read_file(call: Call, _value: str | None) -> None:
    call.is_opaque = True


def _do_nothing(_call: Call, _value: str | None) -> None:
    """An option that changes neither the address nor the direction."""


def _only_get(call: Call, _value: str | None) -> None:
    call.use("GET")


def _only_head(call: Call, _value: str | None) -> None:
    call.use("HEAD")


def _read_addresses(call: Call, _value: str | None) -> None:
    call.addresses = None


@dataclass(frozen=True, slots=True)
class _Options:
    """`valued` take a value, `plain` none; a long one in neither makes the addresses unknown."""

    acts: dict[str, Act]
    valued: frozenset[str]
    plain: frozenset[str]


_CURL = _Options(
    acts={
        **dict.fromkeys(("-X", "--request"), Call.use),
        **dict.fromkeys(("-d", "-F", "-T"), Call.send),
        **dict.fromkeys(
            ("--data", "--data-raw", "--data-binary", "--data-urlencode", "--data-ascii"), Call.send
        ),
        **dict.fromkeys(("--json", "--form", "--form-string", "--upload-file"), Call.send),
        **dict.fromkeys(("-K", "--config", "--variable", "--expand-url"), _read_file),
        **dict.fromkeys(("-G", "--get"), _only_get),
        **dict.fromkeys(("-I", "--head"), _only_head),
        "--url": Call.reach,
    },
    valued=names(
        "-X -d -F -T -K -A -b -c -C -D -e -E -H -m -o -P -Q -r -t -u -U -w -x -Y -y -z"
        " --request --data --data-raw --data-binary --data-urlencode --data-ascii --json --form"
        " --form-string --upload-file --config --variable --expand-url --url --header --output"
        " --user-agent --user --max-time --connect-timeout --retry --retry-delay --write-out"
        " --cookie --cookie-jar --referer --cacert --cert --key --max-redirs --range --output-dir"
        " --dump-header --limit-rate --max-filesize --proto --tls-max --ciphers --oauth2-bearer"
    ),
    plain=names(
        "--get --head --silent --fail --location --show-error --verbose --insecure --compressed"
        " --fail-with-body --remote-name --remote-header-name --include --http1.1 --http2 --ipv4"
        " --ipv6 --create-dirs --no-buffer --progress-bar --retry-connrefused --retry-all-errors"
        " --no-progress-meter --globoff --netrc --tlsv1.2 --tlsv1.3"
    ),
)
_WGET = _Options(
    acts={
        "--method": Call.use,
        **dict.fromkeys(("--post-data", "--post-file", "--body-data", "--body-file"), Call.send),
        **dict.fromkeys(("-e", "--execute", "--config"), _read_file),
        **dict.fromkeys(("-i", "--input-file"), _read_addresses),
    },
    valued=names(
        "-e -i -O -o -a -U -P -t -T -w -Q -B -D -R -A -I -X -l -Y --method --post-data --post-file"
        " --body-data --body-file --execute --config --input-file --output-document --output-file"
        " --append-output --user-agent --directory-prefix --tries --timeout --header --user"
        " --password --referer --wait --limit-rate --level"
    ),
    plain=names(
        "--quiet --no-verbose --continue --no-check-certificate --verbose --no-clobber"
        " --timestamping --spider --show-progress --no-cache --content-disposition --recursive"
        " --no-parent --mirror --server-response"
    ),
)


def read(name: str, arguments: Words) -> Call:
    """What the command of that program asks of whom."""
    call = Call()
    if name in HTTPIE:
        _read_httpie(call, arguments)
    else:
        _read_options(call, arguments, _CURL if name == "curl" else _WGET)
    return call


def host_of(address: str) -> str | None:
    """The host of an address that is written plainly."""
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        host = parts.hostname
    except ValueError:
        return None
    is_plain = host is not None and re.fullmatch(r"[a-z0-9.:-]+", host)
    return host if is_plain and parts.username is None and "\\" not in address else None


def _read_options(call: Call, arguments: Words, options: _Options) -> None:
    words = iter(arguments)
    for word in words:
        if word is None or not word.startswith("-") or word == "-":
            call.reach(word)
        elif word.startswith("--"):
            _read_long(call, word, words, options)
        else:
            _read_bundle(call, word, words, options)


def _read_long(call: Call, word: str, words: Iterator[str | None], options: _Options) -> None:
    name, is_glued, value = word.partition("=")
    act = options.acts.get(name, _do_nothing)
    if is_glued:
        act(call, value)
    elif name in options.valued:
        act(call, next(words, None))
    else:
        act(call, None)
        if name not in options.plain:
            call.addresses = None  # the next word may be its value, or an address


def _read_bundle(call: Call, word: str, words: Iterator[str | None], options: _Options) -> None:
    """`-sXPUT`: flags, and at the end one with its value, glued or in the next word."""
    for at, letter in enumerate(word[1:], 1):
        option = f"-{letter}"
        act = options.acts.get(option, _do_nothing)
        if option in options.valued:
            act(call, word[at + 1 :].removeprefix("=") or next(words, None))
            return
        act(call, None)


def _read_httpie(call: Call, arguments: Words) -> None:
    words = [word for word in arguments if word is None or not word.startswith("-")]
    if words and words[0] is not None and words[0].upper() in _METHODS:
        call.use(words.pop(0))
    call.reach(words[0] if words else None)
    for item in words[1:]:
        if item is None or re.search(r"(?<!=)=(?!=)|:=|@", item):
            call.send(item)
    if any(word is not None and word.startswith(("--raw", "-d")) for word in arguments):
        call.send(None)
