"""The data behind the Senses page: a word's senses, the concordance, tables, the passport."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.separation import Separation, centroids, cosine_table, cosines_to
from contextlens.content.language import say
from contextlens.core import EncoderService
from contextlens.core.byte_cache import remembered
from contextlens.core.errors import CorpusError
from contextlens.core.schema import FloatArray, IntArray, Passport
from contextlens.corpus.live import LiveCorpus
from contextlens.corpus.searchable import SearchableCorpus
from contextlens.corpus.store.stored_corpus import StoredCorpus
from contextlens.features.senses.controls import (
    BESIDE,
    CHOSEN,
    COLOR,
    CORPUS,
    GROUPS,
    ONLY,
    OTHER_CORPUS,
    OTHER_LAYER,
    OTHER_MODEL,
    OTHER_WORD,
    OWN,
    ROWS,
    SENTENCES,
    SORT,
    WORD,
)
from contextlens.features.senses.corpora import (
    OpenStored,
    corpus_of,
    first_word,
    no_store,
    open_stored,
)
from contextlens.features.senses.figures import MAX_COLORED, Spot
from contextlens.features.senses.snippet import SnippetRow
from contextlens.features.senses.words import (
    Course,
    Grouping,
    MissingWord,
    OwnSentence,
    WordUses,
    around,
    column_of,
    course_of,
    grouping_of,
    sentence_of,
    units_at,
    word_in,
)
from contextlens.figures.theme import CATEGORICAL, NEUTRAL
from contextlens.ui.models.services import service
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets.sense_claims import uses_title_at

# --- The concordance: each occurrence in its context

PAGE_SIZE = 25
_ONLY = re.compile(r"[sg]-?[0-9]{1,6}")
_WIDTH = 70  # characters on each side of the word


@dataclass(frozen=True)
class ConcordanceLine:
    """One occurrence in its context.

    Attributes:
        place: its index among the word's occurrences.
        row: its identifier in the corpus.
        number: its number, counted from 1 in the order of the text.
        left, keyword, right: the word with its context, each on one line.
        sense: its label, "" for none.
        group: its group's number; -1 for none.
        cosine: to the chosen occurrence or the visitor's sentence; None without either.
    """

    place: int
    row: int
    number: int
    left: str
    keyword: str
    right: str
    sense: str
    group: int
    cosine: float | None


@dataclass(frozen=True, eq=False)
class Concordance:
    """One page of the listed occurrences.

    Attributes:
        lines: the lines of this page.
        order: (n_shown,) the indices of all listed occurrences, sorted.
        sort: the sort key; text order if the requested key is not available.
        page, n_pages: counted from 1; 1 of 1 if nothing is listed.
    """

    lines: tuple[ConcordanceLine, ...]
    order: IntArray
    sort: str
    page: int
    n_pages: int


def concordance(
    uses: WordUses,
    groups: IntArray,
    cosines: FloatArray | None,
    *,
    sort: str = "text",
    page: int = 1,
    only: str = "",
    within: Sequence[int] = (),
) -> Concordance:
    """Return a page of the occurrences.

    Args:
        uses: the word and its occurrences.
        groups: (n,) the group of each occurrence; -1 for none.
        cosines: (n,) to sort by and to show; None if there is nothing to compare with.
        sort: "text", "left" or "right" for the adjacent word, "sense", "group", or "cosine" with
            the highest first.
        page: counted from 1; the last page if it is too high.
        only: "s1" for a sense, "g0" for a group, "g-1" for no group; "" for all.
        within: the indices selected on the map; ignored if `only` leaves none of them.
    """
    by = "text" if sort == "cosine" and cosines is None else sort
    places = _listed_places(uses, groups, only)
    drawn = places[np.isin(places, within)] if len(within) else places
    places = drawn if len(drawn) else places
    order = places[np.argsort(_keys(uses, groups, cosines, by)[places], kind="stable")]
    n_pages = max(1, -(-len(order) // PAGE_SIZE))
    current = min(max(page, 1), n_pages)
    chosen = order[(current - 1) * PAGE_SIZE : current * PAGE_SIZE].tolist()
    return Concordance(lines_at(uses, groups, cosines, chosen), order, by, current, n_pages)


def lines_at(
    uses: WordUses, groups: IntArray, cosines: FloatArray | None, places: Sequence[int]
) -> tuple[ConcordanceLine, ...]:
    """The occurrences at some indices, in the given order."""
    return tuple(_line(uses, groups, cosines, place) for place in places)


def concordance_rows(
    uses: WordUses, groups: IntArray, cosines: FloatArray | None
) -> list[dict[str, str | int | float]]:
    """A row for each occurrence in text order, with its whole text, for a download.

    The snippet reads "tested sense", the label used in the test, and "fold", the fold that tests
    the occurrence (-1 for none).
    """
    occurrences, trial = uses.occurrences, uses.trial
    return [
        {
            "number": place + 1,
            "text": int(occurrences.texts[place]),
            "start": int(occurrences.spans[place, 0]),
            "end": int(occurrences.spans[place, 1]),
            "word": occurrences.surfaces[place],
            "before": occurrences.left[place],
            "after": occurrences.right[place],
            "sense": uses.labels[place],
            "group": int(groups[place]) + 1 if groups[place] >= 0 else "",
            "tested sense": trial.senses[trial.codes[place]] if trial.codes[place] >= 0 else "",
            "fold": int(trial.folds[place]),
            **({} if cosines is None else {"cosine": float(cosines[place])}),
            "sentence": uses.texts[place],
        }
        for place in range(uses.n)
    ]


def snippet_rows(uses: WordUses, *, most: int | None = None) -> list[SnippetRow]:
    """The occurrences used in the test, or the first of them, as input for the snippet."""
    occurrences, trial = uses.occurrences, uses.trial
    return [
        SnippetRow(
            text=uses.texts[place],
            start=int(occurrences.spans[place, 0]),
            end=int(occurrences.spans[place, 1]),
            sense=trial.senses[trial.codes[place]],
            fold=int(trial.folds[place]),
        )
        for place in np.flatnonzero(trial.codes >= 0)[:most].tolist()
    ]


def _listed_places(uses: WordUses, groups: IntArray, only: str) -> IntArray:
    """The indices of the sense or group in `only`; all if it names none, or an empty one."""
    every = np.arange(uses.n)
    if _ONLY.fullmatch(only):
        is_member = (uses.codes if only[0] == "s" else groups) == int(only[1:])
        return np.flatnonzero(is_member) if is_member.any() else every
    return every


def _keys(uses: WordUses, groups: IntArray, cosines: FloatArray | None, by: str) -> NDArray[Any]:
    """(n,) the sort keys; equal ones stay in text order."""
    occurrences = uses.occurrences
    if by == "cosine" and cosines is not None:
        return -cosines
    if by in {"sense", "group"}:  # occurrences without one come last
        numbers = uses.codes if by == "sense" else groups
        return np.where(numbers < 0, uses.n + 1, numbers)
    if by in {"left", "right"}:
        words = occurrences.left if by == "left" else occurrences.right
        return np.unique(np.array(words, dtype=object), return_inverse=True)[1]
    return np.arange(uses.n)


def _line(
    uses: WordUses, groups: IntArray, cosines: FloatArray | None, place: int
) -> ConcordanceLine:
    left, keyword, right = around(uses, place, _WIDTH)
    return ConcordanceLine(
        place=place,
        row=int(uses.occurrences.rows[place]),
        number=place + 1,
        left=left,
        keyword=keyword,
        right=right,
        sense=uses.labels[place],
        group=int(groups[place]),
        cosine=None if cosines is None else float(cosines[place]),
    )


# --- The word in the model's word table


@dataclass(frozen=True, eq=False)
class InTable:
    """A word in the word table.

    Attributes:
        surface: the spelling that was looked up, the most frequent in this corpus.
        pieces: the tokens whose rows are averaged.
        senses: the labelled senses.
        cosines: (n_senses,) between the row and each sense's centroid at layer 0.
        between: (n_senses, n_senses) cosines of these centroids.
        average: the mean cosine between the row and all occurrences at layer 0.
        problem: the reason why it cannot be compared, a plain sentence; "" if it can.
    """

    surface: str
    pieces: tuple[str, ...]
    senses: tuple[str, ...]
    cosines: FloatArray
    between: FloatArray
    average: float
    problem: str = ""


def in_table(uses: WordUses, corpus: SearchableCorpus, service: EncoderService) -> InTable:
    """The word's row and its similarities at layer 0, or the problem that rules them out.

    Raises:
        ContextlensError: the model cannot be used.
    """
    occurrences = uses.occurrences
    surface = Counter(occurrences.surfaces).most_common(1)[0][0]
    place = occurrences.surfaces.index(surface)
    (tokens,) = service.tokenize(corpus.model, [uses.texts[place]])
    starts, ends = tokens.offsets.T
    start, end = (int(edge) for edge in occurrences.spans[place])
    inside = np.flatnonzero((starts < end) & (ends > start) & (tokens.text_ids == 0))
    pieces = tuple(tokens.tokens[i] for i in inside)
    row = service.word_rows(corpus.model, tokens.token_ids[inside]).mean(axis=0)
    problem = _problem(corpus, len(row))
    if problem:
        none = np.zeros(0, dtype=np.float32)
        return InTable(surface, pieces, (), none, none.reshape(0, 0), float("nan"), problem)
    units = units_at(uses, corpus, 0)
    centres = centroids(units, uses.codes, len(uses.senses))
    return InTable(
        surface=surface,
        pieces=pieces,
        senses=uses.senses,
        cosines=cosines_to(centres, row),
        between=cosine_table(centres),
        average=float(cosines_to(units, row).mean()),
    )


def _problem(corpus: SearchableCorpus, n: int) -> str:
    if 0 not in corpus.layers:
        return say("senses.missing.no_layer_0")
    if n != corpus.n_dims:
        return say("senses.missing.table_dims", n=n, other=corpus.n_dims)
    return ""


# --- One word in one corpus at one layer


@dataclass(frozen=True, eq=False)
class Senses:
    """One word in one corpus, as a view shows it.

    Attributes:
        uses: the word, its occurrences and their labels.
        layer: the layer shown.
        course: the data at every layer.
        grouping: the groups at this layer.
        chosen: the index of the chosen occurrence; None for none.
        sentence: the visitor's sentence; None without one.
        cosines: (n,) to the visitor's sentence, or else to the chosen occurrence; None without
        either.
        cosine_to: the target of the cosines: "own", "chosen" or "".
        concordance: the page of the concordance that is shown.
        notes: further notes, each one plain sentence.
    """

    uses: WordUses
    layer: int
    course: Course
    grouping: Grouping
    chosen: int | None
    sentence: OwnSentence | None
    cosines: FloatArray | None
    cosine_to: Literal["own", "chosen", ""]
    concordance: Concordance
    notes: tuple[str, ...]

    @property
    def layers(self) -> tuple[int, ...]:
        """The corpus's layers."""
        return self.course.layers

    @property
    def places(self) -> FloatArray:
        """(n, 2) the occurrences on this layer's plane."""
        return self.course.at(self.layer).places

    @property
    def separation(self) -> Separation | None:
        """The separation of the labelled senses at this layer; None if it cannot be tested."""
        return self.course.separation(self.layer)


