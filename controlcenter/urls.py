"""Every address of the web process."""

from django.urls import include, path

from workspaces.views.front import instance_home

from . import style_page, views

handler404 = "controlcenter.views.not_found"
handler500 = "controlcenter.views.fault"
urlpatterns = [
    path("", instance_home, name="instance-home"),
    path("healthz", views.healthz, name="healthz"),
    path("help/", views.help_show, name="help-show"),
    path("help/<slug:page>/", views.help_show, name="help-page"),
    path("style/", style_page.show, name="style-show"),
    path("accounts/", include("allauth.urls")),
    path("", include("workspaces.urls")),
    path("", include("agents.urls")),
    path("", include("skills.urls")),
    path("", include("spaces.urls")),
    path("", include("runs.urls")),
    path("", include("guardrails.urls")),
    path("", include("repositories.urls")),
]
