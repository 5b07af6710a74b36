"""The owner role migrates; everything else speaks as the application role."""

from typing import Any


class OwnerMigrates:
    """Both aliases are one database: only the owner's may change its shape."""

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return db == "owner"

    def allow_relation(self, left: Any, right: Any, **hints: Any) -> bool:
        return True
