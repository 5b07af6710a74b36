"""Looks for secrets in what a push would publish: every added line of every new commit.

The detectors are those of detect-secrets, called one by one: its own scan keeps global settings
that threads would share, and asks the issuers of what it finds over the network.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

MAX_LEAKS = 50
MAX_LINE = 2000
_HUNK = re.compile(r"@@ -\S+ \+(\d+)")
_DETECTORS = {
    "aws": "AWSKeyDetector",
    "artifactory": "ArtifactoryDetector",
    "azure_storage_key": "AzureStorageKeyDetector",
    "basic_auth": "BasicAuthDetector",
    "discord": "DiscordBotTokenDetector",
    "github_token": "GitHubTokenDetector",
    "gitlab_token": "GitLabTokenDetector",
    "high_entropy_strings": "Base64HighEntropyString",
    "jwt": "JwtTokenDetector",
    "keyword": "KeywordDetector",
    "mailchimp": "MailchimpDetector",
    "npm": "NpmDetector",
    "openai": "OpenAIDetector",
    "private_key": "PrivateKeyDetector",
    "pypi_token": "PypiTokenDetector",
    "sendgrid": "SendGridDetector",
    "slack": "SlackDetector",
    "square_oauth": "SquareOAuthDetector",
    "stripe": "StripeDetector",
    "telegram_token": "TelegramBotTokenDetector",
    "twilio": "TwilioKeyDetector",
}
# What the detectors of 1.5 do not know yet.
_OWN = {
    "Anthropic key": re.compile(r"sk-ant-[A-Za-z0-9_-]{20,}"),
    "OpenAI key": re.compile(r"sk-(?:proj|svcacct)-[A-Za-z0-9_-]{20,}"),
    "GitHub fine-grained token": re.compile(r"github_pat_[A-Za-z0-9_]{30,}"),
    "Google API key": re.compile(r"AIza[A-Za-z0-9_-]{35}"),
}
_ASSIGNED = re.compile(
    r"\b[A-Z0-9_]*(?:PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY)[A-Z0-9_]*"
    r"\s*[=:]\s*[\"']?([^\s\"'#$(<{]{8,})"
)
_GUESSING = {"KeywordDetector", "Base64HighEntropyString"}
_LOCK_FILES = re.compile(r"(^|/)(package-lock\.json|[\w.-]*\.lock|go\.sum|.*\.min\.js|.*\.svg)$")


@dataclass(frozen=True, slots=True)
class Leak:
    """Something that looks like a secret; the text itself is not kept, only its beginning."""

    kind: str
    path: str
    line: int
    commit: str
    hint: str


def in_patches(text: str) -> list[Leak]:
    """What looks like a secret in the added lines of `git log -p` output, each secret once."""
    found: dict[tuple[str, str], Leak] = {}
    for commit, path, number, line in _added_lines(text):
        for kind, secret in in_line(line, path=path):
            leak = Leak(kind, path, number, commit, f"{secret[:4]}…")
            found.setdefault((path, secret), leak)
        if len(found) >= MAX_LEAKS:
            break
    return list(found.values())


def in_line(line: str, *, path: str = "") -> Iterator[tuple[str, str]]:
    """(kind, secret) of what looks like a secret in one line of a file."""
    line = line[:MAX_LINE]
    if "pragma: allowlist secret" in line:
        return
    for kind, pattern in _OWN.items():
        for match in pattern.finditer(line):
            yield kind, match[0]
    if not _LOCK_FILES.search(path):
        for match in _ASSIGNED.finditer(line):
            if not _is_stand_in(match[1], line):
                yield "Secret in an assignment", match[1]
    for detector in _detectors():
        for secret in detector.analyze_string(line):
            if _is_likely(detector, secret, line, path):
                yield detector.secret_type, secret


def _is_likely(detector: Any, secret: str, line: str, path: str) -> bool:
    from detect_secrets.filters import heuristic

    name = type(detector).__name__
    if name not in _GUESSING:
        return True
    if _LOCK_FILES.search(path) or heuristic.is_potential_uuid(secret):
        return False
    if name == "Base64HighEntropyString":
        return len(secret) >= 20 and detector.calculate_shannon_entropy(secret) > 4.5
    return len(secret) >= 8 and not _is_stand_in(secret, line)


def _is_stand_in(secret: str, line: str) -> bool:
    """`changeme`, `your-password-here`, `${X}`: what people write where a secret would stand."""
    from detect_secrets.filters import heuristic

    if (
        heuristic.is_sequential_string(secret)
        or heuristic.is_templated_secret(secret)
        or heuristic.is_prefixed_with_dollar_sign(secret)
        or heuristic.is_indirect_reference(line)
        or heuristic.is_not_alphanumeric_string(secret)
    ):
        return True
    if re.search(r"(?i)example|placeholder|change.?me|your|dummy|redacted|xxx|\*\*\*|<.*>", secret):
        return True
    return secret.isalpha() and (secret.islower() or secret.isupper())


def _added_lines(text: str) -> Iterator[tuple[str, str, int, str]]:
    """(commit, path, line number, line) of each added line."""
    commit = path = ""
    number, in_hunk = 0, False
    for line in text.split("\n"):
        if line.startswith("commit "):
            commit, in_hunk = line[7:47], False
        elif line.startswith("diff --git "):
            in_hunk = False
        elif not in_hunk and line.startswith("+++ "):
            path = line[4:].removeprefix("b/").strip('"')
        elif hunk := _HUNK.match(line):
            number, in_hunk = int(hunk[1]), True
        elif in_hunk and line.startswith("+"):
            yield commit, path, number, line[1:]
            number += 1


@cache
def _detectors() -> tuple[Any, ...]:
    modules = {name: import_module(f"detect_secrets.plugins.{name}") for name in _DETECTORS}
    return tuple(getattr(modules[name], kind)() for name, kind in _DETECTORS.items())