def senses_of(
    view: ViewState, service: EncoderService, open_stored: OpenStored = no_store
) -> Senses | MissingWord:
    """The senses that a view shows, or the reason why its word has none.

    Args:
        view: the current view.
        service: encodes texts of a live corpus, and the visitor's sentence.
        open_stored: opens a stored corpus by its name.

    Raises:
        ContextlensError: the corpus or the model cannot be used.
    """
    return senses_in(corpus_of(view, service, open_stored), view, service)


def senses_in(
    corpus: SearchableCorpus, view: ViewState, service: EncoderService
) -> Senses | MissingWord:
    """The senses that a view shows in a corpus that is open already."""
    typed = WORD.of(view).strip() or first_word(view, corpus)
    uses = word_in(corpus, typed, column_of(view, corpus))
    if isinstance(uses, MissingWord):
        return uses
    layer = view.layer_among(corpus.layers)
    units = units_at(uses, corpus, layer)
    course = course_of(uses, corpus)
    grouping = grouping_of(uses, units, layer, GROUPS.of(view))
    chosen = uses.place_of(CHOSEN.of(view))
    sentence = sentence_of(
        OWN.of(view),
        uses,
        corpus,
        service,
        course=course,
        layer=layer,
        units=units,
        groups=grouping.groups,
    )
    cosines, to = _cosines(units, chosen, sentence)
    return Senses(
        uses=uses,
        layer=layer,
        course=course,
        grouping=grouping,
        chosen=chosen,
        sentence=sentence,
        cosines=cosines,
        cosine_to=to,
        concordance=concordance(
            uses,
            grouping.groups,
            cosines,
            sort=SORT.of(view),
            page=ROWS.of(view),
            only=ONLY.asked(view) or "",
        ),
        notes=tuple(_notes(view, corpus, uses, layer)),
    )


