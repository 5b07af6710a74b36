"""The tools of the built-in harness, and which of them a run gets to see."""
