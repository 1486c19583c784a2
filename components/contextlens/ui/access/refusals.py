"""Responses to requests that one of our errors refuses, where no page is drawn."""

from __future__ import annotations

from starlette.responses import PlainTextResponse

from contextlens.core.errors import AccessError, BusyError, ContextlensError, SettingsError

_FORBIDDEN, _BUSY = 403, 503
_RETRY_SECONDS = 60


def response(exc: ContextlensError, *, status: int) -> PlainTextResponse:
    """Return the response to a request that one of our errors refuses.

    Args:
        exc: the error.
        status: the status, unless the error itself has one: forbidden, or busy.
    """
    headers = {}
    if isinstance(exc, AccessError | SettingsError):  # with wrong settings, permissions are unknown
        status = _FORBIDDEN
    elif isinstance(exc, BusyError):
        status, headers = _BUSY, {"Retry-After": str(_RETRY_SECONDS)}
    return PlainTextResponse(f"{exc.for_visitors}\n", status, headers)