def other_view(view: ViewState) -> ViewState | None:
    """The view of the other side of a comparison; None without one, as for the word table."""
    kind = BESIDE.of(view)
    if kind == "word":
        return WORD.put(view, OTHER_WORD.of(view)) if OTHER_WORD.of(view).strip() else None
    if kind == "corpus":
        name = OTHER_CORPUS.asked(view) or OTHER_CORPUS.default
        return CORPUS.put(view, name)
    if kind == "layer":
        return replace(view, layer=OTHER_LAYER.of(view))
    model = OTHER_MODEL.asked(view)
    if kind == "model" and model:
        return replace(view, model=model)
    return None


def beside(
    view: ViewState, one: Senses, service: EncoderService, open_stored: OpenStored = no_store
) -> Senses | MissingWord | None:
    """The other side of a comparison: another word, or the same in another corpus, layer or model.

    "The same" is the word on the page, even if it is the default. None without a comparison.

    Raises:
        ContextlensError: the other corpus or model cannot be used.
    """
    other = other_view(view)
    if other is None:
        return None
    if BESIDE.of(view) != "word":
        other = WORD.put(other, one.uses.word)
    return senses_of(other, service, open_stored)


def table_of(
    view: ViewState, one: Senses, service: EncoderService, open_stored: OpenStored = no_store
) -> InTable | None:
    """The word in the word table; None unless the view compares with the table.

    Raises:
        ContextlensError: the corpus or the model cannot be used.
    """
    if BESIDE.of(view) != "table":
        return None
    return in_table(one.uses, corpus_of(view, service, open_stored), service)


