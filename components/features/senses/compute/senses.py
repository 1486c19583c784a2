"""All that the page shows of one word in one corpus at one layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from components.analysis.separation import Separation, cosines_to
from components.content.language import say
from components.core import EncoderService
from components.core.schema import FloatArray, IntArray
from components.corpus.live import LiveCorpus
from components.corpus.searchable import SearchableCorpus
from components.features.senses.compute.concordance import Concordance, concordance
from components.features.senses.compute.corpora import (
    OpenStored,
    corpus_of,
    first_word,
    no_store,
)
from components.features.senses.compute.course import Course, course_of, units_at
from components.features.senses.compute.groups import Grouping, grouping_of
from components.features.senses.compute.own import Own, own_of
from components.features.senses.compute.table import InTable, in_table
from components.features.senses.compute.word import Found, Missing, column_of, word_in
from components.features.senses.controls import (
    BESIDE,
    CHOSEN,
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
from components.ui.state.view import ViewState

__all__ = ["Senses", "beside", "linked_places", "other_view", "senses_in", "senses_of", "table_of"]


@dataclass(frozen=True, eq=False)
class Senses:
    """One word in one corpus, as a view looks at it.

    Attributes:
        found: the word, its occurrences and their labels.
        layer: the layer shown.
        course: what there is at every layer.
        grouping: the groups at this layer.
        chosen: the place of the occurrence that is looked at; None for none.
        own: the visitor's sentence; None where none is typed.
        cosines: (n,) to the own sentence, or else to the chosen occurrence; None without either.
        cosine_to: which of them: "own", "chosen" or "".
        concordance: the page of it that is shown.
        notes: what else to know, a sentence of plain text each.
    """

    found: Found
    layer: int
    course: Course
    grouping: Grouping
    chosen: int | None
    own: Own | None
    cosines: FloatArray | None
    cosine_to: Literal["own", "chosen", ""]
    concordance: Concordance
    notes: tuple[str, ...]

    @property
    def layers(self) -> tuple[int, ...]:
        """The layers that the corpus has."""
        return self.course.layers

    @property
    def places(self) -> FloatArray:
        """(n, 2) the occurrences on this layer's plane."""
        return self.course.at(self.layer).places

    @property
    def separation(self) -> Separation | None:
        """How well the labelled senses separate at this layer; None where that cannot be tested."""
        return self.course.separation(self.layer)


def senses_of(
    view: ViewState, service: EncoderService, open_stored: OpenStored = no_store
) -> Senses | Missing:
    """What a view shows, or why there is nothing of its word.

    Args:
        view: what is chosen.
        service: encodes what is asked of a live corpus, and the own sentence.
        open_stored: opens a stored corpus by its name.

    Raises:
        ContextlensError: the corpus or the model cannot be used.
    """
    return senses_in(corpus_of(view, service, open_stored), view, service)


def senses_in(
    corpus: SearchableCorpus, view: ViewState, service: EncoderService
) -> Senses | Missing:
    """The same in a corpus that is open already."""
    typed = WORD.of(view).strip() or first_word(view, corpus)
    found = word_in(corpus, typed, column_of(view, corpus))
    if isinstance(found, Missing):
        return found
    layer = view.layer_among(corpus.layers)
    units = units_at(found, corpus, layer)
    course = course_of(found, corpus)
    grouping = grouping_of(found, units, layer, GROUPS.of(view))
    chosen = found.place_of(CHOSEN.of(view))
    own = own_of(
        OWN.of(view),
        found,
        corpus,
        service,
        course=course,
        layer=layer,
        units=units,
        groups=grouping.groups,
    )
    cosines, to = _cosines(units, chosen, own)
    return Senses(
        found=found,
        layer=layer,
        course=course,
        grouping=grouping,
        chosen=chosen,
        own=own,
        cosines=cosines,
        cosine_to=to,
        concordance=concordance(
            found,
            grouping.groups,
            cosines,
            sort=SORT.of(view),
            page=ROWS.of(view),
            only=ONLY.asked(view) or "",
        ),
        notes=tuple(_notes(view, corpus, found, layer)),
    )


def other_view(view: ViewState) -> ViewState | None:
    """The view of what stands beside it; None where nothing that has a view of its own does."""
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
) -> Senses | Missing | None:
    """What stands beside a word: it in another corpus, layer or model, or another word.

    The word is the one shown, though none be typed.

    Raises:
        ContextlensError: the other corpus or model cannot be used.
    """
    other = other_view(view)
    if other is None:
        return None
    if BESIDE.of(view) != "word":
        other = WORD.put(other, one.found.word)
    return senses_of(other, service, open_stored)


def table_of(
    view: ViewState, one: Senses, service: EncoderService, open_stored: OpenStored = no_store
) -> InTable | None:
    """The word as the word table has it; None where that is not asked for.

    Raises:
        ContextlensError: the corpus or the model cannot be used.
    """
    if BESIDE.of(view) != "table":
        return None
    return in_table(one.found, corpus_of(view, service, open_stored), service)


def linked_places(one: Senses, other: Senses, places: Sequence[int]) -> tuple[int, ...]:
    """The other side's occurrences that stand at the same place of the same text.

    None between two corpora, or two words.
    """
    if (one.found.corpus, one.found.word) != (other.found.corpus, other.found.word):
        return ()
    known = {spot: place for place, spot in enumerate(_spots(other))}
    own = _spots(one)
    return tuple(known[own[place]] for place in places if own[place] in known)


def _spots(own: Senses) -> list[tuple[int, ...]]:
    found: IntArray = own.found.occurrences.texts
    return [
        (int(text), int(start), int(end))
        for text, (start, end) in zip(found, own.found.occurrences.spans, strict=True)
    ]


def _cosines(
    units: FloatArray, chosen: int | None, own: Own | None
) -> tuple[FloatArray | None, Literal["own", "chosen", ""]]:
    if own is not None and not own.problem:
        return own.cosines, "own"
    if chosen is not None:
        return cosines_to(units, units[chosen]), "chosen"
    return None, ""


def _notes(view: ViewState, corpus: SearchableCorpus, found: Found, layer: int) -> list[str]:
    said = []
    own = found.occurrences
    if own.is_sample:
        said.append(say("senses.notes.sample", n=found.n, total=own.n_total))
    if view.layer is not None and view.layer not in corpus.layers:
        said.append(say("senses.notes.other_layer", asked=view.layer, layer=layer))
    if isinstance(corpus, LiveCorpus) and corpus.n_cut:
        said.append(say("senses.notes.cut", n=corpus.n_cut))
    if found.trial.left_out:
        said.append(say("senses.notes.single", n=len(found.trial.left_out)))
    if found.trial.has_split and found.trial.how == "folds":
        said.append(say("senses.no_split"))
    if CORPUS.of(view) == SENTENCES and any(sentence.pair for sentence in view.sentences):
        said.append(say("meaning.second_text"))
    return said
