"""Which stored corpora a visit knows: those that its address names, and those for everybody.

A server that answers to this machine alone has one visitor, who knows all that it stores. Anywhere
else a corpus is known to whoever has its name, which nobody can guess, and may be deleted by
whoever has it among their own, which a link that is shared does not say; the files of
`CONTEXTLENS_CORPORA` are for everybody, and nobody deletes them. Where visitors sign in, a corpus
is its owner's, at whatever address: the owner's page lists it, and an admin's lists all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from components.core.errors import CorpusError
from components.corpus.bundled import Offered, offered, stored_name
from components.corpus.store.about import About
from components.corpus.store.indexing import index_key
from components.corpus.store.tables import is_name
from components.jobs import Job
from components.ui.access import guard
from components.ui.access.roles import KEEP, MANAGE
from components.ui.corpora.controls import MINE
from components.ui.frame.navigation import PAGES
from components.ui.models.background import jobs, store
from components.ui.models.services import is_for_one, settings
from components.ui.state.controls import Text
from components.ui.state.view import ViewState

__all__ = [
    "MOST",
    "Kept",
    "check_may_add",
    "has_page",
    "is_for_everybody",
    "kept_of",
    "known",
    "may_delete",
    "note_owners",
    "on_map",
    "on_ready_map",
    "on_senses",
    "own_names",
    "titles",
    "with_own",
    "without_own",
]


MOST = 8
"""Corpora that one visitor keeps, where there are several visitors."""
_MOST_LISTED = 50  # where there is one


@dataclass(frozen=True)
class Kept:
    """A corpus of the store, as one visit may know it.

    Attributes:
        name: what it is found by.
        about: what there is to know; None where it cannot be told.
        problem: why it cannot, in a sentence, or "".
        file: the file for everybody that it comes from, or None.
        job: what indexes it in this process, waiting or running, or None.
        is_elsewhere: whether another process indexes it.
    """

    name: str
    about: About | None
    problem: str = ""
    file: Offered | None = None
    job: Job | None = None
    is_elsewhere: bool = False

    @property
    def title(self) -> str:
        """What to call it."""
        if self.about is not None:
            return self.about.title
        return self.file.title if self.file is not None else "A corpus that cannot be read"

    @property
    def is_indexed(self) -> bool:
        """Whether it is there and all of its words have vectors."""
        return self.about is not None and self.about.state == "done"

    @property
    def is_under_way(self) -> bool:
        """Whether it is being indexed, here or elsewhere."""
        return self.job is not None or self.is_elsewhere


def for_everybody(model: str) -> Mapping[str, Offered]:
    """The files for everybody, by the names of the corpora that they become with a model."""
    return {stored_name(file, model): file for file in offered(settings().corpora_folder)}


def is_for_everybody(about: About) -> bool:
    """Whether a corpus comes from one of the files for everybody."""
    return about.name in for_everybody(about.indexing.model)


def own_names(view: ViewState) -> tuple[str, ...]:
    """The names of the visitor's corpora, oldest first where the address has them."""
    owner = guard.current_owner()
    if owner:
        return tuple(name for name in store().names() if _owner(store().root, name) == owner)
    own = _named(view)
    if not is_for_one():
        return own
    others = (name for name in store().names() if name not in own)
    return (*own, *others)[:_MOST_LISTED]


def _listed_names(view: ViewState) -> tuple[str, ...]:
    """The names of the corpora that the visitor's page lists: their own first."""
    others = store().names() if guard.sign_in_is_on() and guard.is_allowed(MANAGE) else ()
    names = dict.fromkeys([*own_names(view), *_named(view), *others])
    return tuple(names)[:_MOST_LISTED]


def _named(view: ViewState) -> tuple[str, ...]:
    """Those that the address says are the visitor's."""
    named = (name for name in MINE.of(view).split(",") if is_name(name))
    return tuple(dict.fromkeys(named))[:MOST]


def known(view: ViewState) -> tuple[Kept, ...]:
    """What a visit knows: the visitor's own, the newest first, then what is for everybody.

    Raises:
        CorpusError: the place where corpora are stored cannot be read.
    """
    files = for_everybody(view.model)
    own = [kept_of(name) for name in _listed_names(view) if name not in files]
    own.sort(key=lambda kept: "" if kept.about is None else kept.about.created, reverse=True)
    return (*own, *(kept_of(name, file) for name, file in files.items()))


def running(name: str) -> Job | None:
    """The job that indexes a corpus in this process, where one waits or runs."""
    job = jobs().get(index_key(store(), name))
    return None if job is None or job.done() else job