def linked_places(one: Senses, other: Senses, places: Sequence[int]) -> tuple[int, ...]:
    """The indices of the other side's occurrences at the same positions in the same texts.

    Empty if the sides differ in corpus or word.
    """
    if (one.uses.corpus, one.uses.word) != (other.uses.corpus, other.uses.word):
        return ()
    known = {spot: place for place, spot in enumerate(_spots(other))}
    spots = _spots(one)
    return tuple(known[spots[place]] for place in places if spots[place] in known)


def _spots(senses: Senses) -> list[tuple[int, ...]]:
    texts: IntArray = senses.uses.occurrences.texts
    return [
        (int(text), int(start), int(end))
        for text, (start, end) in zip(texts, senses.uses.occurrences.spans, strict=True)
    ]


def _cosines(
    units: FloatArray, chosen: int | None, sentence: OwnSentence | None
) -> tuple[FloatArray | None, Literal["own", "chosen", ""]]:
    if sentence is not None and not sentence.problem:
        return sentence.cosines, "own"
    if chosen is not None:
        return cosines_to(units, units[chosen]), "chosen"
    return None, ""


def _notes(view: ViewState, corpus: SearchableCorpus, uses: WordUses, layer: int) -> list[str]:
    notes = []
    occurrences = uses.occurrences
    if occurrences.is_sample:
        notes.append(say("senses.notes.sample", n=uses.n, total=occurrences.n_total))
    if view.layer is not None and view.layer not in corpus.layers:
        notes.append(say("senses.notes.other_layer", asked=view.layer, layer=layer))
    if isinstance(corpus, LiveCorpus) and corpus.n_cut:
        notes.append(say("senses.notes.cut", n=corpus.n_cut))
    if uses.trial.left_out:
        notes.append(say("senses.notes.single", n=len(uses.trial.left_out)))
    if uses.trial.has_split and uses.trial.how == "folds":
        notes.append(say("senses.no_split"))
    if CORPUS.of(view) == SENTENCES and any(sentence.pair for sentence in view.sentences):
        notes.append(say("meaning.second_text"))
    return notes


# --- The data of the word's map

_HOVER_WIDTH = 40  # characters on each side of the word on hover


