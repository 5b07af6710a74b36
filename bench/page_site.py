"""The page of `bench/pages.py`: 50 rows from PostgreSQL, through all of our middleware.

python bench/page_site.py daphne|uvicorn onehopPAGES|django DESCRIPTOR
"""

import os
import socket
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlcenter.settings")

import django
from django.conf import settings

warnings.filterwarnings("ignore", message="No directory at")
django.setup()
settings.ROOT_URLCONF = __name__

from django.contrib.auth import get_user_model  # noqa: E402
from django.core.handlers.asgi import ASGIHandler  # noqa: E402
from django.core.handlers.wsgi import WSGIHandler  # noqa: E402
from django.http import HttpRequest, HttpResponse  # noqa: E402
from django.template import engines  # noqa: E402
from django.urls import path  # noqa: E402

ROWS = 50
PAGE = engines["django"].from_string(
    """{% load i18n %}<!doctype html><title>{% translate "Members" %}</title>
<body hx-headers='{"X-CSRFToken": "{{ csrf_token }}"}'><h1>{{ request.user }}</h1><table>
{% for one in people %}<tr id="person-{{ one.pk }}" class="{% cycle 'odd' 'even' %}">
<td>{{ forloop.counter }}</td>
<td><a href="{% url 'bench-rows' %}#{{ one.pk }}">{{ one.email }}</a></td>
<td>{{ one.get_full_name|default:one.email|truncatechars:30 }}</td>
<td><time datetime="{{ one.date_joined|date:'c' }}">{{ one.date_joined|date:"j M Y" }}</time></td>
<td>{% if one.is_active %}{% translate "Active" %}{% else %}{% translate "Blocked" %}{% endif %}
</td>
</tr>{% endfor %}</table></body>"""
)


def rows(request: HttpRequest) -> HttpResponse:
    people = get_user_model()._default_manager.order_by("pk")[:ROWS]
    return HttpResponse(PAGE.render({"people": people}, request))


urlpatterns = [path("rows/", rows, name="bench-rows")]
wsgi = WSGIHandler()


def main(server: str, handler: str, descriptor: int) -> None:
    held = socket.socket(fileno=descriptor)
    if server == "daphne":
        from controlcenter.local import daphne_server
    from controlcenter.onehop import BODY_LIMIT_BYTES, PageHandler

    at_once = handler.removeprefix("onehop")
    application = PageHandler(at_once=int(at_once)) if at_once.isdigit() else ASGIHandler()
    if server == "daphne":
        daphne_server.serve(application, held, body_limit_bytes=BODY_LIMIT_BYTES)
    else:
        from controlcenter.local import uvicorn_server

        uvicorn_server.serve(application, held)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
