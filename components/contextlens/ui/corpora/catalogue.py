"""The stored corpora that a visit knows: the visitor's own, and those for everybody.

A server that only this machine can reach has one visitor, who owns all stored corpora. Elsewhere, a
corpus belongs to the person who signed in, or else to the browser that added it (`visitor_key`).
Its owner's page lists it, and an admin's page lists all of them. Others can look at it if they have
its name, which nobody can guess. The files of `CONTEXTLENS_CORPORA` are for everybody, and nobody
deletes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from contextlens.content.language import say
from contextlens.core.errors import CorpusError
from contextlens.corpus.bundled import Offered, ambiguous_corpus, offered, stored_name
from contextlens.corpus.store.about import About
from contextlens.corpus.store.indexing import index_key
from contextlens.jobs import Job
from contextlens.ui.access import guard
from contextlens.ui.access.roles import KEEP
from contextlens.ui.corpora.controls import ALL_WORDS, COLLECTION, WORD
from contextlens.ui.models.background import jobs, store
from contextlens.ui.state.controls import Text
from contextlens.ui.state.services import is_for_one, settings
from contextlens.ui.state.view import MAX_VALUE_CHARACTERS, ViewState

MAX_OWN_CORPORA = 8
"""The most corpora that one visitor keeps, if there are several visitors."""
_MAX_LISTED = 50  # on one page


@dataclass(frozen=True)
class Kept:
    """A corpus of the store, as one visit may know it.

    Attributes:
        name: its name in the store.
        about: its description; None if it cannot be read.
        problem: why it cannot be read, in a sentence, or "".
        file: the file for everybody that it comes from, or None.
        job: the waiting or running job that indexes it in this process, or None.
        is_elsewhere: True if another process indexes it.
    """

    name: str
    about: About | None
    problem: str = ""
    file: Offered | None = None
    job: Job | None = None
    is_elsewhere: bool = False

    @property
    def title(self) -> str:
        """Its title; if it cannot be read, its file's title or a stand-in."""
        if self.about is not None:
            return self.about.title
        return self.file.title if self.file is not None else "A corpus that cannot be read"

    @property
    def is_indexed(self) -> bool:
        """True if it is stored and all of its words have vectors."""
        return self.about is not None and self.about.state == "done"

    @property
    def is_under_way(self) -> bool:
        """True if it is being indexed, here or elsewhere."""
        return self.job is not None or self.is_elsewhere

    @property
    def share(self) -> float:
        """The share of its texts that are read; a job here knows of those not stored yet."""
        if self.about is None:
            return 0.0
        stored = self.about.n_texts_done / max(1, self.about.n_texts)
        return stored if self.job is None else max(stored, self.job.poll().share)


def for_everybody(model: str) -> Mapping[str, Offered]:
    """Return the files for everybody, by the names of the corpora that they become with a model."""
    return {stored_name(file, model): file for file in offered(settings().corpora_folder)}


def is_for_everybody(about: About) -> bool:
    """Return True if a corpus comes from one of the files for everybody."""
    return about.name in for_everybody(about.indexing.model)


def own_names() -> tuple[str, ...]:
    """Return the names of the visitor's corpora."""
    names, owner = store().names(), guard.current_owner()
    if is_for_one():
        return names[:_MAX_LISTED]
    return tuple(name for name in names if owner and _owner(store().root, name) == owner)


def _listed_names() -> tuple[str, ...]:
    """Return the names of the corpora that the visitor's page lists: their own first."""
    others = store().names() if guard.manages_all() else ()
    return tuple(dict.fromkeys([*own_names(), *others]))[:_MAX_LISTED]


def listed(view: ViewState) -> tuple[Kept, ...]:
    """Return the corpora that a visit knows: the visitor's own, newest first, then the public ones.

    Raises:
        CorpusError: the store cannot be read.
    """
    files = for_everybody(view.model)
    entries = [kept_of(name) for name in _listed_names() if name not in files]
    entries.sort(key=lambda entry: "" if entry.about is None else entry.about.created, reverse=True)
    return (*entries, *(kept_of(name, file) for name, file in files.items()))


def running(name: str) -> Job | None:
    """Return the waiting or running job that indexes a corpus in this process, or None."""
    job = jobs().get(index_key(store(), name))
    return None if job is None or job.done() else job


