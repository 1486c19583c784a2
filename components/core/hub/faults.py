"""What went wrong with a fetch, in our errors: one place for all of huggingface_hub's."""

from __future__ import annotations

from components.core.errors import FetchError, ModelError, UnknownModelError

__all__ = ["LATER", "UntrueError", "diagnose", "in_ascii"]

LATER = "Try again in a few minutes, or choose a model that is on this machine."
_ACCESS = (
    "Choose another model, or ask whoever runs this app to name this one in "
    "CONTEXTLENS_TOKEN_MODELS, with an HF_TOKEN that has access to it."
)


class UntrueError(Exception):
    """What a hub sent cannot be true, or may not be followed; "{hub}" stands for its name."""


def diagnose(exc: BaseException) -> tuple[type[ModelError], str, str]:
    """Our kind of error for what a fetch ended with, what happened, and what to do next."""
    import httpx2  # its transport errors come through huggingface_hub unchanged
    from huggingface_hub import errors

    match exc:
        case UntrueError():
            return FetchError, str(exc), LATER
        case errors.LocalEntryNotFoundError() if exc.__cause__ is not None:
            return diagnose(exc.__cause__)  # "not in the cache": why it was not fetched is below
        case errors.GatedRepoError():  # a RepositoryNotFoundError to huggingface_hub
            return FetchError, "it is gated, {hub} gives it to chosen accounts only", _ACCESS
        case errors.RepositoryNotFoundError() | errors.HFValidationError():
            advice = "Check the spelling (organisation/name), or choose another model."
            return UnknownModelError, "{hub} has no such model, or it is private", advice
        case errors.RemoteEntryNotFoundError() | errors.RevisionNotFoundError():
            return FetchError, "{hub} listed a file that it does not have", LATER
        case errors.HfHubHTTPError():
            return _diagnose_status(exc.response.status_code)
        case errors.OfflineModeIsEnabled():
            advice = "Unset it where this app runs, or choose a model that is on this machine."
            return FetchError, "HF_HUB_OFFLINE forbids asking {hub}", advice
        case httpx2.TimeoutException():
            return FetchError, "{hub} took too long to answer", LATER
        case httpx2.ConnectError() | httpx2.ProxyError():
            advice = "Check this machine's network, or choose a model that is on this machine."
            return FetchError, "{hub} cannot be reached", advice
        case httpx2.TransportError():
            return FetchError, "the connection to {hub} broke", "Try again: it starts afresh."
        case OSError(errno=int()):
            advice = "See that the hub cache has room and can be written to, and try again."
            return FetchError, f"its files could not be stored ({exc.strerror})", advice
        case OSError() if not isinstance(exc, errors.FileMetadataError):
            return FetchError, "a file did not arrive whole", "Try again: it starts afresh."
    return FetchError, f"{{hub}} gave an unreadable answer ({type(exc).__name__})", LATER


def _diagnose_status(status: int) -> tuple[type[ModelError], str, str]:
    if status == 404:
        advice = "Check the spelling (organisation/name), or choose another model."
        return UnknownModelError, "{hub} has no such model", advice
    if status in {401, 403}:
        return FetchError, f"{{hub}} refused access ({status})", _ACCESS
    if status == 429:
        return FetchError, "{hub} was asked too often and wants a pause (429)", LATER
    return FetchError, f"{{hub}} answered with an error ({status})", LATER


def in_ascii(text: str) -> str:
    """Foreign text, quoted, with odd characters escaped and at most 80 characters of it."""
    return ascii(text if len(text) <= 80 else text[:79] + "...")
