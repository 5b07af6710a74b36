"""The pages of the skills room, one module a subject."""
