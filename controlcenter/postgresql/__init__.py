"""Django's PostgreSQL backend with a pool that outlives the database's restarts."""
