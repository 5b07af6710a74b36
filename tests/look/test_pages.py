"""The style page and the pages of trouble, through their faces."""

import re

import pytest
from django.template.loader import render_to_string
from django.test import Client
from pytest_django.fixtures import Settings

CODES = [400, 403, 404, 405, 429, 500, 503]


def test_the_style_page_shows_every_component(client: Client, settings: Settings) -> None:
    settings.DEBUG = True
    page = client.get("/style/")
    assert page.status_code == 200
    assert b"Every component in every state" in page.content


def test_the_style_page_is_not_there_for_others(client: Client) -> None:
    assert client.get("/style/").status_code == 404


def test_the_style_page_is_only_read(client: Client) -> None:
    assert client.post("/style/").status_code in (403, 405)


def test_the_first_frame_has_the_theme_that_was_chosen(client: Client, settings: Settings) -> None:
    settings.DEBUG = True
    client.cookies["theme"] = "dark"
    assert b'data-theme="dark"' in client.get("/style/").content
    client.cookies["theme"] = 'x" onload="alert(1)'
    assert not re.search(rb"<html[^>]*(onload|data-theme)", client.get("/style/").content)


@pytest.mark.parametrize("code", CODES)
def test_a_page_of_trouble_needs_nothing(code: int) -> None:
    page = render_to_string(f"{code}.html")
    assert str(code) in page
    assert "Go home" in page
