"""The built-in harness: the loop that executes a run. Plain Python, imports only `outside`."""
