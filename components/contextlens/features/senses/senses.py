"""One word in one corpus at one layer, as a view of the page shows it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.sense_names import SenseNames
from contextlens.analysis.separation import Separation, cosines_to
from contextlens.content.language import say
from contextlens.core import EncoderService
from contextlens.core.byte_cache import remembered
from contextlens.core.errors import CorpusError
from contextlens.core.schema import FloatArray, Passport
from contextlens.corpus.live import LiveCorpus
from contextlens.corpus.searchable import SearchableCorpus
from contextlens.corpus.store.stored_corpus import StoredCorpus
from contextlens.features.senses.concordance import Concordance, concordance
from contextlens.features.senses.controls import (
    CHOSEN,
    COLOR,
    GROUPS,
    MAX_LISTED_STRAYS,
    ONLY,
    OWN,
    ROWS,
    SORT,
)
from contextlens.features.senses.corpora import corpus_of, first_word
from contextlens.features.senses.groups import Grouping, grouping_of
from contextlens.features.senses.layers import WordLayers, units_at, word_layers
from contextlens.features.senses.occurrences import MissingWord, WordUses, column_of, word_in
from contextlens.features.senses.own_sentence import OwnSentence, sentence_of
from contextlens.features.senses.separation_curve import SeparationCurve
from contextlens.features.senses.word_map import WordMap, word_map_of
from contextlens.jobs import JobKind, Report, Task
from contextlens.ui.corpora.controls import ALL_WORDS, COLLECTION, SENTENCES, WORD
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets.passages import Passage

WORDS = JobKind(
    "words at every layer",
    n_at_once=2,
    n_at_once_each=1,
    forgotten_seconds=30.0,
    first_words="Reading the word",
)
_STRAY_WIDTH = 90  # characters on each side of the word
_MAX_AT_ONCE = 4_000
"""Up to this product of occurrences and layers, no job is needed: some tenths of a second."""
_MAX_CHARACTERS = 20_000
"""Up to so many characters of texts to read, no job is needed: under a second."""
_LAYERS_SHARE = 0.5
"""The progress when all layers are read; the groups at one layer are the rest of the work."""
Drawn = tuple[str, tuple[int, ...]]
"""A selection on a map: the digest of its word's occurrences, and the selected rows."""


