"""The same pages under a WSGI server: the peer of the page benchmark."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlcenter.settings")
application = get_wsgi_application()
