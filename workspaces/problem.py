"""What went wrong, for programs: problem details after RFC 9457, with a sentence for people."""

from typing import Any

from django.http import HttpResponse, JsonResponse

ABOUT = "/help/api/#"


class Problem(Exception):
    """A refusal with its status, a stable code, and a sentence that says what to do."""

    def __init__(
        self,
        status: int,
        code: str,
        sentence: str,
        *,
        headers: dict[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(sentence)
        self.status, self.code, self.sentence = status, code, sentence
        self.headers, self.more = headers or {}, more

    def response(self) -> HttpResponse:
        """The problem as the answer to the request."""
        body = {
            "type": f"{ABOUT}{self.code}",
            "title": TITLES.get(self.code, self.code.replace("-", " ").capitalize()),
            "status": self.status,
            "detail": self.sentence,
            "code": self.code,
            **self.more,
        }
        return JsonResponse(
            body,
            status=self.status,
            content_type="application/problem+json",
            headers=self.headers,
        )


# Titles never change with the occasion, so they are not translated; the sentence is.
TITLES = {
    "not-signed-in": "No valid credential",
    "not-allowed": "Not allowed",
    "not-found": "Not found",
    "wrong-method": "Method not allowed",
    "not-json": "Body is not JSON",
    "invalid": "Values that cannot be",
    "conflict": "Saved by somebody else meanwhile",
    "version-missing": "Version missing",
    "hand-edited": "File edited by hand",
    "busy": "Agent at work",
    "circle": "Circular chain of command",
    "too-large": "Body too large",
    "too-many-requests": "Too many requests",
    "not-written": "Disk could not be written",
    "choice": "Agent cannot be chosen",
    "fault": "Fault of the server",
    "away": "Database out of reach",
}
