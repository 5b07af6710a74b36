"""The pages of the workspaces room, one module a subject."""
