"""A sentence that a visitor types: its nearest contexts, and the closest sense or group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from components.analysis.separation import (
    centroids,
    cosines_to,
    scaled,
    separation,
    trial_of,
    two_nearest,
)
from components.content.language import say
from components.content.wording import shortened
from components.core import EncoderService
from components.core.errors import ContextlensError, RequestError
from components.core.schema import Encoding, FloatArray, IntArray
from components.core.words import Span, find_words
from components.corpus.searchable import SearchableCorpus
from components.features.senses.compute.course import Course
from components.features.senses.compute.word import Found

__all__ = ["LONGEST_OWN", "N_NEAR", "Fall", "Own", "own_of"]

N_NEAR = 10
LONGEST_OWN = 2_000


@dataclass(frozen=True)
class Fall:
    """The sense or group that a sentence is closest to.

    Attributes:
        kind: whether these are the labelled senses or the groups found.
        names: senses or groups, the nearest first; at least two.
        numbers: their numbers.
        cosines: to the centroid of each.
        margin: the first cosine less the second.
        low_margin: a tenth of the word's own occurrences, tested, have a lower margin.
        low_cosine: a twentieth of them have a lower cosine to their nearest centroid.
        verdict: "in" the first; "between" the first two, where the margin is below `low_margin`
            or rounds to 0;
            "unlike" any, where the cosine is below `low_cosine` in the digits shown; "unclear"
            where the tested senses do no better at this layer than always guessing one.
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
class Own:
    """A visitor's sentence with the word.

    Attributes:
        text: as it was typed.
        span: where the word stands in it; (0, 0) with a problem.
        n_more: further times that the word stands in it, which do not count.
        cosines: (n,) to each occurrence at the layer.
        near: the places of the nearest occurrences, nearest first.
        fall: the sense or group it is closest to; None where there are not two of them.
        places: (n_layers, 2) where it lies on each layer's plane.
        problem: why it cannot be compared, one sentence of plain text; "" where it can.
    """

    text: str
    span: Span
    n_more: int
    cosines: FloatArray
    near: tuple[int, ...]
    fall: Fall | None
    places: FloatArray
    problem: str = ""


def own_of(
    text: str,
    found: Found,
    corpus: SearchableCorpus,
    service: EncoderService,
    *,
    course: Course,
    layer: int,
    units: FloatArray,
    groups: IntArray,
) -> Own | None:
    """What a typed sentence is near to; None where nothing is typed.

    Args:
        text: the sentence.
        found, corpus: the word and where it is looked up.
        service: encodes the sentence with the corpus's model.
        course: of the word.
        layer: the layer shown.
        units: (n, n_dims) the occurrences' scaled vectors there.
        groups: (n,) their groups there.
    """
    if not text.strip():
        return None
    try:
        spans = _spans(text, found.word)
        vectors = _vectors(text, spans[0], corpus, service)
    except ContextlensError as exc:
        nothing = np.zeros(0, dtype=np.float32)
        return Own(text, (0, 0), 0, nothing, (), None, nothing.reshape(0, 2), str(exc))
    unit = vectors[corpus.layers.index(layer)]
    cosines = cosines_to(units, unit)
    near = np.argsort(-cosines, kind="stable")[:N_NEAR]
    places = [own.put(vectors[i]) for i, own in enumerate(course.placed)]
    return Own(
        text=text,
        span=spans[0],
        n_more=len(spans) - 1,
        cosines=cosines,
        near=tuple(near.tolist()),
        fall=_fall(unit, found, units, groups, course, layer),
        places=np.array(places, dtype=np.float32).reshape(-1, 2),
    )


def _spans(text: str, word: str) -> list[Span]:
    if len(text) > LONGEST_OWN:
        raise RequestError(say("senses.missing.sentence_too_long", n=len(text), most=LONGEST_OWN))
    spans = find_words(text, word)
    if not spans and word in text.casefold():  # a marked span need be no single word
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


def _fall(
    unit: FloatArray,
    found: Found,
    units: FloatArray,
    groups: IntArray,
    course: Course,
    layer: int,
) -> Fall | None:
    """The labelled sense where they can be tested, else the group."""
    tested = course.separation(layer)
    kind: Literal["sense", "group"] = "sense"
    names, codes = found.trial.senses, found.trial.codes
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
    if kind == "sense" and round(100 * tested.interval[0]) <= round(100 * found.trial.chance):
        verdict = "unclear"
    return Fall(
        kind=kind,
        names=tuple(names[i] for i in order),
        numbers=tuple(order),
        cosines=tuple(float(cosines[i]) for i in order),
        margin=margin,
        low_margin=tested.low_margin,
        low_cosine=tested.low_cosine,
        verdict=verdict,
    )
