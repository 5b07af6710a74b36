"""What the benches of whole runs stand on: engines, schema, a workspace, an agent at work.

Everything is the product's own: a message is posted, a run is claimed and executed, its events are
stored and broadcast to a tab that listens in a process of its own.
"""

import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlcenter.settings")
os.environ.setdefault("CC_LOG_LEVEL", "ERROR")

if TYPE_CHECKING:
    from agents.models import Agent
    from runs.models import Run
    from spaces.models import Conversation, Space
    from workspaces.models import Principal, User, Workspace


def need_engines(*, own: bool = False) -> None:
    """Starts this program again with throw-away engines when the environment names none.

    With `own` in any case: what the bench does to a database nobody else should see.
    """
    if os.environ.get("CC_BENCH_OWN" if own else "DATABASE_URL"):
        return
    taken = {"DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "CC_DATA_DIR"} if own else set()
    environment = {name: value for name, value in os.environ.items() if name not in taken}
    again = [sys.executable, "-m", "controlcenter.local", "exec", "--", sys.executable]
    sys.exit(
        subprocess.call([*again, *sys.argv], cwd=ROOT, env=environment | {"CC_BENCH_OWN": "1"})
    )


@dataclass
class House:
    workspace: "Workspace"
    ada: "Principal"
    agent: "Agent"
    space: "Space"

    def converse(self) -> "Conversation":
        """A conversation whose agent finds a README in its working directory."""
        from agents import paths
        from spaces.models import Conversation
        from workspaces.tenancy import bind

        with bind(self.workspace):
            made: Conversation = Conversation.objects.create(space=self.space, title="Bench")
        home = paths.conversation_directory(self.workspace.pk, self.space.pk, made.pk)
        place = home / "agents" / self.agent.name
        place.mkdir(parents=True)
        (place / "README.md").write_text("# Bench\n\nA file to read.\n")
        return made

    def ask(self, conversation: "Conversation", text: str) -> "Run":
        """The run that a message starts."""
        from runs import dispatch
        from workspaces.tenancy import bind

        with bind(self.workspace):
            _message, [run] = dispatch.post(conversation, author=self.ada, body=text)
        return run

    def fresh(self, run: "Run") -> "Run":
        from runs.models import Run
        from workspaces.tenancy import bind

        with bind(self.workspace):
            found: Run = Run.objects.get(pk=run.pk)
        return found


def build(*, base_url: str = "", api_key: str = "bench") -> House:
    """The schema and a new workspace with one agent; without an address on the demo model."""
    import django

    warnings.filterwarnings("ignore", message="No directory at")
    django.setup()
    from django.conf import settings
    from django.core.management import call_command

    # Other roles refuse a database whose keys nobody has made.
    for name in ("django_key", "encryption_keys", "audit_key"):
        getattr(settings.SECRETS, name)
    call_command("migrate", database="owner", interactive=False, verbosity=0)
    from agents.creating import Profile, create
    from spaces.models import Participant, Space
    from workspaces import credentials, members
    from workspaces.ids import uuid7
    from workspaces.models import Membership, ModelConnection, User
    from workspaces.tenancy import bind

    mark = uuid7().hex[-12:]
    user = User.objects.create_user(f"ada-{mark}@example.org", "difference engine 2", name="Ada")
    workspace = members.create_workspace(user, f"Bench {mark}")
    with bind(workspace):
        ada = Membership.objects.get(user=user).principal
        agent, _ = create(Profile(name="bench", title="Bench"))
        space = Space.objects.create(name="Bench", slug="bench")
        Participant.objects.create(space=space, principal=agent.principal)
        way: dict[str, Any] = {"provider": "demo", "name": "demo"}
        if base_url:
            key = credentials.keep("model", api_key, label="bench", by=ada)
            way = {
                "provider": "anthropic",
                "name": "anthropic",
                "base_url": base_url,
                "is_house_address": True,
                "credential": key,
            }
        ModelConnection.objects.create(is_default=True, **way)
    return House(workspace, ada, agent, space)


def session_of(person: "User") -> tuple[str, str]:
    """Name and value of the cookie with which the person has signed in."""
    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore

    session = SessionStore()
    session[SESSION_KEY] = str(person.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = person.get_session_auth_hash()
    session.save()
    return settings.SESSION_COOKIE_NAME, str(session.session_key)


class Tab:
    """A process that listens on topics as a web process does for an open tab."""

    def __init__(self) -> None:
        from django.conf import settings

        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-c", LISTEN, settings.REDIS_URL],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def opens(self, run: "Run") -> None:
        """Listens to the run and its conversation when it returns."""
        from live import valkey
        from runs import topics
        from spaces import topics as space_topics

        names = [
            topics.run(run.workspace_id, run.pk),
            space_topics.conversation(run.workspace_id, run.conversation_id),
        ]
        assert self._process.stdin
        assert self._process.stdout
        with self._lock:
            channels = " ".join(valkey.channel(name, "en") for name in names)
            self._process.stdin.write(f"{channels}\n")
            self._process.stdin.flush()
            self._process.stdout.readline()

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


# A process of its own, so that what it reads costs the bench nothing. One tab a line of channels.
LISTEN = """
import sys, threading, redis
client = redis.Redis.from_url(sys.argv[1])
for line in sys.stdin:
    tab = client.pubsub()
    tab.subscribe(*line.split())
    for _ in line.split():
        tab.get_message(timeout=5)
    threading.Thread(target=lambda tab: [0 for _ in tab.listen()], args=[tab], daemon=True).start()
    print("ok", flush=True)
"""


@contextmanager
def open_tab() -> Iterator[Tab]:
    tab = Tab()
    try:
        yield tab
    finally:
        tab.close()
