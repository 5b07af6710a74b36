"""The pages of the agents room, one module a subject."""
