"""The backend that `settings.DATABASES` names: Django's own, over our pool."""

from typing import ClassVar

from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base

from .pool import Open, Pool


class DatabaseWrapper(base.DatabaseWrapper):
    """With `OPTIONS["pool"]`, the keywords of a Pool, connections outlive a request."""

    pools: ClassVar[dict[str, Pool]] = {}

    @property
    def pool(self) -> Pool | None:
        options = self.settings_dict["OPTIONS"].get("pool")
        if self.alias == NO_DB_ALIAS or not options:
            return None
        if self.alias not in self.pools:
            self.pools.setdefault(self.alias, Pool(self._connect, **options))
        return self.pools[self.alias]

    def close_pool(self) -> None:
        if pool := self.pools.pop(self.alias, None):
            pool.close()

    def _connect(self) -> Open:
        ours: Open = self.Database.connect(**(self.get_connection_params() | {"autocommit": True}))
        self._configure_connection(ours)  # type: ignore[attr-defined]  # the stubs lack it
        return ours
