"""What executes a run: the built-in harness or a foreign command-line agent."""
