"""The occurrences of a word: senses, groups and contexts, and the visitor's own sentence."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from contextlens.analysis.separation import (
    Separation,
    Trial,
    centroids,
    cosines_to,
    scaled,
    separation,
    silhouette,
    trial_of,
    two_nearest,
)
from contextlens.content.language import say
from contextlens.content.wording import shortened
from contextlens.core import EncoderService
from contextlens.core.byte_cache import remembered
from contextlens.core.errors import ContextlensError, RequestError
from contextlens.core.schema import Encoding, FloatArray, IntArray
from contextlens.core.words import Span, find_words
from contextlens.corpus.searchable import Occurrences, SearchableCorpus, WordCount
from contextlens.features.senses import measures
from contextlens.features.senses.controls import FOUND, GUESSED, LABELS, NO_LABELS
from contextlens.features.senses.measures import Placed, first_placed, next_placed
from contextlens.maps.typical import count_terms, typical_of
from contextlens.ui.corpora.words import context
from contextlens.ui.state.view import ViewState

# --- A word in a corpus: its occurrences

MOST = 2_000
"""Maximum number of occurrences; a word with more is represented by a random, seeded sample."""
LONGEST_WORD = 64
_LABEL_TITLES = (
    *("sense", "senses", "meaning", "meanings", "sense_id", "word_sense"),
    *("label", "labels", "sentiment", "class", "category", "tag"),
)
"""Titles of a column that holds senses, the likeliest first."""


@dataclass(frozen=True)
class MissingWord:
    """A word that the corpus does not have.

    Attributes:
        word: the word as typed, without surrounding blanks.
        problem: the reason, one plain sentence.
        similar: words with a similar spelling, nearest first.
        inside: longer words that contain it, most frequent first.
    """

    word: str
    problem: str
    similar: tuple[WordCount, ...] = ()
    inside: tuple[WordCount, ...] = ()


@dataclass(frozen=True, eq=False)
class WordUses:
    """A word's occurrences in a corpus, without the data of any layer.

    Attributes:
        key: a short key, the same for the same corpus, model, word, labels and split.
        word: the word, casefolded.
        corpus, model: the corpus's title, and the ID of the model behind its vectors.
        occurrences: at most `MOST`, in the order of the text.
        texts: the text of each occurrence.
        column: the title of the labels; "" if there are none.
        labels: the sense of each occurrence; "" for none.
        senses: the distinct labels, the most frequent first.
        codes: (n,) the index in `senses` of each label; -1 for none.
        trial: the test of the senses.
    """

    key: str
    word: str
    corpus: str
    model: str
    occurrences: Occurrences
    texts: tuple[str, ...]
    column: str
    labels: tuple[str, ...]
    senses: tuple[str, ...]
    codes: IntArray
    trial: Trial

    @property
    def n(self) -> int:
        """The number of occurrences."""
        return len(self.occurrences)

    def place_of(self, row: int) -> int | None:
        """The index of an occurrence by its identifier in the corpus, or None."""
        rows = self.occurrences.rows
        place = int(np.searchsorted(rows, row))
        return place if place < len(rows) and int(rows[place]) == row else None


def word_in(corpus: SearchableCorpus, typed: str, column: str) -> WordUses | MissingWord:
    """A word's occurrences in a corpus, or the reason why there are none.

    Args:
        corpus: the corpus to search.
        typed: the word; its case and surrounding blanks do not matter.
        column: the title of the column with its senses; "" for none.
    """
    word = " ".join(typed.split())
    if not word:
        return MissingWord("", say("senses.missing.nothing_typed"))
    if len(word) > LONGEST_WORD:
        return MissingWord(
            shortened(word, LONGEST_WORD),
            say("senses.missing.too_long", n=len(word), most=LONGEST_WORD),
        )
    version = corpus.name, corpus.model, corpus.n_occurrences
    key = repr((*version, word.casefold(), column, corpus.split))
    uses = remembered("senses: word", key, compute=lambda: _uses_of(corpus, word, column, key))
    return uses if uses.n else _missing(corpus, word)


def column_of(view: ViewState, corpus: SearchableCorpus) -> str:
    """The title of the column of senses that a view names, else of the likeliest one, else ""."""
    requested = LABELS.asked(view) or GUESSED
    if requested == NO_LABELS:
        return ""
    if requested.isascii() and requested.isdigit() and int(requested) < len(corpus.columns):
        return corpus.columns[int(requested)]
    titles = {title.strip().casefold(): title for title in corpus.columns if title != corpus.split}
    return next((titles[known] for known in _LABEL_TITLES if known in titles), "")


def _uses_of(corpus: SearchableCorpus, word: str, column: str, key: str) -> WordUses:
    occurrences = corpus.occurrences(word, most=MOST)
    labels = _labels(corpus, occurrences, column) if column else ("",) * len(occurrences)
    split = corpus.column(corpus.split, occurrences.texts) if corpus.split else ()
    trial = trial_of(labels, split)
    counts = {label: labels.count(label) for label in set(labels) - {""}}
    senses = tuple(sorted(counts, key=lambda label: (-counts[label], label)))
    places = {sense: i for i, sense in enumerate(senses)}
    return WordUses(
        key=key,
        word=occurrences.word,
        corpus=corpus.title,
        model=corpus.model,
        occurrences=occurrences,
        texts=corpus.text(occurrences.texts),
        column=column if counts else "",
        labels=labels,
        senses=senses,
        codes=np.array([places.get(label, -1) for label in labels], dtype=np.int64),
        trial=trial,
    )


def _labels(corpus: SearchableCorpus, occurrences: Occurrences, column: str) -> tuple[str, ...]:
    """The label of each occurrence: its text's, or "" if the text marks other occurrences.

    If all labels begin with the word and a colon, they lose both: "python: animal".
    """
    every = [label.strip() for label in corpus.column(column, occurrences.texts)]
    if corpus.has_targets:
        every = [
            label if target else ""
            for label, target in zip(every, occurrences.is_target.tolist(), strict=True)
        ]
    start = f"{occurrences.word}:"
    bare = [label[len(start) :].strip() for label in every]
    prefixed = all(label.casefold().startswith(start) for label in every if label)
    is_long = all(rest for label, rest in zip(every, bare, strict=True) if label)
    return tuple(bare if prefixed and is_long else every)


def _missing(corpus: SearchableCorpus, word: str) -> MissingWord:
    sentence = say("senses.missing.word", word=shortened(word, 40), corpus=corpus.title)
    if any(map(str.isspace, word)):
        return MissingWord(word, f"{sentence} {say('senses.missing.blanks')}")
    similar, inside = corpus.similar(word), corpus.inside(word)
    return MissingWord(word, f"{sentence} {_instead(similar, inside)}", similar, inside)


def _instead(similar: tuple[WordCount, ...], inside: tuple[WordCount, ...]) -> str:
    sentences = []
    if inside:
        sentences.append(say("senses.missing.inside", words=_listed(inside)))
    if similar:
        sentences.append(say("senses.missing.similar", words=_listed(similar)))
    return " ".join(sentences) or say("senses.missing.another")


def _listed(words: tuple[WordCount, ...]) -> str:
    return ", ".join(f"{shortened(count.word, 24)} ({count.n:,})" for count in words[:5])


# --- The context of an occurrence, cut to a length


def around(uses: WordUses, place: int, width: int) -> tuple[str, str, str]:
    """The text before an occurrence, the word itself, and the text after it, see `context`."""
    start, end = (int(edge) for edge in uses.occurrences.spans[place])
    return context(uses.texts[place], (start, end), width)


# --- A word's occurrences at every layer


@dataclass(frozen=True, eq=False)
class Course:
    """The data of a word at every layer of a corpus.

    Attributes:
        layers: the corpus's layers.
        placed: the occurrences on a plane, for each layer.
        curve: the nearest-centroid test at each layer; empty if the senses cannot be tested.
    """

    layers: tuple[int, ...]
    placed: tuple[Placed, ...]
    curve: tuple[Separation, ...]

    def at(self, layer: int) -> Placed:
        """The plane at a layer."""
        return self.placed[self.layers.index(layer)]

    def separation(self, layer: int) -> Separation | None:
        """The test at a layer; None if the senses cannot be tested."""
        return self.curve[self.layers.index(layer)] if self.curve else None


def units_at(uses: WordUses, corpus: SearchableCorpus, layer: int) -> FloatArray:
    """(n, n_dims) float32: the occurrences' vectors at a layer, scaled to length 1."""
    return scaled(corpus.vectors(uses.occurrences, layer))


