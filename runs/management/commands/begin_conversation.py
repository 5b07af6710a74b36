"""`manage.py begin_conversation --workspace SLUG --space SLUG …`: as the form of the page does."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agents.library.choosing import ChoiceError
from agents.library.definition import Dialect
from agents.management.acting import acting, add_arguments, agent_called
from runs import beginning, dispatch
from runs.beginning import File, Wanted
from spaces.models import Space


class Command(BaseCommand):
    help = (
        "Begin a conversation led by an agent, by a definition of the library (--agent), of a file "
        "(--agent-file, never both), with further ones (--agents, JSON). Bound for its life."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add_arguments(parser, agent=False)
        parser.add_argument("--space", required=True, help="the space's slug")
        parser.add_argument("--lead", default="", help="the agent that leads it")
        parser.add_argument("--agent", default="", help="the name of a definition")
        parser.add_argument("--agent-file", type=Path, help="a file with a definition")
        parser.add_argument("--dialect", choices=[each.value for each in Dialect])
        parser.add_argument("--agents", default="", help="JSON: name to definition")
        parser.add_argument(
            "--joins", action="store_true", help="add the definition to the lead's own prompt"
        )
        parser.add_argument("--text", default="", help="its first message")

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path | None = options["agent_file"]
        dialect = Dialect(options["dialect"]) if options["dialect"] else None
        with acting(options) as by:
            space = Space.objects.filter(slug=options["space"]).first()
            if space is None:
                raise CommandError(f"There is no space {options['space']!r}.")
            wanted = Wanted(
                lead=agent_called(options["lead"]) if options["lead"] else None,
                agent=options["agent"],
                file=File(file.name, file.read_text(), dialect) if file else None,
                agents=options["agents"],
                joins=options["joins"],
            )
            try:
                conversation = beginning.begin(space, by=by, wanted=wanted)
            except ChoiceError as error:
                raise CommandError(error.sentence) from error
            if options["text"]:
                dispatch.post(conversation, author=by, body=options["text"])
        self.stdout.write(str(conversation.pk))
