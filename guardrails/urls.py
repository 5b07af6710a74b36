"""Addresses of the guardrails room."""

from django.urls import path

from .views import autonomy, decisions, inbox, rules, what_if

app_name = "guardrails"
INBOX = "w/<slug:workspace>/inbox/"
APPROVAL = INBOX + "<uuid:approval>/"
RULES = "w/<slug:workspace>/settings/permissions/"
RULE = RULES + "<uuid:rule>/"
urlpatterns = [
    path(INBOX, inbox.inbox_show, name="inbox"),
    path(INBOX + "list/", inbox.inbox_list, name="inbox-list"),
    path(INBOX + "count/", inbox.inbox_count, name="inbox-count"),
    path(APPROVAL, inbox.approval_show, name="inbox-show"),
    path(APPROVAL + "detail/", inbox.approval_detail, name="approval-detail"),
    path(APPROVAL + "card/", inbox.approval_card, name="approval-card"),
    path(APPROVAL + "decide/", decisions.approval_decide, name="approval-decide"),
    path(RULES, rules.rule_list, name="rule-list"),
    path(RULES + "new/", rules.rule_create, name="rule-create"),
    path(RULES + "waiting/", rules.waiting_set, name="waiting-set"),
    path(RULES + "what-if/", what_if.what_if_show, name="what-if"),
    path(RULE + "edit/", rules.rule_edit, name="rule-edit"),
    path(RULE + "revoke/", rules.rule_revoke, name="rule-revoke"),
    path(
        "w/<slug:workspace>/spaces/<uuid:space>/autonomy/<uuid:agent>/",
        autonomy.autonomy_set,
        name="autonomy-set",
    ),
]