def course_of(uses: WordUses, corpus: SearchableCorpus) -> Course:
    """The data at every layer; computed once, a layer at a time."""
    return remembered("senses: course", uses.key, compute=lambda: _course(uses, corpus))


def curve_rows(uses: WordUses, curve: Sequence[Separation]) -> list[dict[str, float | int | str]]:
    """A row for each layer, for the table and download of the curve."""
    return [
        {
            "layer": test.layer,
            "accuracy": test.accuracy,
            "right": test.right,
            "tested": test.n,
            "95% from": test.interval[0],
            "95% to": test.interval[1],
            "always guessing": uses.trial.chance,
            "silhouette": test.silhouette,
        }
        for test in curve
    ]


def _course(uses: WordUses, corpus: SearchableCorpus) -> Course:
    """The layers from the last one down, so that its longer direction is the horizontal one."""
    placed: list[Placed] = []
    curve: list[Separation] = []
    for layer in corpus.layers[::-1]:
        units = units_at(uses, corpus, layer)
        placed.append(next_placed(units, placed[-1]) if placed else first_placed(units))
        if not uses.trial.problem:
            curve.append(separation(units, uses.trial, layer))
    return Course(tuple(corpus.layers), tuple(placed[::-1]), tuple(curve[::-1]))


# --- The groups of a word's occurrences at one layer

