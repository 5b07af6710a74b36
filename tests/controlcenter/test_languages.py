"""The interface speaks Portuguese, whole; and a person's own choice of language holds."""

import gettext
import re

import pytest
from django.conf import settings
from django.test import Client
from django.utils import translation

from controlcenter.language import spoken
from controlcenter.views import HELP, help_pages
from live import valkey
from tests.cast import Cast
from tests.controlcenter.catalogue import PO, Entry, entries, in_sources

HOW = "Run `django-admin makemessages -l pt --add-location file`, translate, compilemessages."
KEPT = re.compile(r"%\(\w+\)(?:\.\d)?[a-z]|%[sd]|\{\w+\}|</?\w+[^>]*>")


def translations(entry: Entry) -> list[str]:
    return [text for field, text in entry.items() if field.startswith("msgstr")]


def test_every_word_of_the_sources_is_translated() -> None:
    known = {entry["msgid"] for entry in entries() if all(translations(entry))}
    missing = {words: file for words, file in in_sources().items() if words not in known}
    assert not missing, f"{HOW}\n{missing}"


def test_nothing_is_guessed_and_every_placeholder_is_kept() -> None:
    for entry in entries():
        assert "fuzzy" not in entry["flags"], entry["msgid"]
        wanted = sorted(KEPT.findall(entry["msgid"]))
        for words in translations(entry):
            assert sorted(KEPT.findall(words)) == wanted, words
            assert words == words.strip()


def test_what_is_served_is_what_was_written() -> None:
    with PO.with_suffix(".mo").open("rb") as file:
        served = gettext.GNUTranslations(file)
    for entry in entries():
        if "msgid_plural" in entry:
            one, many = entry["msgstr[0]"], entry["msgstr[1]"]
            assert served.ngettext(entry["msgid"], entry["msgid_plural"], 1) == one, HOW
            assert served.ngettext(entry["msgid"], entry["msgid_plural"], 2) == many, HOW
        else:
            assert served.gettext(entry["msgid"]) == entry["msgstr"], HOW


def test_a_language_is_found_by_what_browsers_and_people_call_it() -> None:
    assert {spoken(name) for name in ("pt", "pt-pt", "pt-br")} == {"pt-pt"}
    assert spoken("en-gb") == "en"
    assert [spoken(name) for name in ("", "tlh", "../../etc")] == ["", "", ""]


def language_of(page: bytes) -> str:
    return page.partition(b'<html lang="')[2].partition(b'"')[0].decode()


@pytest.mark.django_db
@pytest.mark.parametrize("asked", ["pt", "pt-PT,pt;q=0.9,en;q=0.8", "pt-BR"])
def test_a_browser_in_portuguese_reads_portuguese(client: Client, asked: str) -> None:
    page = client.get("/accounts/login/", headers={"accept-language": asked})
    assert language_of(page.content) in valkey.locales()  # what a tab asks the live line for
    for words in ("Iniciar sessão", "Palavra-passe", '"close": "Fechar"'):
        assert words in page.content.decode()
    assert page["Content-Language"] == "pt-pt"


@pytest.mark.django_db
def test_a_browser_in_another_language_reads_english(client: Client) -> None:
    page = client.get("/accounts/login/", headers={"accept-language": "tlh"})
    assert language_of(page.content) == settings.LANGUAGE_CODE


@pytest.mark.parametrize(
    ("chosen", "browser", "speaks"),
    [
        ("pt-pt", "en", "pt-pt"),
        ("pt", "en", "pt-pt"),
        ("en", "pt", "en"),
        ("", "pt", "pt-pt"),
        ("tlh", "pt", "pt-pt"),
        ("tlh", "en", "en"),
    ],
)
def test_what_a_person_chose_wins_over_the_browser(
    cast: Cast, chosen: str, browser: str, speaks: str
) -> None:
    cast.ada.user.locale = chosen
    cast.ada.user.save(update_fields=["locale"])
    page = cast.client(cast.ada).get(cast.path("inbox/"), headers={"accept-language": browser})
    assert page.status_code == 200
    assert language_of(page.content) == speaks
    assert ("Nada espera por si" in page.content.decode()) == (speaks == "pt-pt")


def test_one_persons_language_is_not_the_next_ones(cast: Cast) -> None:
    cast.ada.user.locale = "pt-pt"
    cast.ada.user.save(update_fields=["locale"])
    pages = [cast.client(who).get(cast.path("inbox/")) for who in (cast.ada, cast.ben)]
    assert [language_of(page.content) for page in pages] == ["pt-pt", "en"]


def test_one_chooses_a_language_on_ones_own_page(cast: Cast) -> None:
    ada = cast.client(cast.ada)
    ada.post("/you/", {"name": "Ada Lovelace", "locale": "pt-pt", "theme": cast.ada.user.theme})
    assert "Como o navegador" in ada.get("/you/").content.decode()


def test_help_is_in_the_readers_language(cast: Cast) -> None:
    ada = cast.client(cast.ada)
    assert "lado a lado" in ada.get("/help/", headers={"accept-language": "pt"}).content.decode()
    page = ada.get("/help/approvals/", headers={"accept-language": "pt"}).content.decode()
    assert "Aprovações e regras" in page
    assert "Primeiros passos" in page


def test_help_falls_back_to_english() -> None:
    assert help_pages("en") == help_pages("de")
    assert [file.parent for file in help_pages("en")] == [HELP] * len(help_pages("en"))


def test_every_help_page_is_translated_with_its_links_and_code() -> None:
    kept = re.compile(r"\]\(([^)]+)\)|`(CC_\w+|/\w+)`")
    for english, own in zip(help_pages("en"), help_pages("pt-pt"), strict=True):
        assert own.parent == HELP / "pt", own.name
        assert kept.findall(own.read_text()) == kept.findall(english.read_text()), own.name


def test_packages_speak_it_too() -> None:
    with translation.override("pt-pt"):
        assert translation.gettext("Sign Out Other Sessions") != "Sign Out Other Sessions"
        assert translation.gettext("This field is required.") == "Este campo é obrigatório."
