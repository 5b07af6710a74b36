"""Enough of a project to start: a user table, one page, one task, one tick."""

from pathlib import Path

from controlcenter import env
from controlcenter.secret_files import Secrets

DATA_DIR = env.path("CC_DATA_DIR", Path("data"))
secrets = Secrets(DATA_DIR / "secrets")
SECRET_KEY = secrets.django_key
ALLOWED_HOSTS = ["*"]
INSTALLED_APPS = ["django.contrib.contenttypes", "django.contrib.auth"]
DATABASES = {
    "default": {**env.database("DATABASE_URL", "postgresql:///x"), "CONN_MAX_AGE": 0},
    "owner": {**env.database("DATABASE_OWNER_URL", "postgresql:///x"), "CONN_MAX_AGE": 0},
}
DATABASE_ROUTERS = ["controlcenter.database.OwnerMigrates"]
ROOT_URLCONF = "tests.local.small_program"
ASGI_APPLICATION = "tests.local.small_program.application"
GATEWAY_APPLICATION = "tests.local.small_program.application"
SERVER = env.choice("CC_SERVER", "daphne", ("daphne", "uvicorn"))
SETUP_TOKEN = env.text("CC_SETUP_TOKEN")
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
CC_WORKER_STOPPING = ["tests.local.small_program.let_go"]
CC_TICKS = [("tests.local.small_program.tick", 0.2), ("tests.local.small_program.absent", 1)]

REDIS_URL = env.text("REDIS_URL", "redis://")
CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://").replace(
    "?db=", "?virtual_host="
)
CELERY_TASK_IGNORE_RESULT = True
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_DEFAULT_QUEUE = "system"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_IMPORTS = ["tests.local.small_program"]
