"""The project: settings, URLs, ASGI, Celery and the local start. Imported by no room."""
