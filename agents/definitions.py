"""What the definition library keeps in rows: changes to its files, trust, settings, imports.

The definitions themselves are files; see `agents.shelves`.
"""

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from workspaces.models import Principal
from workspaces.tenancy import TenantKey, TenantModel


class Shelf(models.TextChoices):
    """Whose files: they lie in the workspace's folder, a member's home, or a package."""

    ORGANISATION = "organisation", _("The workspace's")
    MEMBER = "member", _("Your own")
    PACKAGE = "package", _("A package's")


class DefinitionChange(TenantModel):
    """One file of a shelf as it was and as it became. What one act changed has one `batch`."""

    batch = models.UUIDField(db_index=True)
    shelf = models.CharField(max_length=12, choices=Shelf.choices)
    owner = TenantKey(Principal, null=True, on_delete=models.CASCADE, related_name="+")
    path = models.CharField(max_length=400)
    before = models.BinaryField(null=True)
    after = models.BinaryField(null=True)
    by = TenantKey(Principal, null=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField(default=timezone.now)
    undone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-at", "-id"]

    def __str__(self) -> str:
        return self.path


class LibrarySetting(TenantModel):
    """What a workspace decided about its library; one row at most."""

    extra_folders = models.JSONField(default=list, blank=True)
    safe_mode = models.BooleanField(default=False)
    disabled_packages = models.JSONField(default=list, blank=True)
    asks_to_delegate = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace"], name="librarysetting_one")]


class AcceptedDefinition(TenantModel):
    """An admin has read exactly these bytes of a repository's file and trusts them."""

    repository_id = models.UUIDField()
    path = models.CharField(max_length=1000)
    digest = models.CharField(max_length=64)
    text = models.BinaryField()
    by = TenantKey(Principal, null=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "repository_id", "path", "digest"], name="accepted_once"
            )
        ]


class DefinitionImport(TenantModel):
    """Files that somebody wants to bring in: gathered first, created when they are confirmed.

    `files` are `{"path", "data"}` with the bytes in base64, `left_out` are `{"path", "why"}`.
    """

    class Kind(models.TextChoices):
        UPLOAD = "upload", _("Upload")
        FOLDER = "folder", _("Folder")
        REPOSITORY = "repository", _("Repository")

    class State(models.TextChoices):
        QUEUED = "queued", _("Waiting")
        READING = "reading", _("Being read")
        READY = "ready", _("Ready")
        FAILED = "failed", _("Failed")
        DONE = "done", _("Imported")

    kind = models.CharField(max_length=10, choices=Kind.choices)
    source = models.CharField(max_length=500, blank=True)
    ref = models.CharField(max_length=200, blank=True)
    commit = models.CharField(max_length=40, blank=True)
    repository_id = models.UUIDField(null=True, blank=True)
    state = models.CharField(max_length=8, choices=State.choices, default=State.QUEUED)
    stage = models.CharField(max_length=60, blank=True)
    error = models.CharField(max_length=500, blank=True)
    files = models.JSONField(default=list)
    left_out = models.JSONField(default=list)
    batch = models.UUIDField(null=True, blank=True)
    created = models.JSONField(default=list)
    by = TenantKey(Principal, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    begun_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
