"""Addresses of the workspaces room."""

from django.urls import path

from .views import front, general, home, members, models, tokens

app_name = "workspaces"
urlpatterns = [
    path("new/", front.workspace_create, name="workspace-create"),
    path("invite/<str:token>/", front.invitation_show, name="invitation-show"),
    path("you/", front.you_show, name="you-show"),
    path("w/<slug:workspace>/", home.home, name="home"),
    path("w/<slug:workspace>/setup/", models.setup_show, name="setup-show"),
    path("w/<slug:workspace>/settings/", general.settings_show, name="settings-show"),
    path("w/<slug:workspace>/settings/audit/", general.audit_list, name="audit-list"),
    path("w/<slug:workspace>/settings/members/", members.member_list, name="member-list"),
    path(
        "w/<slug:workspace>/settings/members/invite/",
        members.invitation_create,
        name="invitation-create",
    ),
    path(
        "w/<slug:workspace>/settings/members/invite/<uuid:invitation>/revoke/",
        members.invitation_revoke,
        name="invitation-revoke",
    ),
    path(
        "w/<slug:workspace>/settings/members/<uuid:member>/role/",
        members.member_role,
        name="member-role",
    ),
    path(
        "w/<slug:workspace>/settings/members/<uuid:member>/transfer/",
        members.member_transfer,
        name="member-transfer",
    ),
    path(
        "w/<slug:workspace>/settings/members/<uuid:member>/remove/",
        members.member_remove,
        name="member-remove",
    ),
    path("w/<slug:workspace>/settings/tokens/", tokens.token_list, name="token-list"),
    path("w/<slug:workspace>/settings/tokens/new/", tokens.token_create, name="token-create"),
    path(
        "w/<slug:workspace>/settings/tokens/<uuid:token>/revoke/",
        tokens.token_revoke,
        name="token-revoke",
    ),
    path("w/<slug:workspace>/settings/models/", models.model_list, name="model-list"),
    path("w/<slug:workspace>/settings/models/add/", models.model_add, name="model-add"),
    path(
        "w/<slug:workspace>/settings/models/<uuid:connection>/",
        models.model_show,
        name="model-show",
    ),
    path(
        "w/<slug:workspace>/settings/models/<uuid:connection>/test/",
        models.model_check,
        name="model-check",
    ),
    path(
        "w/<slug:workspace>/settings/models/<uuid:connection>/default/",
        models.model_default,
        name="model-default",
    ),
    path(
        "w/<slug:workspace>/settings/models/<uuid:connection>/remove/",
        models.model_remove,
        name="model-remove",
    ),
]
