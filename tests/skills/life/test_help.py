"""The help page on skills: every step of the way, in the app, in both languages."""

import pytest

from tests.cast import Cast


@pytest.mark.req("CC-38")
@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ["Sources", "Look, then install", "held", "Updates", "The lock", "Uninstall",
                "install_skill", "restore_skills", "check_skills"]),
        ("pt-pt", ["Fontes", "cadeado", "Desinstalar", "install_skill", "restore_skills"]),
    ],
)  # fmt: skip
def test_installing_and_managing_skills_is_explained(
    cast: Cast, language: str, words: list[str]
) -> None:
    client = cast.client(cast.vera)
    client.cookies["django_language"] = language
    page = client.get("/help/skills/", HTTP_ACCEPT_LANGUAGE=language)
    assert page.status_code == 200
    assert [word for word in words if word not in page.content.decode()] == []
