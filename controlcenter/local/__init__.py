"""The one-command start: embedded engines, the supervisor, and the roles it starts."""
