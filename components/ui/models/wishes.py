"""A model that a visitor chose and that is not in memory yet: the page keeps its present one.

The choice is a wish, kept in the session and not in the view. Its model is loaded in the
background, and the view changes to it, once, when it is there. A wish is bound to the model that it
would replace: if the view has changed to another model by other means (Back, a link, a view from a
file), the visitor went elsewhere and the wish is dropped.
"""

from __future__ import annotations

import logging
import secrets
from dataclasses import dataclass, replace

from components.core import meters
from components.core.errors import AccessError, BusyError, ContextlensError
from components.jobs import Job
from components.ui.models import runtime, waiting
from components.ui.state import session
from components.ui.state.view import ViewState

__all__ = ["PLACE", "Wish", "choose", "current", "drop", "grant", "is_over", "retry"]

PLACE = "wish"
"""The place at which a visitor waits for a wish."""

_log = logging.getLogger("contextlens")


@dataclass(frozen=True, eq=False)
class Wish:
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

    def renewed(self) -> Wish:
        """Return the same wish with its load started or joined, or with the reason of a refusal."""
        try:
            job = runtime.start_loading(self.model, waiting.me(PLACE))
        except (AccessError, BusyError) as exc:
            return replace(self, job=None, error=str(exc))
        return replace(self, job=job, error="")

    def give_up(self) -> None:
        """Stop waiting; the load stops unless someone else waits for it."""
        if self.job is not None:
            self.job.cancel(waiting.me(PLACE))


def current(view: ViewState) -> Wish | None:
    """Return the wish that this view waits for, or None."""
    wish: Wish | None = session.wish()
    if wish is not None and wish.instead_of != view.model:
        drop()
        return None
    return wish


def choose(model: str) -> None:
    """Wish for a model. Call in callbacks only: a model in memory goes into the view at once."""
    view = session.current()
    drop()
    if model == view.model:
        return
    try:
        runtime.check_model(model)
    except ContextlensError as exc:
        session.keep_wish(Wish(model, view.model, error=exc.for_visitors))
        return
    if runtime.is_near(view.model) and not runtime.is_loaded(model):
        session.keep_wish(Wish(model, view.model).renewed())
    else:  # it is here, or there is nothing else to go on with: then the page shows how far it is
        runtime.give_up(view.model)
        runtime.ask(model)
        session.write(replace(view, model=model, layer=None))


def retry() -> None:
    """Start again after a failure."""
    wish: Wish | None = session.wish()
    if wish is not None:
        session.keep_wish(wish.renewed())


def drop() -> None:
    """Drop the wish."""
    wish: Wish | None = session.wish()
    if wish is not None:
        wish.give_up()
        session.keep_wish(None)


def is_over(wish: Wish) -> bool:
    """Return True if the load of a pending wish has ended."""
    return wish.job is None or wish.job.done()


def grant(wish: Wish) -> bool:
    """Put the arrived model into the view and return True, or keep the reason why it failed.

    This writes the view outside of a callback, once. The wish disappears with it, so that the next
    run, even after a browser's Back, finds nothing to write.
    """
    if wish.job is not None and wish.job.was_stopped:  # by others, while this page was not open
        session.keep_wish(wish.renewed())
        return False
    problem = None if wish.job is None else wish.job.exception()
    if problem is not None:
        session.keep_wish(replace(wish, error=_message(problem)))
        return False
    wish.give_up()
    session.keep_wish(None)
    session.write(replace(session.current(), model=wish.model, layer=None))
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
