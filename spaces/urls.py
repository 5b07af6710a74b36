"""Addresses of the spaces room."""

from django.urls import path

from workspaces.access import endpoint

from . import api
from .views import beginning, conversations, mentions, skills, spaces

app_name = "spaces"
SPACE = "w/<slug:workspace>/spaces/<slug:space>/"
CONVERSATION = SPACE + "<uuid:conversation>/"
API = "w/<slug:workspace>/api/spaces/<slug:space>/"
urlpatterns = [
    path("w/<slug:workspace>/spaces/", spaces.space_list, name="space-list"),
    path("w/<slug:workspace>/spaces/new/", spaces.space_create, name="space-create"),
    path("w/<slug:workspace>/mentions/", mentions.mention_list, name="mention-list"),
    path(SPACE, spaces.space_show, name="space-show"),
    path(SPACE + "edit/", spaces.space_edit, name="space-edit"),
    path(SPACE + "archive/", spaces.space_archive, name="space-archive"),
    path(SPACE + "begin/", beginning.conversation_create, name="conversation-create"),
    path(CONVERSATION, conversations.conversation_show, name="conversation-show"),
    path(
        CONVERSATION + "timeline/",
        conversations.conversation_timeline,
        name="conversation-timeline",
    ),
    path(CONVERSATION + "now/", conversations.conversation_now, name="conversation-now"),
    path(CONVERSATION + "skills/", skills.skill_list, name="skill-list"),
    path(CONVERSATION + "works-in/", skills.active_choose, name="active-choose"),
    path(CONVERSATION + "say/", conversations.message_post, name="message-post"),
    path(
        API + "conversations/",
        endpoint(POST=api.conversation_create),
        name="api-conversations",
    ),
    path(
        API + "conversations/<uuid:conversation>/",
        endpoint(GET=api.conversation_read),
        name="api-conversation",
    ),
]
