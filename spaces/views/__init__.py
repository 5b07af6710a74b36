"""The pages of the spaces room, one module a subject."""
