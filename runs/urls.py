"""Addresses of the runs room."""

from django.urls import path

from .views import runs

app_name = "runs"
RUN = "w/<slug:workspace>/runs/<uuid:run>/"
urlpatterns = [
    path("w/<slug:workspace>/runs/", runs.run_list, name="run-list"),
    path(RUN, runs.run_show, name="run-show"),
    path(RUN + "transcript/", runs.run_transcript, name="run-transcript"),
    path(RUN + "stop/", runs.run_stop, name="run-stop"),
    path(RUN + "pause/", runs.run_pause, name="run-pause"),
    path(RUN + "resume/", runs.run_resume, name="run-resume"),
    path(RUN + "steer/", runs.run_steer, name="run-steer"),
]
