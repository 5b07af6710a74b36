"""Settings of the one program. What an operator may choose comes from the environment."""

from pathlib import Path

from csp.constants import NONCE, NONE, SELF
from django.utils.functional import lazy

from . import env
from .secret_files import Secrets

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = env.path("CC_DATA_DIR", BASE_DIR / "data")
DEBUG = env.flag("CC_DEBUG")
ROLE = env.choice("CC_ROLE", "all", ("web", "gateway", "worker", "scheduler", "all"))
SERVER = env.choice("CC_SERVER", "daphne", ("daphne", "uvicorn"))

# Keys are made or read at their first use: a command that needs none writes nothing.
SECRETS = Secrets(DATA_DIR / "secrets")
SECRET_KEY = lazy(lambda: SECRETS.django_key, str)()

# --- Where we are reached ------------------------------------------------------------------------

HOST_NAME = env.text("CC_HOST_NAME", "control-center.invalid")
ALLOWED_HOSTS = env.words("CC_ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = env.words("CC_TRUSTED_ORIGINS")
BEHIND_TLS = env.flag("CC_BEHIND_TLS")
GATEWAY_URL = env.text("CC_GATEWAY_URL", "http://127.0.0.1:8766")
GATEWAY_SOCKET = env.text("CC_GATEWAY_SOCKET")
SETUP_TOKEN = env.text("CC_SETUP_TOKEN")
SIGNUP_OPEN = env.flag("CC_SIGNUP_OPEN")
ALLOW_HOSTS = env.words("CC_ALLOW_HOSTS")
ALLOW_PATHS = env.words("CC_ALLOW_PATHS")
REQUIRE_SANDBOX = env.flag("CC_REQUIRE_SANDBOX")
MANAGED_POLICY = env.text("CC_MANAGED_POLICY")  # a file of rules that only tighten

# --- Rooms ---------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "csp",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "controlcenter",
    "live",
    "workspaces",
    "skills",
    "agents",
    "spaces",
    "guardrails",
    "repositories",
    "runs",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "controlcenter.caching.KeepNothing",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "controlcenter.language.OwnLanguage",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "allauth.usersessions.middleware.UserSessionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "controlcenter.wrong_method.WrongMethod",
]

ROOT_URLCONF = "controlcenter.urls"
ASGI_APPLICATION = "controlcenter.asgi.application"
WSGI_APPLICATION = "controlcenter.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.debug",
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
                "controlcenter.context.frame",
            ],
        },
    }
]

# --- State ---------------------------------------------------------------------------------------

POOL_SIZE = env.number("CC_DB_POOL", 8, high=200)
_app = env.database("DATABASE_URL", f"postgresql://cc_app@/cc?host={DATA_DIR}/postgres/socket")
_owner = env.database(
    "DATABASE_OWNER_URL", f"postgresql://cc_owner@/cc?host={DATA_DIR}/postgres/socket"
)
if POOL_SIZE:
    _app["OPTIONS"]["pool"] = {"max_size": POOL_SIZE, "timeout": 20}
DATABASES = {
    "default": {**_app, "CONN_MAX_AGE": 0, "TEST": {"MIRROR": "owner"}},
    "owner": {**_owner, "CONN_MAX_AGE": 0},
}
DATABASE_ROUTERS = ["controlcenter.database.OwnerMigrates"]
REDIS_URL = env.text("REDIS_URL", f"unix://{DATA_DIR}/valkey/valkey.sock?db=0")
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "workspaces.User"
DATA_UPLOAD_MAX_MEMORY_SIZE = 25 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FILES = 250  # agent files are imported by the hundred
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024

CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}
}

# --- Signing in ----------------------------------------------------------------------------------

AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator",
        "OPTIONS": {"user_attributes": ["email", "name"]},
    },
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "account_login"
CSRF_FAILURE_VIEW = "controlcenter.views.form_too_old"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_ADAPTER = "workspaces.accounts.Adapter"
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_SIGNUP_FORM_CLASS = "workspaces.forms.SignupForm"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_EMAIL_VERIFICATION = env.choice(
    "CC_EMAIL_VERIFICATION", "none", ("none", "optional", "mandatory")
)
ACCOUNT_LOGOUT_ON_PASSWORD_CHANGE = False
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_EMAIL_SUBJECT_PREFIX = "[Control Center] "
ACCOUNT_DEFAULT_HTTP_PROTOCOL = "https" if BEHIND_TLS else "http"
USERSESSIONS_TRACK_ACTIVITY = False
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
EMAIL_BACKEND = env.text("CC_EMAIL_BACKEND", "django.core.mail.backends.console.EmailBackend")
DEFAULT_FROM_EMAIL = env.text("CC_MAIL_FROM", f"Control Center <no-reply@{HOST_NAME}>")
EMAIL_HOST = env.text("CC_MAIL_HOST", "localhost")
EMAIL_PORT = env.number("CC_MAIL_PORT", 25, low=1, high=65535)
EMAIL_HOST_USER = env.text("CC_MAIL_USER")
EMAIL_HOST_PASSWORD = env.text("CC_MAIL_PASSWORD")
EMAIL_USE_TLS = env.flag("CC_MAIL_TLS")