@dataclass(frozen=True, eq=False)
class WordMap:
    """The arguments of `figures.senses_map`.

    Attributes:
        places: (n, 2) coordinates by layer.
        spots: the description of each occurrence.
        names, codes: the names behind the colours, and each occurrence's number; -1 for none.
        by: "sense" or "group".
        none: the name for occurrences without a sense or group.
        titles: the title at each layer, plain text: what a point is.
        sentence_places: (2,) by layer, the position of the visitor's sentence; None without one.
        near: the indices of the occurrences nearest to that sentence.
    """

    places: Mapping[int, FloatArray]
    spots: tuple[Spot, ...]
    names: tuple[str, ...]
    codes: IntArray
    by: str
    none: str
    titles: Mapping[int, str]
    sentence_places: Mapping[int, FloatArray] | None
    near: tuple[int, ...]


def word_map_of(senses: Senses, by: str) -> WordMap:
    """The map of a word, coloured by sense if requested and labelled, else by group."""
    uses, course = senses.uses, senses.course
    is_sense = by == "sense" and bool(uses.senses)
    sentence = (
        senses.sentence if senses.sentence is not None and not senses.sentence.problem else None
    )
    return WordMap(
        places={
            layer: placed.places for layer, placed in zip(course.layers, course.placed, strict=True)
        },
        spots=_spots_of(senses),
        names=uses.senses if is_sense else tuple(g.name for g in senses.grouping.descriptions),
        codes=uses.codes if is_sense else senses.grouping.groups,
        by="sense" if is_sense else "group",
        none="no sense" if is_sense else "in no group",
        titles={layer: uses_title_at(uses.word, uses.n, layer) for layer in course.layers},
        sentence_places=None
        if sentence is None
        else dict(zip(course.layers, sentence.places, strict=True)),
        near=() if sentence is None else sentence.near,
    )


def _spots_of(senses: Senses) -> tuple[Spot, ...]:
    uses, groups = senses.uses, senses.grouping.groups.tolist()
    contexts = remembered(
        "senses: contexts",
        uses.key,
        compute=lambda: tuple(around(uses, place, _HOVER_WIDTH) for place in range(uses.n)),
    )
    cosines = senses.cosines
    return tuple(
        Spot(
            *contexts[place],
            sense=uses.labels[place],
            group=f"group {groups[place] + 1}" if groups[place] >= 0 else "",
            cosine=None if cosines is None else float(cosines[place]),
        )
        for place in range(uses.n)
    )


# --- The passport of the numbers


def passport_of(senses: Senses, corpus: SearchableCorpus, service: EncoderService) -> Passport:
    """The passport of a word's occurrences; for a stored corpus, that of its indexing.

    Raises:
        ContextlensError: a live corpus's model cannot be used.
    """
    uses = senses.uses
    if isinstance(corpus, StoredCorpus):
        passport = _stored(corpus)
    else:
        text, layer = uses.texts[0], corpus.layers[0]
        passport = remembered(
            "senses: passport",
            uses.key,
            compute=lambda: service.encode(corpus.model, [text], layers=[layer])[0].passport,
        )
    settings = {
        "pooling": "mean",
        "corpus": uses.corpus,
        "word": uses.word,
        "n_occurrences": uses.n,
        "n_total": uses.occurrences.n_total,
        "senses": uses.column,
        "layer": senses.layer,
        "groups": senses.grouping.method,
    }
    versions = {**passport.versions, "scikit-learn": version("scikit-learn")}
    return replace(passport, settings=settings, versions=versions)


def _stored(corpus: StoredCorpus) -> Passport:
    indexing = corpus.about.indexing
    versions = {name: version(name) for name in ("lancedb", "pyarrow")}
    return Passport(
        indexing.model, indexing.revision, indexing.checksum, indexing.precision, versions
    )


# --- The word on the page, with the selection on its map


