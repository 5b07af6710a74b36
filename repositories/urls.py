"""Addresses of the repositories room."""

from django.urls import path

from .views import pushes, repositories, skills

app_name = "repositories"
REPOSITORIES = "w/<slug:workspace>/repositories/"
REPOSITORY = REPOSITORIES + "<uuid:repository>/"
PUSH = REPOSITORIES + "pushes/<uuid:push>/"
urlpatterns = [
    path(REPOSITORIES, repositories.repository_list, name="repository-list"),
    path(REPOSITORIES + "add/", repositories.repository_add, name="repository-add"),
    path(REPOSITORIES + "pushes/", pushes.push_list, name="push-list"),
    path(REPOSITORY, repositories.repository_show, name="repository-show"),
    path(REPOSITORY + "fetch/", repositories.repository_fetch, name="repository-fetch"),
    path(
        REPOSITORY + "credential/",
        repositories.repository_credential,
        name="repository-credential",
    ),
    path(REPOSITORY + "remove/", repositories.repository_remove, name="repository-remove"),
    path(REPOSITORY + "skills/accept/", skills.skill_accept, name="skill-accept"),
    path(REPOSITORY + "skills/withdraw/", skills.skill_withdraw, name="skill-withdraw"),
    path(PUSH, pushes.push_show, name="push-show"),
    path(PUSH + "diff/", pushes.push_diff, name="push-diff"),
    path(PUSH + "whole/", pushes.push_diff_whole, name="push-diff-whole"),
]