@dataclass(frozen=True, eq=False)
class Senses:
    """One word in one corpus, as a view shows it.

    Attributes:
        view: the view.
        corpus: the corpus of the word.
        uses: the word, its occurrences and their labels.
        layer: the layer shown.
        by_layer: the data at every layer.
        grouping: the groups at this layer.
        chosen: the index of the chosen occurrence; None for none.
        sentence: the visitor's sentence; None without one.
        cosines: (n,) to the visitor's sentence, or else to the chosen occurrence; None without
            either.
        cosine_to: the target of the cosines: "own", "chosen" or "".
        concordance: the page of the concordance that is shown.
        is_drawn: True if occurrences are selected on the map.
    """

    view: ViewState
    corpus: SearchableCorpus
    uses: WordUses
    layer: int
    by_layer: WordLayers
    grouping: Grouping
    chosen: int | None
    sentence: OwnSentence | None
    cosines: FloatArray | None
    cosine_to: Literal["own", "chosen", ""]
    concordance: Concordance
    is_drawn: bool = False

    @property
    def separation(self) -> Separation | None:
        """The separation of the labelled senses at this layer; None if it cannot be tested."""
        return self.by_layer.separation(self.layer)

    @property
    def curve(self) -> SeparationCurve | None:
        """The test at every layer; None if the senses cannot be tested."""
        curve = self.by_layer.curve
        return SeparationCurve(self.uses, curve, self.layer) if curve else None

    @cached_property
    def word_map(self) -> WordMap:
        """The map of the word."""
        return word_map_of(
            self.uses,
            self.by_layer,
            self.grouping.groups,
            self.cosines,
            self.sentence,
            COLOR.of(self.view),
        )

    @property
    def is_selected(self) -> bool:
        """True if the concordance lists only a part of the occurrences."""
        return len(self.concordance.order) < self.uses.n

    @property
    def selected(self) -> tuple[int, ...] | None:
        """The indices that stay on the map while others fade; None without a selection."""
        return tuple(self.concordance.order.tolist()) if self.is_selected else None

    @property
    def listed_rows(self) -> tuple[int, ...]:
        """The identifiers of the listed occurrences, in the order of the concordance."""
        return tuple(self.uses.occurrences.rows[self.concordance.order].tolist())

    @property
    def rows(self) -> tuple[int, ...]:
        """The identifier of each occurrence, by index."""
        return tuple(self.uses.occurrences.rows.tolist())

    @property
    def chosen_row(self) -> int | None:
        """The identifier of the chosen occurrence; None for none."""
        return None if self.chosen is None else self.rows[self.chosen]

    @property
    def n_strays(self) -> int:
        """The number of uses that the test at this layer gives another sense than their own."""
        return 0 if self.separation is None else self.separation.n - self.separation.right

    def strays(self) -> list[Passage]:
        """The first of these uses, each with its sense and the one that it is taken for."""
        test, trial = self.separation, self.uses.trial
        if test is None:
            return []
        passages = []
        for index in test.strays(trial).tolist()[:MAX_LISTED_STRAYS]:
            own, other = trial.senses[trial.codes[index]], trial.senses[test.predicted[index]]
            color = self.word_map.color(index) if self.word_map.by == "sense" else ""
            note = say("senses.strays.taken", own=own, other=other)
            passages.append(Passage(self.uses.around(index, _STRAY_WIDTH), note, color))
        return passages

    def notes(self) -> Iterator[str]:
        """Yield further notes, each one plain sentence."""
        occurrences, trial = self.uses.occurrences, self.uses.trial
        if occurrences.is_sample:
            yield say("senses.notes.sample", n=self.uses.n, total=occurrences.n_total)
        if self.view.layer is not None and self.view.layer not in self.corpus.layers:
            yield say("senses.notes.other_layer", asked=self.view.layer, layer=self.layer)
        if isinstance(self.corpus, LiveCorpus) and (n := self.corpus.n_cut(self.uses.word)):
            yield say("senses.notes.cut", n=n)
        if trial.left_out:
            yield say("senses.notes.single", n=len(trial.left_out))
        if trial.has_split and trial.how == "folds":
            yield say("senses.no_split")
        if COLLECTION.of(self.view) == SENTENCES and any(s.pair for s in self.view.sentences):
            yield say("meaning.second_text")

    def passport(self, service: EncoderService) -> Passport:
        """The passport of the word's occurrences; for a corpus indexed exactly, that of it.

        Raises:
            ContextlensError: a live corpus's model cannot be used.
        """
        uses, corpus = self.uses, self.corpus
        if isinstance(corpus, StoredCorpus) and not corpus.is_read:
            passport = _indexing_passport(corpus)
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
            "layer": self.layer,
            "groups": self.grouping.method,
        }
        versions = {**passport.versions, "scikit-learn": version("scikit-learn")}
        return replace(passport, settings=settings, versions=versions)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The vectors at the shown layer, and results from them, as in the NPZ file."""
        uses, by_layer = self.uses, self.by_layer
        curve = by_layer.curve
        return {
            "rows": uses.occurrences.rows,
            "texts": uses.occurrences.texts,
            "spans": uses.occurrences.spans,
            "sentences": np.array(json.dumps(uses.texts)),
            "layer": np.array(self.layer),
            "vectors": units_at(uses, self.corpus, self.layer).astype(np.float32),
            "layers": np.array(by_layer.layers),
            "places": np.stack([plane.positions for plane in by_layer.planes]),
            "groups": self.grouping.groups,
            "senses": np.array(uses.senses, dtype=np.str_),
            "sense_codes": uses.codes,
            "tested_senses": np.array(uses.trial.senses, dtype=np.str_),
            "tested_codes": uses.trial.codes,
            "folds": uses.trial.folds,
            "accuracy": np.array([test.accuracy for test in curve], dtype=np.float64),
            "interval": np.array([t.interval for t in curve], dtype=np.float64).reshape(-1, 2),
            "silhouette": np.array([test.silhouette for test in curve], dtype=np.float64),
        }


def senses_of(view: ViewState, service: EncoderService) -> Senses | MissingWord:
    """The senses that a view shows in the corpus that it names, see `senses_in`."""
    return senses_in(corpus_of(view, service), view, service)


def senses_in(
    corpus: SearchableCorpus,
    view: ViewState,
    service: EncoderService,
    drawn: Drawn | None = None,
    names: SenseNames | None = None,
) -> Senses | MissingWord:
    """The senses that a view shows in an open corpus, or the reason why its word has none.

    Args:
        corpus: the corpus of the word.
        view: the current view.
        service: encodes texts of a live corpus, and the visitor's sentence.
        drawn: the selection on a map, which counts if the map is that of this word.
        names: the names of the word's senses, if it is one of the ready corpus.

    Raises:
        ContextlensError: the corpus or the model cannot be used.
    """
    uses = uses_in(corpus, view)
    if isinstance(uses, MissingWord):
        return uses
    layer = view.layer_among(corpus.layers)
    units = units_at(uses, corpus, layer)
    by_layer = word_layers(uses, corpus)
    grouping = grouping_of(uses, units, layer, GROUPS.of(view))
    sentence = sentence_of(
        OWN.of(view),
        uses,
        corpus,
        service,
        by_layer=by_layer,
        layer=layer,
        units=units,
        groups=grouping.groups,
        names=names,
    )
    chosen = uses.index_of(CHOSEN.of(view))
    cosines: FloatArray | None = None
    cosine_to: Literal["own", "chosen", ""] = ""
    if sentence is not None and not sentence.problem:
        cosines, cosine_to = sentence.cosines, "own"
    elif chosen is not None:
        cosines, cosine_to = cosines_to(units, units[chosen]), "chosen"
    drawn_rows = drawn[1] if drawn is not None and drawn[0] == uses.digest else ()
    indices = [uses.index_of(row) for row in drawn_rows]
    return Senses(
        view=view,
        corpus=corpus,
        uses=uses,
        layer=layer,
        by_layer=by_layer,
        grouping=grouping,
        chosen=chosen,
        sentence=sentence,
        cosines=cosines,
        cosine_to=cosine_to,
        concordance=concordance(
            uses,
            grouping.groups,
            cosines,
            sort=SORT.of(view),
            page=ROWS.of(view),
            only=ONLY.asked(view) or "",
            within=[index for index in indices if index is not None],
        ),
        is_drawn=bool(drawn_rows),
    )


def reading_task(corpus: SearchableCorpus, view: ViewState) -> Task | None:
    """The work that reads a word at every layer; None if the word is missing or read quickly."""
    uses = uses_in(corpus, view)
    if not isinstance(uses, WordUses):
        return None
    is_long = sum(map(len, set(uses.texts))) > _MAX_CHARACTERS
    if uses.n * len(corpus.layers) <= _MAX_AT_ONCE and not is_long:
        return None
    layer, how = view.layer_among(corpus.layers), GROUPS.of(view)

    def work(report: Report) -> bool:
        report("Reading the word at every layer", 0.0)
        word_layers(uses, corpus)
        report(f"Looking for groups at layer {layer}", _LAYERS_SHARE)
        grouping_of(uses, units_at(uses, corpus, layer), layer, how)
        return True

    return Task(("senses", uses.key, layer, how), WORDS, work)


def uses_in(corpus: SearchableCorpus, view: ViewState) -> WordUses | MissingWord:
    """The occurrences of the word that a view names, or else of the default word."""
    typed = WORD.of(view).strip()
    word = first_word(view, corpus) if typed in {"", ALL_WORDS} else typed
    return word_in(corpus, word, column_of(view, corpus))


def senses_again(view: ViewState, service: EncoderService) -> Senses:
    """Compute again the senses that a view shows, so that a session need keep only the view.

    Raises:
        ContextlensError: the corpus is gone, or no longer has the word.
    """
    senses = senses_of(view, service)
    if isinstance(senses, MissingWord):
        raise CorpusError(senses.problem)
    return senses


def _indexing_passport(corpus: StoredCorpus) -> Passport:
    indexing = corpus.about.indexing
    versions = {name: version(name) for name in ("lancedb", "pyarrow")}
    return Passport(
        indexing.model, indexing.revision, indexing.checksum, indexing.precision, versions
    )
