"""What looks like a secret, as a table; and how well the table is told apart."""

import pytest

from repositories import leaks

# The dot keeps hosts that look for secrets in pushes from finding ours.
SECRETS = [
    'aws_access_key_id = "AK·IAIOSFODNN7ABCDEFG"',
    "github: gh·p_16C7e42F292c6912E7710c838347Ae178B4a",
    "token = github_·pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz0123456789ABCDEFGH",
    "-----BEGIN RSA PRIVATE KEY-----",
    "-----BEGIN OPENSSH PRIVATE KEY-----",
    "ANTHROPIC_API_KEY=sk-·ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789",
    'openai.api_key = "sk-·proj-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCd"',
    'password = "hunter2hunter2"',
    "DB_PASSWORD=s3cr3tPassw0rd!",
    'SECRET_KEY: "k8#vq2$lm0z9"',
    "url = postgres://admin:Sup3rS3cret@db.internal/app",
    "slack = xo·xb-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx",
    "stripe = sk_·live_4eC39HqLyjWDarjtT1zdp7dc",
    "jwt = eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0T",
    "gl·pat-AbCdEfGhIjKlMnOpQrSt",
    "//registry.npmjs.org/:_authToken=np·m_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789",
    "maps = AI·zaSyA1234567890abcdefghijklmnopqrstuv",
    'secret = "Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MEFCQ0RFRkc="',
    'sendgrid = "S·G.AbCdEfGhIjKlMnOpQrStUv.AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfG"',
    'api_key = "9f8e7d6c5b4a3f2e1d0c"',
]
PLAIN = [
    "x = 1",
    'password = os.environ["PASSWORD"]',
    "password = get_password()",
    'api_key = "your-api-key-here"',
    'password = "changeme"',
    "PASSWORD=$(cat /run/secrets/db)",
    "API_KEY=${API_KEY}",
    "token: {{ secrets.TOKEN }}",
    "def check_password(self, password: str) -> bool:",
    "id = 550e8400-e29b-41d4-a716-446655440000",
    "commit 5d20b9a0000000000000000000000000000000ab",
    "The password is asked for at the first start.",
    "https://example.com/a/very/long/path?with=query&and=more",
    'class = "flex items-center justify-between rounded-lg"',
    "import { SecretManager } from './secrets'",
    "SECRET_NAME = settings.SECRET_NAME",
    '"name": "password-reset-form"',
    "assert response.status_code == 200",
    "<input type=password name=password>",
    'key = "abcdefghijklmnopqrstuvwxyz"',
]


def test_recall_and_precision_of_the_table() -> None:
    secrets = [line.replace("·", "") for line in SECRETS]
    found = [line for line in secrets if list(leaks.in_line(line))]
    false = [line for line in PLAIN if list(leaks.in_line(line))]
    recall = len(found) / len(secrets)
    precision = len(found) / (len(found) + len(false))
    assert recall >= 0.9, set(secrets) - set(found)
    assert precision >= 0.9, false


def test_a_leak_names_its_place_and_keeps_nothing_of_the_secret() -> None:
    patch = (
        "commit 1111111111111111111111111111111111111111\n\n"
        "diff --git a/src/config.py b/src/config.py\n--- a/src/config.py\n+++ b/src/config.py\n"
        '@@ -9,0 +10,2 @@ x\n+first = 1\n+password = "hunter2hunter2"\n'
        '-password = "hunter3hunter3"\n'
    )
    (leak,) = leaks.in_patches(patch)
    assert (leak.path, leak.line, leak.commit) == ("src/config.py", 11, "1" * 40)
    assert "hunter2" not in str(leak)


@pytest.mark.parametrize("path", ["package-lock.json", "a/poetry.lock", "go.sum"])
def test_lock_files_are_full_of_digests_and_are_not_guessed_at(path: str) -> None:
    line = '"integrity": "sha512-9f8e7d6c5b4a3f2e1d0cAbCdEfGhIjKlMnOpQrStUvWxYz0123456789=="'
    assert list(leaks.in_line(line, path=path)) == []


def test_a_line_of_megabytes_is_ordinary() -> None:
    assert list(leaks.in_line("a" * 10_000_000)) == []
