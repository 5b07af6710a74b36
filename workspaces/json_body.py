"""The body of a program's request as a checked value."""

from typing import TypeVar

from django.http import HttpRequest
from django.utils.translation import gettext as _
from pydantic import BaseModel, ValidationError

from .problem import Problem

Shape = TypeVar("Shape", bound=BaseModel)


def read(request: HttpRequest, shape: type[Shape]) -> Shape:
    """The request's JSON object as `shape`; an empty body is an empty object. Raises Problem."""
    if request.body and request.content_type != "application/json":
        sentence = _("Send JSON, with the header Content-Type: application/json.")
        raise Problem(415, "not-json", sentence)
    try:
        return shape.model_validate_json(request.body or b"{}")
    except ValidationError as error:
        raise _problem(error) from None


def read_query(request: HttpRequest, shape: type[Shape]) -> Shape:
    """What stands behind the question mark as `shape`; of a name given twice the last. Raises
    Problem."""
    try:
        return shape.model_validate(request.GET.dict())
    except ValidationError as error:
        raise _problem(error) from None


def _problem(error: ValidationError) -> Problem:
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    if any(fault["type"] == "json_invalid" for fault in faults):
        return Problem(
            400, "not-json", _("The body is no JSON: %(why)s") % {"why": faults[0]["msg"]}
        )
    errors: dict[str, list[str]] = {}
    for fault in faults:
        place = ".".join(map(str, fault["loc"]))
        errors.setdefault(place, []).append(fault["msg"])
    sentence = _("Nothing was changed. Look at: %(names)s.") % {"names": ", ".join(errors)}
    return Problem(422, "invalid", sentence, errors=errors)
