from django.apps import AppConfig


class SpacesConfig(AppConfig):
    name = "spaces"
    default_auto_field = "django.db.models.BigAutoField"
