"""The pages of the runs room, one module a subject."""
