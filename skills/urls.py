"""Addresses of the skills room."""

from django.urls import path

from .views import asking, editor, installed, rules, skill, sources

app_name = "skills"
SKILLS = "w/<slug:workspace>/skills/"
SKILL = SKILLS + "<uuid:skill>/"
SOURCES = SKILLS + "sources/"
SOURCE = SOURCES + "<uuid:source>/"
ASKED = SKILLS + "requests/<uuid:asked>/"
urlpatterns = [
    path(SKILLS, installed.skill_list, name="skill-list"),
    path(SKILLS + "places/", installed.place_list, name="place-list"),
    path(SKILLS + "several/", installed.skill_bulk, name="skill-bulk"),
    path(SKILLS + "rescan/", installed.skill_rescan, name="skill-rescan"),
    path(SKILLS + "restore/", installed.skill_restore, name="skill-restore"),
    path(SKILLS + "held/", asking.held_list, name="held-list"),
    path(SKILLS + "rules/", rules.rules_show, name="rules-show"),
    path(SKILLS + "new/", editor.skill_create, name="skill-create"),
    path(SKILLS + "new/preview/", editor.editor_preview, name="editor-preview"),
    path(SOURCES, sources.source_list, name="source-list"),
    path(SOURCES + "add/", sources.source_add, name="source-add"),
    path(SOURCE, sources.source_show, name="source-show"),
    path(SOURCE + "sync/", sources.source_sync, name="source-sync"),
    path(SOURCE + "credential/", sources.source_credential, name="source-credential"),
    path(SOURCE + "remove/", sources.source_remove, name="source-remove"),
    path(
        SKILLS + "listings/<uuid:listing>/preview/", asking.listing_preview, name="listing-preview"
    ),
    path(ASKED, asking.request_show, name="request-show"),
    path(ASKED + "text/", asking.request_show, {"tab": "body"}, name="request-body"),
    path(ASKED + "files/", asking.request_show, {"tab": "files"}, name="request-files"),
    path(ASKED + "install/", asking.request_install, name="request-install"),
    path(ASKED + "accept/", asking.request_accept, name="request-accept"),
    path(ASKED + "refuse/", asking.request_refuse, name="request-refuse"),
    path(ASKED + "cancel/", asking.request_cancel, name="request-cancel"),
    path(ASKED + "again/", asking.request_again, name="request-again"),
    path(ASKED + "draft/", editor.draft_edit, name="draft-edit"),
    path(SKILL, skill.skill_show, name="skill-show"),
    path(SKILL + "files/", skill.skill_files, name="skill-files"),
    path(SKILL + "findings/", skill.skill_findings, name="skill-findings"),
    path(SKILL + "agents/", skill.skill_agents, name="skill-agents"),
    path(SKILL + "agents/link/", skill.skill_link, name="skill-link"),
    path(SKILL + "history/", skill.skill_history, name="skill-history"),
    path(SKILL + "edit/", editor.skill_edit, name="skill-edit"),
    path(SKILL + "export/", skill.skill_export, name="skill-export"),
    path(SKILL + "update/", skill.skill_update, name="skill-update"),
    path(SKILL + "bring-back/", skill.skill_bring_back, name="skill-bring-back"),
    path(SKILL + "accept/", skill.skill_accept, name="skill-accept"),
    path(SKILL + "uninstall/", skill.skill_uninstall, name="skill-uninstall"),
]
