"""Addresses of the agents room."""

from django.urls import path

from .views import agent, roster

app_name = "agents"
AGENT = "w/<slug:workspace>/agents/<uuid:agent>/"
urlpatterns = [
    path("w/<slug:workspace>/agents/", roster.agent_list, name="agent-list"),
    path("w/<slug:workspace>/agents/new/", roster.agent_create, name="agent-create"),
    path("w/<slug:workspace>/orgchart/", roster.orgchart_show, name="orgchart-show"),
    path(AGENT, agent.agent_show, name="agent-show"),
    path(AGENT + "runs/", agent.agent_runs, name="agent-runs"),
    path(AGENT + "files/", agent.agent_files, name="agent-files"),
    path(AGENT + "heal/", agent.agent_heal, name="agent-heal"),
    path(AGENT + "delete/", agent.agent_delete, name="agent-delete"),
]