@dataclass(frozen=True, eq=False)
class WordResult:
    """A word as the page shows it.

    Attributes:
        view: the current view.
        corpus: the corpus of the word.
        senses: the word.
        word_map: its map.
        drawn: the rows selected on the map; none without a selection.
    """

    view: ViewState
    corpus: SearchableCorpus
    senses: Senses
    word_map: WordMap
    drawn: tuple[int, ...] = ()

    @property
    def is_selected(self) -> bool:
        """True if the concordance lists only a part of the occurrences."""
        return len(self.senses.concordance.order) < self.senses.uses.n

    @property
    def selected(self) -> tuple[int, ...] | None:
        """The indices that stay on the map while others fade; None without a selection."""
        return tuple(self.senses.concordance.order.tolist()) if self.is_selected else None

    @property
    def rows(self) -> tuple[int, ...]:
        """The identifiers of the listed occurrences, in the order of the concordance."""
        rows = self.senses.uses.occurrences.rows
        return tuple(rows[self.senses.concordance.order].tolist())

    @property
    def every_row(self) -> tuple[int, ...]:
        """The identifier of each occurrence, by index."""
        return tuple(self.senses.uses.occurrences.rows.tolist())

    def color(self, place: int) -> str:
        """The colour of an occurrence, the same as that of its point."""
        return color_of_code(int(self.word_map.codes[place]), len(self.word_map.names))

    def mark(self, place: int) -> str:
        """The name behind an occurrence's colour: its sense or its group."""
        code = int(self.word_map.codes[place])
        return self.word_map.names[code] if code >= 0 else self.word_map.none


def senses_again(view: ViewState) -> tuple[Senses, SearchableCorpus]:
    """Compute again the senses that a view shows, so that a session need keep only the view.

    Raises:
        ContextlensError: the corpus is gone, or no longer has the word.
    """
    corpus = corpus_of(view, service(), open_stored)
    senses = senses_in(corpus, view, service())
    if isinstance(senses, MissingWord):
        raise CorpusError(senses.problem)
    return senses, corpus


def result_of(
    view: ViewState,
    corpus: SearchableCorpus,
    service: EncoderService,
    drawn: tuple[str, tuple[int, ...]] | None = None,
) -> WordResult | MissingWord:
    """The content of the page for a view, or the reason why its word has none.

    Args:
        view: the current view.
        corpus: the corpus of the word.
        service: encodes texts of a live corpus, and the visitor's sentence.
        drawn: the name of the word on whose map the visitor selected, and the selected rows.

    Raises:
        ContextlensError: the corpus or the model cannot be used.
    """
    senses = senses_in(corpus, view, service)
    if isinstance(senses, MissingWord):
        return senses
    rows = drawn[1] if drawn is not None and drawn[0] == name_of(senses) else ()
    if rows:
        senses = replace(senses, concordance=_within(senses, view, rows))
    return WordResult(view, corpus, senses, word_map_of(senses, COLOR.of(view)), rows)


def name_of(senses: Senses) -> str:
    """A hash that is the same only for the same occurrences."""
    return hashlib.sha256(senses.uses.key.encode("utf-8", "replace")).hexdigest()[:12]


def color_of_code(code: int, n: int) -> str:
    """The map's colour for number `code` of `n` senses or groups; neutral for -1, none."""
    if code < 0:
        return NEUTRAL
    n_own = n if n <= MAX_COLORED else MAX_COLORED - 1
    return CATEGORICAL[code] if code < n_own else CATEGORICAL[-1]


def arrays(senses: Senses, corpus: SearchableCorpus) -> dict[str, NDArray[Any]]:
    """The arrays of the NPZ download: the vectors at the shown layer, and results from them."""
    uses, course = senses.uses, senses.course
    occurrences = uses.occurrences
    curve = course.curve
    return {
        "rows": occurrences.rows,
        "texts": occurrences.texts,
        "spans": occurrences.spans,
        "layer": np.array(senses.layer),
        "vectors": units_at(uses, corpus, senses.layer).astype(np.float32),
        "layers": np.array(course.layers),
        "places": np.stack([placed.places for placed in course.placed]),
        "groups": senses.grouping.groups,
        "senses": np.array(uses.senses, dtype=np.str_),
        "sense_codes": uses.codes,
        "folds": uses.trial.folds,
        "accuracy": np.array([test.accuracy for test in curve], dtype=np.float64),
        "interval": np.array([test.interval for test in curve], dtype=np.float64).reshape(-1, 2),
        "silhouette": np.array([test.silhouette for test in curve], dtype=np.float64),
    }


def _within(senses: Senses, view: ViewState, rows: Sequence[int]) -> Concordance:
    places = [place for row in rows if (place := senses.uses.place_of(row)) is not None]
    return concordance(
        senses.uses,
        senses.grouping.groups,
        senses.cosines,
        sort=SORT.of(view),
        page=ROWS.of(view),
        only=ONLY.asked(view) or "",
        within=places,
    )
