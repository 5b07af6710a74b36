"""The far end of a run's git: fetches from the mirror, pushes held until they are decided."""
