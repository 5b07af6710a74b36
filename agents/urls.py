"""Addresses of the agents room."""

from django.urls import path

from workspaces.access import endpoint

from . import api
from .views import (
    adopting,
    agent,
    changes,
    detail,
    duplicates,
    imports,
    library,
    librarysettings,
    mirror,
    orgchart,
    roster,
    trust,
    writing,
)

app_name = "agents"
AGENTS = "w/<slug:workspace>/agents/"
CHART = "w/<slug:workspace>/orgchart/"
AGENT = AGENTS + "<uuid:agent>/"
IMPORT = AGENTS + "library/imports/<uuid:entry>/"
API = "w/<slug:workspace>/api/agents/"
ONE = API + "<uuid:agent>/"
urlpatterns = [
    path(AGENTS, roster.agent_list, name="agent-list"),
    path(AGENTS + "new/", roster.agent_create, name="agent-create"),
    path(AGENTS + "several/", roster.agent_bulk, name="agent-bulk"),
    path(AGENTS + "several/undo/", roster.agent_bulk_undo, name="agent-bulk-undo"),
    path(AGENTS + "mirror/", mirror.mirror_show, name="mirror-show"),
    path(AGENTS + "library/", library.library_show, name="library-show"),
    path(AGENTS + "library/new/", writing.definition_new, name="definition-new"),
    path(AGENTS + "library/edit/", writing.definition_edit, name="definition-edit"),
    path(AGENTS + "library/remove/", writing.definition_remove, name="definition-remove"),
    path(AGENTS + "library/duplicates/", duplicates.library_duplicates, name="library-duplicates"),
    path(AGENTS + "library/trust/", trust.library_trust, name="library-trust"),
    path(AGENTS + "library/settings/", librarysettings.library_settings, name="library-settings"),
    path(AGENTS + "library/prompt/", librarysettings.library_prompt, name="library-prompt"),
    path(AGENTS + "library/undo/", changes.library_undo, name="library-undo"),
    path(AGENTS + "library/import/", adopting.library_import, name="library-import"),
    path(AGENTS + "library/imports/", imports.import_create, name="import-create"),
    path(IMPORT, imports.import_show, name="import-show"),
    path(IMPORT + "now/", imports.import_now, name="import-now"),
    path(IMPORT + "again/", imports.import_again, name="import-again"),
    path(IMPORT + "undo/", imports.import_undo, name="import-undo"),
    path(AGENTS + "library/adopt/", adopting.library_adopt, name="library-adopt"),
    path(AGENT, agent.agent_show, name="agent-show"),
    path(AGENT + "runs-on/", agent.agent_runs_on, name="agent-runs-on"),
    path(AGENT + "delete/", agent.agent_delete, name="agent-delete"),
    path(AGENT + "runs/", detail.agent_runs, name="agent-runs"),
    path(AGENT + "files/", detail.agent_files, name="agent-files"),
    path(AGENT + "prompt/", detail.agent_prompt, name="agent-prompt"),
    path(AGENT + "heal/", mirror.agent_heal, name="agent-heal"),
    path(AGENT + "take-file/", mirror.agent_take_file, name="agent-take-file"),
    path(AGENT + "export/<slug:dialect>/", adopting.agent_export, name="agent-export"),
    path(CHART, orgchart.orgchart_show, name="orgchart-show"),
    path(CHART + "move/", orgchart.orgchart_move, name="orgchart-move"),
    path(CHART + "undo/", orgchart.orgchart_undo, name="orgchart-undo"),
    path(CHART + "svg/", orgchart.orgchart_svg, name="orgchart-svg"),
    path(API, endpoint(GET=api.agent_list, POST=api.agent_create), name="api-agents"),
    path(API + "several/", endpoint(POST=api.agents_several), name="api-agents-several"),
    path(
        ONE,
        endpoint(GET=api.agent_read, PATCH=api.agent_change, DELETE=api.agent_delete),
        name="api-agent",
    ),
    path(ONE + "loss/", endpoint(GET=api.agent_loss), name="api-agent-loss"),
    path(ONE + "pause/", endpoint(POST=api.agent_pause), name="api-agent-pause"),
    path(ONE + "resume/", endpoint(POST=api.agent_resume), name="api-agent-resume"),
    path(ONE + "archive/", endpoint(POST=api.agent_archive), name="api-agent-archive"),
    path(ONE + "prompt/", endpoint(GET=api.agent_prompt), name="api-agent-prompt"),
    path(ONE + "export/<slug:dialect>/", endpoint(GET=api.agent_export), name="api-agent-export"),
    path(API + "mirror/", endpoint(GET=api.mirror_all), name="api-mirror"),
    path(ONE + "mirror/", endpoint(GET=api.mirror_one), name="api-agent-mirror"),
    path(ONE + "mirror/heal/", endpoint(POST=api.mirror_heal), name="api-agent-heal"),
    path(ONE + "mirror/take-file/", endpoint(POST=api.mirror_take_file), name="api-agent-take"),
    path("w/<slug:workspace>/api/orgchart/move/", endpoint(POST=api.chain_move), name="api-move"),
]