_N_WORDS = 5
_N_TRIED = 200  # most typical words to choose from; those in several contexts come first
_LEAST = 2  # contexts that count as several
_WIDTH = 200  # characters on each side of an occurrence that are searched for typical words


@dataclass(frozen=True)
class UseGroup:
    """One group of a word's occurrences.

    Attributes:
        number: 0 for the largest.
        n: its number of occurrences.
        words: the typical words of its contexts, in the order of `_typical`.
        central: the indices of the three occurrences nearest to its mean, nearest first.
        senses: the count of each labelled sense in it, the most frequent first.
    """

    number: int
    n: int
    words: tuple[str, ...]
    central: tuple[int, ...]
    senses: tuple[tuple[str, int], ...]

    @property
    def name(self) -> str:
        """Its name, counted from 1."""
        return f"group {self.number + 1}"


@dataclass(frozen=True, eq=False)
class Grouping:
    """The groups at one layer.

    Attributes:
        n_requested: the requested number; 0 for automatic.
        method: "dense" for HDBSCAN, "k" for k-means, "none" for no groups.
        groups: (n,) each occurrence's group; -1 for none.
        descriptions: the groups, the largest first.
        n_none: occurrences in no group.
        silhouette: the silhouette of the groups by cosine distance; nan if it is undefined.
        rand: adjusted Rand index with the labelled senses; nan without at least two of them.
        shuffled: the index that 5 of 100 shufflings of the labels reach; nan in the same cases.
        problem: the reason why there are no groups, one plain sentence; "" if there are.
    """

    n_requested: int
    method: Literal["dense", "k", "none"]
    groups: IntArray
    descriptions: tuple[UseGroup, ...]
    n_none: int
    silhouette: float
    rand: float
    shuffled: float
    problem: str = ""


def grouping_of(uses: WordUses, units: FloatArray, layer: int, how: str) -> Grouping:
    """The groups at a layer: found automatically, or as many as `how` says; computed once."""
    return remembered(
        "senses: groups", uses.key, layer, how, compute=lambda: _grouping(uses, units, how)
    )


def groups_rows(uses: WordUses, grouping: Grouping) -> list[dict[str, str | int]]:
    """A row for each group, for the table and download."""
    return [
        {
            "group": group.name,
            "occurrences": group.n,
            "typical words": ", ".join(group.words),
            "senses": ", ".join(f"{sense} ({n})" for sense, n in group.senses),
            **{
                f"example {i}": "".join(around(uses, place, 60))
                for i, place in enumerate(group.central, 1)
            },
        }
        for group in grouping.descriptions
    ]


def _grouping(uses: WordUses, units: FloatArray, how: str) -> Grouping:
    n_requested = 0 if how == FOUND else int(how)
    nowhere = np.full(uses.n, -1, dtype=np.int64)
    if uses.n < 2:
        return _no_groups(n_requested, nowhere, say("senses.missing.one_use"))
    try:
        groups, method = _groups(units, n_requested)
    except RequestError as exc:
        return _no_groups(n_requested, nowhere, str(exc))
    if method == "none":
        return _no_groups(n_requested, nowhere, say("senses.missing.too_few"))
    words = _typical(uses, units, groups)
    numbers = range(int(groups.max()) + 1)
    has_senses = len(uses.senses) > 1
    return Grouping(
        n_requested=n_requested,
        method=method,
        groups=groups,
        descriptions=tuple(_group(uses, units, groups, i, words.get(i, ())) for i in numbers),
        n_none=int((groups < 0).sum()),
        silhouette=silhouette(units, groups),
        rand=measures.agreement(groups, uses.codes) if has_senses else math.nan,
        shuffled=measures.shuffled_agreement(groups, uses.codes) if has_senses else math.nan,
    )


