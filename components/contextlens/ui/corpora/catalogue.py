"""The stored corpora that a visit knows: those that its address names, and those for everybody.

A server that only this machine can reach has one visitor, who knows all stored corpora. Elsewhere,
a visitor knows a corpus if they have its name, which nobody can guess. They may delete it if it is
among their own, which a shared link leaves out. The files of `CONTEXTLENS_CORPORA` are for
everybody, and nobody deletes them. If visitors sign in, a corpus belongs to its owner, at any
address: the owner's page lists it, and an admin's page lists all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from contextlens.core.errors import CorpusError
from contextlens.corpus.bundled import Offered, ambiguous_corpus, offered, stored_name
from contextlens.corpus.store.about import About
from contextlens.corpus.store.indexing import index_key
from contextlens.corpus.store.tables import is_name
from contextlens.jobs import Job
from contextlens.ui.access import guard
from contextlens.ui.access.roles import KEEP, MANAGE
from contextlens.ui.models.background import jobs, store
from contextlens.ui.state.controls import MINE, Text
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


def own_names(view: ViewState) -> tuple[str, ...]:
    """Return the names of the visitor's corpora, oldest first if they come from the address."""
    owner = guard.current_owner()
    if owner:
        return tuple(name for name in store().names() if _owner(store().root, name) == owner)
    in_address = _names_in_address(view)
    if not is_for_one():
        return in_address
    others = (name for name in store().names() if name not in in_address)
    return (*in_address, *others)[:_MAX_LISTED]


def _listed_names(view: ViewState) -> tuple[str, ...]:
    """Return the names of the corpora that the visitor's page lists: their own first."""
    others = store().names() if guard.sign_in_is_on() and guard.is_allowed(MANAGE) else ()
    names = dict.fromkeys([*own_names(view), *_names_in_address(view), *others])
    return tuple(names)[:_MAX_LISTED]


def _names_in_address(view: ViewState) -> tuple[str, ...]:
    """Return the corpora that the address names as the visitor's own."""
    names = (name for name in MINE.of(view).split(",") if is_name(name))
    return tuple(dict.fromkeys(names))[:MAX_OWN_CORPORA]


def listed(view: ViewState) -> tuple[Kept, ...]:
    """Return the corpora that a visit knows: the visitor's own, newest first, then the public ones.

    Raises:
        CorpusError: the store cannot be read.
    """
    files = for_everybody(view.model)
    entries = [kept_of(name) for name in _listed_names(view) if name not in files]
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
    for name in dict.fromkeys([*_listed_names(view), *files, *chosen]):
        if name in stored_names and (title := _title(store().root, name)):
            titles_by_name[name] = title
    return titles_by_name


def with_own(view: ViewState, name: str) -> ViewState:
    """Return the same view with one more corpus of the visitor's own."""
    if is_for_one() or guard.current_owner():  # the store itself is the list
        return view
    others = [other for other in MINE.of(view).split(",") if is_name(other) and other != name]
    return MINE.put(view, ",".join([*others, name][-MAX_OWN_CORPORA:]))


def without_own(view: ViewState, name: str) -> ViewState:
    """Return the same view without one corpus."""
    others = [other for other in MINE.of(view).split(",") if is_name(other) and other != name]
    return MINE.put(view, ",".join(others))


def check_may_add(view: ViewState) -> None:
    """Check that a visitor may keep one more corpus.

    Raises:
        CorpusError: they have too many.
    """
    n = len(own_names(view))
    if n >= MAX_OWN_CORPORA and not is_for_one():
        raise CorpusError(
            f"{n} corpora are kept for you here, and one visitor keeps at most {MAX_OWN_CORPORA}. "
            "Delete one first; what is exported stays yours."
        )


def may_delete(view: ViewState, entry: Kept) -> bool:
    """Return True if this visitor may delete a corpus: if it is their own.

    An unreadable corpus for everybody may be deleted by an admin, or by the only visitor of a
    server: then its file can be indexed again.
    """
    if not guard.is_allowed(KEEP):
        return False
    if entry.file is not None:
        is_admin = is_for_one() or (guard.sign_in_is_on() and guard.is_allowed(MANAGE))
        return entry.about is None and entry.problem != "" and is_admin
    if guard.sign_in_is_on():
        return guard.is_theirs("" if entry.about is None else entry.about.owner)
    return entry.name in own_names(view)


@lru_cache(maxsize=10_000)
def _owner_of(root: str, name: str) -> str:
    del root  # part of the cache's key only, for tests with several stores
    return store().about(name).owner


def note_owners() -> None:
    """Cache every corpus's owner in advance, as reading one takes some milliseconds."""
    for name in store().names() if guard.sign_in_is_on() else ():
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

_SENSES_CORPUS = Text(page="senses", name="corpus", default="ambiguous", label="Corpus")
_SENSES_WORD = Text(page="senses", name="word", label="Word")
_MAP_SOURCE = Text(page="map", name="source", default="ambiguous", label="Map of")
_MAP_KEPT = Text(page="map", name="kept", label="Corpus")
_MAP_WORD = Text(page="map", name="word", default="python", label="Word")
_MAP_FIND = Text(page="map", name="find", label="Find")
_MAP_PANEL = Text(page="map", name="panel", default="Trust", label="Look closer")


def on_senses(view: ViewState, corpus: str, word: str = "") -> ViewState:
    """Return the view with Senses on a corpus, and on a word in it."""
    return _SENSES_WORD.put(_SENSES_CORPUS.put(view, corpus), word[:MAX_VALUE_CHARACTERS])


def on_map(view: ViewState, corpus: str, find: str = "") -> ViewState:
    """Return the view with Map on a stored corpus, and with a word marked on it."""
    return _finding(_MAP_KEPT.put(_MAP_SOURCE.put(view, "kept"), corpus), find)


def on_ready_map(view: ViewState, find: str = "") -> ViewState:
    """Return the view with Map on its ready-made corpus, of one marked word or with any found."""
    view = _MAP_SOURCE.put(view, _MAP_SOURCE.default)
    if find in ambiguous_corpus().labels["word"]:
        return _MAP_WORD.put(view, find)
    return _finding(_MAP_WORD.put(view, "all"), find) if find else view


def _finding(view: ViewState, find: str) -> ViewState:
    """The view with the texts marked on the map that have a word."""
    return (
        _MAP_PANEL.put(_MAP_FIND.put(view, find[:MAX_VALUE_CHARACTERS]), "Find & select")
        if find
        else view
    )
