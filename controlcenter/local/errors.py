class StartError(Exception):
    """Something on this machine keeps us from starting; the text says what and what to do."""
