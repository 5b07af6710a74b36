"""Agent definitions: files of any dialect, read into one value and written back.

Pure functions and frozen dataclasses; no Django, no database. Start at `reading.read_text`.
"""
