from django.apps import AppConfig


class RepositoriesConfig(AppConfig):
    name = "repositories"
    default_auto_field = "django.db.models.BigAutoField"
