"""Every address of the web process."""

from django.urls import include, path

urlpatterns = [
    path("accounts/", include("allauth.urls")),
]
