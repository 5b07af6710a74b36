from importlib import import_module

from django.apps import AppConfig


class ControlCenterConfig(AppConfig):
    name = "controlcenter"

    def ready(self) -> None:
        # Tasks are sent through this application, from whichever process sends them.
        import_module("controlcenter.celery").app.set_default()