def _groups(units: FloatArray, n_requested: int) -> tuple[IntArray, Literal["dense", "k", "none"]]:
    """The requested groups; else the dense ones, else those with the highest silhouette."""
    if n_requested:
        return measures.k_groups(units, n_requested), "k"
    dense = measures.dense_groups(units)
    if (dense >= 0).any():
        return dense, "dense"
    k = measures.best_k(units)
    return (measures.k_groups(units, k), "k") if k else (dense, "none")


def _no_groups(n_requested: int, nowhere: IntArray, problem: str) -> Grouping:
    return Grouping(
        n_requested, "none", nowhere, (), len(nowhere), math.nan, math.nan, math.nan, problem
    )


def _group(
    uses: WordUses, units: FloatArray, groups: IntArray, number: int, words: tuple[str, ...]
) -> UseGroup:
    members = np.flatnonzero(groups == number)
    senses = Counter(uses.labels[i] for i in members.tolist() if uses.labels[i])
    ordered = sorted(senses.items(), key=lambda pair: (-pair[1], pair[0]))
    central = tuple(measures.central(units, groups, number))
    return UseGroup(number, len(members), words, central, tuple(ordered))


def _typical(uses: WordUses, units: FloatArray, groups: IntArray) -> dict[int, tuple[str, ...]]:
    """The typical words of the groups' contexts, without the word itself.

    Words in several of a group's contexts come first, then words of its central examples. No other
    words are used: with few contexts, nearly every word is in only one.
    """
    contexts = [around(uses, place, _WIDTH) for place in range(uses.n)]
    terms = count_terms([f"{left} {right}" for left, _, right in contexts])
    every = typical_of(terms, np.arange(uses.n), groups, n_words=_N_TRIED)
    columns = {term: i for i, term in enumerate(terms.terms)}
    often = terms.counts.tocsc() > 0
    typical: dict[int, tuple[str, ...]] = {}
    for number, words in every.items():
        middle = measures.central(units, groups, number)
        places = [often[:, [columns[word]]].nonzero()[0] for word in words]
        several = [(groups[contexts_with] == number).sum() >= _LEAST for contexts_with in places]
        near = [bool(np.isin(contexts_with, middle).any()) for contexts_with in places]
        ordered = sorted(range(len(words)), key=lambda i: (not several[i], not near[i]))
        typical[number] = tuple(words[i] for i in ordered[:_N_WORDS] if several[i] or near[i])
    return typical


# --- A visitor's sentence

N_NEAR = 10
LONGEST_SENTENCE = 2_000


@dataclass(frozen=True)
class SenseMatch:
    """The sense or group closest to a sentence.

    Attributes:
        kind: "sense" or "group".
        names: senses or groups, the nearest first; at least two.
        numbers: the index of each among all senses or groups.
        cosines: to the centroid of each.
        margin: the first cosine less the second.
        low_margin: a tenth of the word's own tested occurrences have a lower margin.
        low_cosine: a twentieth of them have a lower cosine to their nearest centroid.
        verdict: "in" the first; "between" the first two, if the margin is below `low_margin` or
            rounds to 0; "unlike" any, if the cosine is below `low_cosine` in the displayed digits;
            "unclear" if the tested senses do no better at this layer than always guessing one.
    """

    kind: Literal["sense", "group"]
    names: tuple[str, ...]
    numbers: tuple[int, ...]
    cosines: tuple[float, ...]
    margin: float
    low_margin: float
    low_cosine: float
    verdict: Literal["in", "between", "unlike", "unclear"]


@dataclass(frozen=True, eq=False)
class OwnSentence:
    """A visitor's sentence with the word.

    Attributes:
        text: the text as typed.
        span: the span of the word in it; (0, 0) with a problem.
        n_more: further occurrences of the word in it, which are ignored.
        cosines: (n,) to each occurrence at the layer.
        near: the indices of the nearest occurrences, nearest first.
        match: the closest sense or group; None if there are fewer than two.
        places: (n_layers, 2) its position on each layer's plane.
        problem: the reason why it cannot be compared, one plain sentence; "" if it can.
    """

    text: str
    span: Span
    n_more: int
    cosines: FloatArray
    near: tuple[int, ...]
    match: SenseMatch | None
    places: FloatArray
    problem: str = ""