def kept_of(name: str, file: Offered | None = None) -> Kept:
    """What there is to know of a corpus of this name, or why that cannot be told."""
    job = running(name)  # before what it writes is read: who ends meanwhile has written its end
    try:
        about, is_elsewhere = store().about(name), False
        if job is None and about.state != "done":
            is_elsewhere = store().has_writer(name)
            about = about if is_elsewhere else store().about(name)
        file = file or for_everybody(about.indexing.model).get(name)
        return Kept(name, about, file=file, job=job, is_elsewhere=is_elsewhere)
    except CorpusError as exc:
        is_there = file is None or store().has(name)  # of a half one the file is indexed anew
        return Kept(name, None, str(exc) if is_there else "", file)


def titles(view: ViewState, *chosen: str) -> Mapping[str, str]:
    """What to call the corpora that a visit knows and that can be read, for menus, by name.

    Args:
        view: what is looked at.
        chosen: names that the view asks for, known or not.
    """
    files = for_everybody(view.model)
    here = set(store().names())
    found = {}
    for name in dict.fromkeys([*_listed_names(view), *files, *chosen]):
        if name in here and (title := _title(store().root, name)):
            found[name] = title
    return found


def with_own(view: ViewState, name: str) -> ViewState:
    """The same view with one more corpus of the visitor's own."""
    if is_for_one() or guard.current_owner():  # the store itself is the list
        return view
    own = [other for other in MINE.of(view).split(",") if is_name(other) and other != name]
    return MINE.put(view, ",".join([*own, name][-MOST:]))


def without_own(view: ViewState, name: str) -> ViewState:
    """The same view with one corpus less."""
    own = [other for other in MINE.of(view).split(",") if is_name(other) and other != name]
    return MINE.put(view, ",".join(own))


def check_may_add(view: ViewState) -> None:
    """Pass where a visitor may keep one more corpus.

    Raises:
        CorpusError: there are enough.
    """
    n = len(own_names(view))
    if n >= MOST and not is_for_one():
        raise CorpusError(
            f"{n} corpora are kept for you here, and one visitor keeps at most {MOST}. Delete one "
            "first; what is exported stays yours."
        )


def may_delete(view: ViewState, kept: Kept) -> bool:
    """True if a corpus is the visitor's own: not one for everybody, nor shown by another's link.

    One for everybody that cannot be read may be deleted by an admin, or by whoever has the server
    for themselves: its file can be indexed again then.
    """
    if not guard.is_allowed(KEEP):
        return False
    if kept.file is not None:
        is_admin = is_for_one() or (guard.sign_in_is_on() and guard.is_allowed(MANAGE))
        return kept.about is None and kept.problem != "" and is_admin
    if guard.sign_in_is_on():
        return guard.is_theirs("" if kept.about is None else kept.about.owner)
    return kept.name in own_names(view)


@lru_cache(maxsize=10_000)
def _owner_of(root: str, name: str) -> str:
    del root  # of tests' stores
    return store().about(name).owner


def note_owners() -> None:
    """Read whose each corpus is before somebody asks: some milliseconds of each, once."""
    for name in store().names() if guard.sign_in_is_on() else ():
        _owner(store().root, name)


def _owner(root: str, name: str) -> str:
    try:
        return _owner_of(root, name)
    except CorpusError:  # not kept: it may be mended
        return ""


@lru_cache(maxsize=1_000)
def _title_of(root: str, name: str) -> str:
    del root  # of tests' stores
    return store().about(name).title


def _title(root: str, name: str) -> str:
    try:
        return _title_of(root, name)
    except CorpusError:  # not kept: it may be mended
        return ""


# --- Views of other pages on a corpus

_SENSES_CORPUS = Text(page="senses", name="corpus", default="ambiguous", label="Corpus")
_SENSES_WORD = Text(page="senses", name="word", label="Word")
_MAP_SOURCE = Text(page="map", name="source", default="ambiguous", label="Map of")
_MAP_KEPT = Text(page="map", name="kept", label="Corpus")


def has_page(name: str) -> bool:
    """Whether there is such a page."""
    return any(page.name == name for page in PAGES)


def on_senses(view: ViewState, corpus: str, word: str = "") -> ViewState:
    """The view with Senses on a corpus, and on a word of it."""
    return _SENSES_WORD.put(_SENSES_CORPUS.put(view, corpus), word[:200])


def on_map(view: ViewState, corpus: str) -> ViewState:
    """The view with Map on a stored corpus."""
    return _MAP_KEPT.put(_MAP_SOURCE.put(view, "kept"), corpus)


def on_ready_map(view: ViewState) -> ViewState:
    """The view with Map on its ready-made corpus."""
    return _MAP_SOURCE.put(view, _MAP_SOURCE.default)