# --- What a browser is told ----------------------------------------------------------------------

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "manifest-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}
SILENCED_SYSTEM_CHECKS = ["security.W021"]  # preloading a domain is its owner's decision
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_AGE = 14 * 24 * 3600
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BEHIND_TLS
SESSION_COOKIE_NAME = "__Host-session" if BEHIND_TLS else "cc_session"
CSRF_COOKIE_NAME = "__Host-csrf" if BEHIND_TLS else "cc_csrf"
CSRF_COOKIE_SAMESITE = "Lax"
if BEHIND_TLS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = 365 * 24 * 3600
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_SSL_REDIRECT = env.flag("CC_SSL_REDIRECT")

STATIC_URL = "static/"
STATIC_ROOT = env.text("CC_STATIC_ROOT") or None  # only an image collects its files
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}

# --- Language and time ---------------------------------------------------------------------------

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("pt-pt", "Português")]  # each in its own words
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

# --- Queues, runs, realtime ----------------------------------------------------------------------

CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://").replace(
    "?db=", "?virtual_host="
)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_ACKS_LATE = False
CELERY_TASK_DEFAULT_QUEUE = "system"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_REDIRECT_STDOUTS = False
CELERY_TIMEZONE = "UTC"

# With a sweep behind it, a dead worker's run is found within half a minute.
LEASE_SECONDS = env.number("CC_LEASE_SECONDS", 24, low=1, high=3600)
LEASE_BEAT_SECONDS = env.seconds("CC_LEASE_BEAT_SECONDS", 8)
SWEEP_SECONDS = env.seconds("CC_SWEEP_SECONDS", 5)
SILENCE_SECONDS = env.seconds("CC_SILENCE_SWEEP_SECONDS", 30)
DISK_RESERVE_BYTES = env.number("CC_DISK_RESERVE_MB", 64) * 1024 * 1024
RUN_ATTEMPTS = env.number("CC_RUN_ATTEMPTS", 5, low=1, high=100)
PUSH_HOLD_SECONDS = env.seconds("CC_PUSH_HOLD_SECONDS", 45)
PUSH_MAX_BYTES = env.number("CC_PUSH_MAX_MB", 500, low=1) * 1024 * 1024
PUSH_LEASE_SECONDS = env.number("CC_PUSH_LEASE_SECONDS", 30, low=1, high=3600)
PUSH_RETRY_SECONDS = env.seconds("CC_PUSH_RETRY_SECONDS", 5)
PUSH_KEEP_DAYS = env.number("CC_PUSH_KEEP_DAYS", 14)
REPOSITORY_MAX_BYTES = env.number("CC_REPOSITORY_MAX_MB", 4096, low=1) * 1024 * 1024
SKILL_FETCH_SECONDS = env.seconds("CC_SKILL_FETCH_SECONDS", 120)
SKILL_SOURCE_MAX_BYTES = env.number("CC_SKILL_SOURCE_MAX_MB", 96, low=1) * 1024 * 1024
SKILL_SYNC_HOURS = env.number("CC_SKILL_SYNC_HOURS", 24, low=1, high=24 * 30)
MIRROR_FRESH_SECONDS = env.seconds("CC_MIRROR_FRESH_SECONDS", 5)
GATEWAY_IDLE_SECONDS = env.seconds("CC_GATEWAY_IDLE_SECONDS", 60)
GATEWAY_TOKEN_HOURS = env.number("CC_GATEWAY_TOKEN_HOURS", 24, low=1, high=24 * 30)
API_CALLS_A_MINUTE = env.number("CC_API_CALLS_A_MINUTE", 600, low=1)
API_BODY_BYTES = env.number("CC_API_BODY_KIB", 2048, low=1) * 1024
DEFAULT_MODEL = env.text("CC_DEFAULT_MODEL", "anthropic/claude-opus-5-5")
# Of every subagent of a Fuxi file, before what a call or the file says; "inherit" is like unset.
FUXI_CODE_SUBAGENT_MODEL = env.text("FUXI_CODE_SUBAGENT_MODEL", "")

CC_LIVE_ACCESS = "controlcenter.live_access.may_join"
CC_PUSH_JUDGE = "runs.pushing.judge_push"
CC_PUSH_SETTLED = "runs.pushing.push_settled"
CC_RUN_CHECK = "runs.pushing.may_use_git"
CC_SKILLS_CHANGED = "agents.mirror.relink"
CC_SKILL_HOLDERS = "agents.holders.names_of"
CC_SKILL_DENIED = "guardrails.forbidden.capabilities"
CC_SHIPPED_SKILLS = BASE_DIR / "agents" / "seeded" / "skills"
CC_WORKER_STOPPING = ["runs.keeper.give_up_all"]
CC_TICKS = [
    ("runs.recovery.sweep", SWEEP_SECONDS),
    ("runs.silence.watch", SILENCE_SECONDS),
    ("repositories.recovery.sweep", SWEEP_SECONDS),
    ("repositories.recovery.tidy", 3600),
    ("guardrails.approvals.expire_due", 60),
    ("workspaces.audit.seal_all", 1),
    ("agents.seeding.sweep", 30),
    ("skills.recovery.sweep", 15),
    ("skills.recovery.tidy", 60),
]

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(levelname)s %(name)s: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": env.text("CC_LOG_LEVEL", "INFO")},
    "loggers": {
        "httpx": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
        "uvicorn": {"level": "WARNING"},
        "daphne": {"level": "WARNING"},
        "celery": {"level": "WARNING"},
        "django.server": {"level": "WARNING"},
    },
}
