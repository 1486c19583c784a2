"""A model that a visitor chose and that is not in memory yet: the page keeps its present one.

The request is kept in the session and not in the view. Its model is loaded in the background, and
the view changes to it, once, when it is there. A request is bound to the model that it would
replace: if the view has changed to another model by other means (Back, a link, a view from a file),
the visitor went elsewhere and the request is dropped.
"""

from __future__ import annotations

import logging
import secrets
from dataclasses import dataclass, replace

from contextlens.core import meters
from contextlens.core.errors import AccessError, BusyError, ContextlensError
from contextlens.jobs import Job
from contextlens.ui.models import runtime, waiting
from contextlens.ui.state import session
from contextlens.ui.state.view import ViewState

PLACE = "wish"
"""The place at which a visitor waits for the model."""

_log = logging.getLogger("contextlens")


@dataclass(frozen=True, eq=False)
class ModelRequest:
    """A chosen model, loading or failed.

    Attributes:
        model: its id, as chosen.
        instead_of: the model that the view had.
        job: the load of the model; None if it was refused before it started.
        error: one sentence, empty while nothing went wrong.
    """

    model: str
    instead_of: str
    job: Job | None = None
    error: str = ""

    @property
    def is_pending(self) -> bool:
        """True if the model may still arrive."""
        return self.job is not None and not self.error

    @property
    def has_ended(self) -> bool:
        """True if the load of a pending request has ended."""
        return self.job is None or self.job.done()

    def renewed(self) -> ModelRequest:
        """Return the same request with its load started or joined, or with a refusal's reason."""
        try:
            job = runtime.start_loading(self.model, waiting.current_visitor(PLACE))
        except (AccessError, BusyError) as exc:
            return replace(self, job=None, error=str(exc))
        return replace(self, job=job, error="")

    def stop_waiting(self) -> None:
        """Stop waiting; the load stops unless someone else waits for it."""
        if self.job is not None:
            self.job.cancel(waiting.current_visitor(PLACE))


def current(view: ViewState) -> ModelRequest | None:
    """Return the request that this view waits for, or None."""
    request: ModelRequest | None = session.requested_model()
    if request is not None and request.instead_of != view.model:
        drop()
        return None
    return request


def choose(model: str) -> None:
    """Request a model. Call in callbacks only: a model in memory goes into the view at once."""
    view = session.current()
    drop()
    if model == view.model:
        return
    try:
        runtime.check_model(model)
    except ContextlensError as exc:
        session.keep_requested_model(ModelRequest(model, view.model, error=exc.for_visitors))
        return
    if runtime.can_load_without_download(view.model) and not runtime.is_loaded(model):
        session.keep_requested_model(ModelRequest(model, view.model).renewed())
    else:  # it is loaded, or the page has no other to go on with and shows the progress
        runtime.cancel_loading(view.model)
        runtime.request(model)
        session.write(replace(view, model=model, layer=None))


def retry() -> None:
    """Start again after a failure."""
    request: ModelRequest | None = session.requested_model()
    if request is not None:
        session.keep_requested_model(request.renewed())


def drop() -> None:
    """Drop the request."""
    request: ModelRequest | None = session.requested_model()
    if request is not None:
        request.stop_waiting()
        session.keep_requested_model(None)


def apply(request: ModelRequest) -> bool:
    """Put the arrived model into the view and return True, or keep the reason why it failed.

    This writes the view outside of a callback, once. The request disappears with it, so that the
    next run, even after a browser's Back, finds nothing to write.
    """
    if request.job is not None and request.job.was_stopped:  # because this page was not open
        session.keep_requested_model(request.renewed())
        return False
    problem = None if request.job is None else request.job.exception()
    if problem is not None:
        session.keep_requested_model(replace(request, error=_message(problem)))
        return False
    request.stop_waiting()
    session.keep_requested_model(None)
    session.write(replace(session.current(), model=request.model, layer=None))
    return True


def _message(problem: BaseException) -> str:
    if isinstance(problem, ContextlensError):
        return problem.for_visitors
    reference = secrets.token_hex(4)
    meters.count_error(problem)
    about = {"reference": reference}
    _log.error("Loading failed, reference %s", reference, exc_info=problem, extra=about)
    return (
        f"The model could not be loaded (reference {reference}). Whoever runs this app finds the "
        "details in its log. Choose another model."
    )