def kept_of(name: str, file: Offered | None = None) -> Kept:
    """Return the corpus of this name with its description, or with the reason why it has none."""
    job = running(name)  # before the state: a job that ends in between has stored the final state
    try:
        about, is_elsewhere = store().about(name), False
        if job is None and about.state != "done":
            is_elsewhere = store().has_writer(name)
            about = about if is_elsewhere else store().about(name)
        file = file or for_everybody(about.indexing.model).get(name)
        return Kept(name, about, file=file, job=job, is_elsewhere=is_elsewhere)
    except CorpusError as exc:
        is_there = file is None or store().has(name)  # a partly stored file is stored again
        return Kept(name, None, str(exc) if is_there else "", file)


def titles(view: ViewState, *chosen: str) -> Mapping[str, str]:
    """Return the titles of the readable corpora that a visit knows, for menus, by name.

    Args:
        view: the current view.
        chosen: names that the view asks for, known or not.
    """
    files = for_everybody(view.model)
    stored_names = set(store().names())
    titles_by_name = {}
    for name in dict.fromkeys([*_listed_names(), *files, *chosen]):
        if name in stored_names and (title := _title(store().root, name)):
            titles_by_name[name] = title
    return titles_by_name


def check_may_add() -> None:
    """Check that a visitor may keep one more corpus.

    Raises:
        CorpusError: they have too many, or could not be told from others later.
    """
    if is_for_one():
        return
    if not guard.current_owner():
        raise CorpusError(say("corpora.adding.no_key"))
    n = len(own_names())
    if n >= MAX_OWN_CORPORA:
        raise CorpusError(
            f"{n} corpora are kept for you here, and one visitor keeps at most {MAX_OWN_CORPORA}. "
            "Delete one first; what is exported stays yours."
        )


def may_change(entry: Kept) -> bool:
    """Return True if this visitor may change and delete a corpus: if it is their own.

    An unreadable corpus for everybody may be deleted by an admin, or by the only visitor of a
    server: then its file can be indexed again.
    """
    if not guard.is_allowed(KEEP):
        return False
    if entry.file is not None:
        return entry.about is None and entry.problem != "" and guard.manages_all()
    return guard.is_theirs(_owner(store().root, entry.name))


def may_index(entry: Kept) -> bool:
    """Return True if this visitor may index a corpus and pause that: one's own or for everybody."""
    is_for_all = entry.file is not None and guard.is_allowed(KEEP)
    return is_for_all or may_change(entry)


@lru_cache(maxsize=10_000)
def _owner_of(root: str, name: str) -> str:
    del root  # part of the cache's key only, for tests with several stores
    return store().owner(name)


def note_owners() -> None:
    """Cache every corpus's owner in advance, as reading one takes some milliseconds."""
    for name in () if is_for_one() else store().names():
        _owner(store().root, name)


def _owner(root: str, name: str) -> str:
    try:
        return _owner_of(root, name)
    except CorpusError:  # not cached: it may be repaired
        return ""


@lru_cache(maxsize=1_000)
def _title_of(root: str, name: str) -> str:
    del root  # part of the cache's key only, for tests with several stores
    return store().about(name).title


def _title(root: str, name: str) -> str:
    try:
        return _title_of(root, name)
    except CorpusError:  # not cached: it may be repaired
        return ""


# --- Views of other pages with a corpus

_MAP_FIND = Text(page="map", name="find", label="Find")
_MAP_PANEL = Text(page="map", name="panel", default="Trust", label="Look closer")


def on_texts(view: ViewState, collection: str, word: str = "", find: str = "") -> ViewState:
    """Return the view on a collection and a word in it, and with a word marked on the map."""
    if find and collection == "ambiguous" and find not in ambiguous_corpus().labels["word"]:
        word = ALL_WORDS
    view = WORD.put(COLLECTION.put(view, collection), word[:MAX_VALUE_CHARACTERS])
    return _finding(view, find)


def _finding(view: ViewState, find: str) -> ViewState:
    """The view with the texts marked on the map that have a word."""
    return (
        _MAP_PANEL.put(_MAP_FIND.put(view, find[:MAX_VALUE_CHARACTERS]), "Find & select")
        if find
        else view
    )
