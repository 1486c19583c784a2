"""All changes to stored corpora: creating, indexing, pausing, exporting and deleting them.

No other code of the app makes these changes. Each function checks the visitor's permission,
whatever the page shows.
"""

from __future__ import annotations

from contextlib import suppress

from contextlens.core.errors import AccessError, BusyError
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.store import indexing as store_indexing
from contextlens.corpus.store.about import About, Indexing
from contextlens.jobs import Job, Visitor
from contextlens.ui.access import guard
from contextlens.ui.access.roles import EXPORT, KEEP, Person
from contextlens.ui.corpora.catalogue import check_may_add, is_for_everybody
from contextlens.ui.models.background import jobs, store
from contextlens.ui.state.services import service

_NOT_YOURS = (
    "This corpus is somebody else's: you can look at what its address shows, and only they or an "
    "admin can take it away as a whole, go on with it, pause or delete it."
)


def create(
    corpus: Corpus, indexing: Indexing, *, split: str = "", for_everybody: str | None = None
) -> About:
    """Store a corpus as the visitor's own, or for everybody under the name `for_everybody`.

    Raises:
        AccessError: the visitor may not.
        CorpusError: the disk is full, the corpus has no text, or it exists already.
        BusyError: somebody else is storing it.
    """
    guard.require(KEEP)
    owner = ""
    if for_everybody is None:
        check_may_add()
        owner = guard.current_owner()
    else:
        with suppress(BusyError):  # somebody else is storing it; `create` waits for them
            store().delete_half(for_everybody)
    return store().create(corpus, indexing, split=split, name=for_everybody, owner=owner)


def index(name: str, visitor: Visitor) -> Job:
    """Start or resume the indexing of a corpus, and return its job.

    Raises:
        AccessError: the visitor may not.
        CorpusError: there is no such corpus, or it is damaged.
        BusyError: too many jobs are waiting already.
    """
    _check(name, or_for_everybody=True)
    return store_indexing.start(jobs(), store(), service(), name, visitor)


def pause(name: str) -> None:
    """Pause a corpus's indexing.

    Raises:
        AccessError: the visitor may not.
        CorpusError: there is no such corpus, or it is damaged.
    """
    _check(name, or_for_everybody=True)
    store_indexing.pause(store(), name)


def delete(name: str) -> None:
    """Delete a corpus; its indexing stops.

    Raises:
        AccessError: the visitor may not.
        CorpusError: it cannot be deleted.
    """
    _check(name, or_for_everybody=False)
    store().delete(name)


def check_may_export(about: About, person: Person) -> None:
    """Check that somebody may export a corpus as a whole.

    Raises:
        AccessError: they may not.
    """
    guard.require(EXPORT, person)
    if not (is_for_everybody(about) or guard.is_theirs(about.owner, person)):
        raise AccessError(_NOT_YOURS)


def may_export(about: About) -> bool:
    """Return True if the visitor of this page may export a corpus as a whole."""
    try:
        check_may_export(about, guard.current_person())
    except AccessError:
        return False
    return True


def _check(name: str, *, or_for_everybody: bool) -> None:
    """Check that the visitor may change a corpus.

    Args:
        name: the corpus's name.
        or_for_everybody: True if those who may store corpora may also change one for everybody.

    Raises:
        AccessError: they may not.
        CorpusError: there is no such corpus, or its owner cannot be read.
    """
    guard.require(KEEP)
    if guard.manages_all():
        return
    if guard.is_theirs(store().owner(name)):
        return
    if or_for_everybody and is_for_everybody(store().about(name)):
        return
    raise AccessError(_NOT_YOURS)
