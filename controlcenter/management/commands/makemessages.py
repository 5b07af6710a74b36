"""Django's own, which also reads the sentences that are kept (`outside.sentences`)."""

from typing import Any

from django.core.management.commands import makemessages


class Command(makemessages.Command):
    xgettext_options = [  # noqa: RUF012 (as the base class has it)
        *makemessages.Command.xgettext_options,
        "--keyword=phrase",
        "--keyword=phrase_many:1,2",
        "--keyword=phrase_noop",
    ]
    # A guess is worse than a gap: the test names what is missing.
    msgmerge_options = [*makemessages.Command.msgmerge_options, "--no-fuzzy-matching"]  # noqa: RUF012

    def handle(self, *args: Any, **options: Any) -> None:
        options["ignore_patterns"] = [*options["ignore_patterns"], "tests/*", "bench/*"]
        super().handle(*args, **options)
