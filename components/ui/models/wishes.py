"""A model that a visitor chose and that is not in memory yet: the page goes on with the one it has.

The choice is a wish: kept in the session, not in the view. Its model is loaded in the background,
and when it is there the view changes to it, once. A wish is bound to the model that it would
replace: where the view has come to another by other means (Back, a link, a view from a file), the
visitor went elsewhere and the wish is dropped.
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
"""Where a visitor waits for a wish."""

_log = logging.getLogger("contextlens")


@dataclass(frozen=True, eq=False)
class Wish:
    """A chosen model: on its way, or failed with what to say about it.

    Attributes:
        model: its id, as chosen.
        instead_of: the model that the view had.
        job: how it comes; None where it was refused at the door.
        error: one sentence, empty as long as nothing went wrong.
    """

    model: str
    instead_of: str
    job: Job | None = None
    error: str = ""

    @property
    def is_pending(self) -> bool:
        """Whether the model may still come."""
        return self.job is not None and not self.error

    def renewed(self) -> Wish:
        """The same wish with its load begun, joined where it is under way, or refused in words."""
        try:
            job = runtime.start_loading(self.model, waiting.me(PLACE))
        except (AccessError, BusyError) as exc:
            return replace(self, job=None, error=str(exc))
        return replace(self, job=job, error="")

    def give_up(self) -> None:
        """Wait no longer; the load stops unless someone else waits for it."""
        if self.job is not None:
            self.job.cancel(waiting.me(PLACE))


def current(view: ViewState) -> Wish | None:
    """The wish that this view waits for, or None."""
    wish: Wish | None = session.wish()
    if wish is not None and wish.instead_of != view.model:
        drop()
        return None
    return wish


def choose(model: str) -> None:
    """Wish for a model. Call in callbacks only: what is in memory becomes the view's at once."""
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
    """Begin again what failed."""
    wish: Wish | None = session.wish()
    if wish is not None:
        session.keep_wish(wish.renewed())


def drop() -> None:
    """Wish for nothing any more."""
    wish: Wish | None = session.wish()
    if wish is not None:
        wish.give_up()
        session.keep_wish(None)


def is_over(wish: Wish) -> bool:
    """Whether the load of a pending wish has ended."""
    return wish.job is None or wish.job.done()


def grant(wish: Wish) -> bool:
    """Make the model that came the view's, or keep why it did not come; says which.

    This writes the view outside of a callback, once: the wish is gone with it, so that the next
    run, of a browser's Back too, finds nothing to write.
    """
    if wish.job is not None and wish.job.was_stopped:  # by others, while nobody looked at this page
        session.keep_wish(wish.renewed())
        return False
    problem = None if wish.job is None else wish.job.exception()
    if problem is not None:
        session.keep_wish(replace(wish, error=_said(problem)))
        return False
    wish.give_up()
    session.keep_wish(None)
    session.write(replace(session.current(), model=wish.model, layer=None))
    return True


def _said(problem: BaseException) -> str:
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