def sentence_of(
    text: str,
    uses: WordUses,
    corpus: SearchableCorpus,
    service: EncoderService,
    *,
    course: Course,
    layer: int,
    units: FloatArray,
    groups: IntArray,
) -> OwnSentence | None:
    """The comparison of a typed sentence; None if nothing is typed.

    Args:
        text: the sentence.
        uses, corpus: the word and its corpus.
        service: encodes the sentence with the corpus's model.
        course: the word's data at every layer.
        layer: the layer shown.
        units: (n, n_dims) the occurrences' scaled vectors at this layer.
        groups: (n,) the occurrences' groups at this layer; -1 for none.
    """
    if not text.strip():
        return None
    try:
        spans = _spans(text, uses.word)
        vectors = _vectors(text, spans[0], corpus, service)
    except ContextlensError as exc:
        nothing = np.zeros(0, dtype=np.float32)
        return OwnSentence(text, (0, 0), 0, nothing, (), None, nothing.reshape(0, 2), str(exc))
    unit = vectors[corpus.layers.index(layer)]
    cosines = cosines_to(units, unit)
    near = np.argsort(-cosines, kind="stable")[:N_NEAR]
    places = [placed.put(vectors[i]) for i, placed in enumerate(course.placed)]
    return OwnSentence(
        text=text,
        span=spans[0],
        n_more=len(spans) - 1,
        cosines=cosines,
        near=tuple(near.tolist()),
        match=_match_of(unit, uses, units, groups, course, layer),
        places=np.array(places, dtype=np.float32).reshape(-1, 2),
    )


def _spans(text: str, word: str) -> list[Span]:
    if len(text) > LONGEST_SENTENCE:
        raise RequestError(
            say("senses.missing.sentence_too_long", n=len(text), most=LONGEST_SENTENCE)
        )
    spans = find_words(text, word)
    if not spans and word in text.casefold():  # a marked span can be several words
        start = text.casefold().index(word)
        whole = text[start : start + len(word)].casefold() == word
        spans = [(start, start + len(word))] if whole and " " in word else []
    if not spans:
        raise RequestError(say("senses.missing.not_in_sentence", word=shortened(word, 40)))
    return spans


def _vectors(
    text: str, span: Span, corpus: SearchableCorpus, service: EncoderService
) -> FloatArray:
    """(n_layers, n_dims) the word's scaled vectors in the sentence, at the corpus's layers."""
    (encoding,) = service.encode(corpus.model, [text], layers=corpus.layers)
    inside = _inside(encoding, span)
    if not inside.any():
        raise RequestError(say("senses.missing.beyond_model"))
    vectors = encoding.hidden[:, inside].mean(axis=1)
    if vectors.shape[1] != corpus.n_dims:
        raise RequestError(
            say("senses.missing.other_dims", n=vectors.shape[1], other=corpus.n_dims)
        )
    return scaled(vectors)


def _inside(encoding: Encoding, span: Span) -> np.ndarray:
    starts, ends = encoding.offsets.T
    inside: np.ndarray = (starts < span[1]) & (ends > span[0]) & (encoding.text_ids == 0)
    return inside


def _match_of(
    unit: FloatArray,
    uses: WordUses,
    units: FloatArray,
    groups: IntArray,
    course: Course,
    layer: int,
) -> SenseMatch | None:
    """The closest labelled sense if senses can be tested, else the closest group."""
    tested = course.separation(layer)
    kind: Literal["sense", "group"] = "sense"
    names, codes = uses.trial.senses, uses.trial.codes
    if tested is None:
        kind, codes = "group", groups
        names = tuple(f"group {i + 1}" for i in range(int(groups.max()) + 1))
        trial = trial_of([names[i] if i >= 0 else "" for i in groups.tolist()])
        if trial.problem:
            return None
        tested = separation(units, trial, layer)
    centres = centroids(units, codes, len(names))
    cosines = cosines_to(centres, unit)
    order = [i for i in np.argsort(-cosines, kind="stable").tolist() if (codes == i).any()]
    _, _, best, second = two_nearest(unit[None], centres)
    margin = float(best[0] - second[0])
    verdict: Literal["in", "between", "unlike", "unclear"] = "in"
    if margin < tested.low_margin or round(margin, 3) == 0:
        verdict = "between"
    if round(float(best[0]), 2) < round(tested.low_cosine, 2):
        verdict = "unlike"
    if kind == "sense" and round(100 * tested.interval[0]) <= round(100 * uses.trial.chance):
        verdict = "unclear"
    return SenseMatch(
        kind=kind,
        names=tuple(names[i] for i in order),
        numbers=tuple(order),
        cosines=tuple(float(cosines[i]) for i in order),
        margin=margin,
        low_margin=tested.low_margin,
        low_cosine=tested.low_cosine,
        verdict=verdict,
    )
