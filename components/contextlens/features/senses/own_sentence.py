"""A visitor's sentence with the word: the sense or group closest to it, and the nearest uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from contextlens.analysis.sense_names import RIGHT, SenseNames
from contextlens.analysis.separation import (
    centroids,
    cosines_to,
    scaled,
    separation,
    trial_of,
    two_nearest,
)
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import percent, quoted, shortened
from contextlens.core import EncoderService
from contextlens.core.errors import ContextlensError, RequestError
from contextlens.core.schema import FloatArray, IntArray
from contextlens.core.words import Span, find_words
from contextlens.corpus.searchable import SearchableCorpus
from contextlens.features.senses.controls import MAX_SENTENCE_CHARACTERS, N_NEAREST_USES, group_name
from contextlens.features.senses.layers import WordLayers
from contextlens.features.senses.occurrences import WordUses
from contextlens.ui.panel import Panel

FORMULA = r"""
**Closest** is the sense with the highest cosine to its centroid, here from all labelled uses.
The **margin** is that cosine less the second's. It lies **between two** where the margin is below
the lowest tenth of the margins that the labelled occurrences get when they are tested themselves;
it is **unlike any** where its cosine is below their lowest twentieth. In the ready corpus, the mean
word vector is subtracted first, and the margin must reach the lowest one from which 90% of tested
occurrences are right: the same rule as on Start here and in Meaning in context.
""".strip()

_CLAIM_WIDTH = 24  # characters on each side of the most similar use


@dataclass(frozen=True)
class SenseMatch:
    """The sense or group closest to a sentence.

    Attributes:
        kind: "sense" or "group".
        names: senses or groups, the nearest first; at least two.
        cosines: to the centroid of each.
        margin: the first cosine less the second.
        low_margin: a tenth of the word's own tested occurrences have a lower margin; of a named
            sense, the lowest margin that gives a name.
        low_cosine: a twentieth of them have a lower cosine to their nearest centroid.
        is_named: True if the names of the ready corpus's senses give the verdict, as on other
            pages; its cosines are then centred.
        verdict: "in" the first; "between" the first two, if the margin is below `low_margin` or
            rounds to 0; "unlike" any, if the cosine is below `low_cosine` in the displayed digits;
            "unclear" if the tested senses do no better at this layer than always guessing one.
    """

    kind: Literal["sense", "group"]
    names: tuple[str, ...]
    cosines: tuple[float, ...]
    margin: float
    low_margin: float
    low_cosine: float
    verdict: Literal["in", "between", "unlike", "unclear"]
    is_named: bool = False


@dataclass(frozen=True, eq=False)
class OwnSentence(Panel):
    """A visitor's sentence with the word.

    Attributes:
        uses: the word and its occurrences.
        layer: the layer shown.
        n_more: further occurrences of the word in it, which are ignored.
        cosines: (n,) to each occurrence at the layer.
        near: the indices of the nearest occurrences, nearest first.
        match: the closest sense or group; None if there are fewer than two.
        positions: (n_layers, 2) its position on each layer's plane.
        problem: the reason why it cannot be compared, one plain sentence; "" if it can.
    """

    uses: WordUses
    layer: int
    n_more: int
    cosines: FloatArray
    near: tuple[int, ...]
    match: SenseMatch | None
    positions: FloatArray
    problem: str = ""
    formula = FORMULA

    def claims(self) -> list[Claim]:
        """The closest sense or group, and the most similar use; none with a problem."""
        if self.problem:
            return []
        index = self.near[0]
        numbers = {
            "context": quoted("".join(self.uses.around(index, _CLAIM_WIDTH)), 80),
            "cosine": float(self.cosines[index]),
        }
        label = self.uses.labels[index]
        nearest = (
            claim("senses.own.nearest_labelled", sense=quoted(label), **numbers)
            if label
            else claim("senses.own.nearest", **numbers)
        )
        return [nearest] if self.match is None else [self._verdict(self.match), nearest]

    def _verdict(self, match: SenseMatch) -> Claim:
        if match.verdict == "unclear":
            return claim("senses.own.unclear", layer=self.layer)
        first, second = (quoted(name) for name in match.names[:2])
        return claim(
            f"senses.own.{match.kind}.{match.verdict}",
            first=first,
            second=second,
            a=match.cosines[0],
            b=match.cosines[1],
            low=match.low_cosine,
        )

    def sure(self) -> list[Claim]:
        """The margin behind the verdict, and the number of ignored occurrences."""
        sure = []
        if self.match is not None and self.match.verdict in {"in", "between"}:
            numbers = {"margin": self.match.margin, "low_margin": self.match.low_margin}
            sure.append(
                claim("senses.own.named_margin", **numbers, right=percent(RIGHT))
                if self.match.is_named
                else claim("senses.own.margin", **numbers)
            )
        if self.n_more:
            sure.append(claim("senses.own.more", n=self.n_more))
        return sure


def sentence_of(
    text: str,
    uses: WordUses,
    corpus: SearchableCorpus,
    service: EncoderService,
    *,
    by_layer: WordLayers,
    layer: int,
    units: FloatArray,
    groups: IntArray,
    names: SenseNames | None = None,
) -> OwnSentence | None:
    """The comparison of a typed sentence; None if nothing is typed.

    Args:
        text: the sentence.
        uses, corpus: the word and its corpus.
        service: encodes the sentence with the corpus's model.
        by_layer: the word's data at every layer.
        layer: the layer shown.
        units: (n, n_dims) the occurrences' scaled vectors at this layer.
        groups: (n,) the occurrences' groups at this layer; -1 for none.
        names: the names of the word's senses in the ready corpus, which decide; None for others.
    """
    if not text.strip():
        return None
    try:
        spans = _spans(text, uses.word)
        plain = _vectors(text, spans[0], corpus, service)
    except ContextlensError as exc:
        none = np.zeros((0, 2), dtype=np.float32)
        return OwnSentence(uses, layer, 0, none[:, 0], (), None, none, str(exc))
    vectors, row = scaled(plain), corpus.layers.index(layer)
    unit = vectors[row]
    cosines = cosines_to(units, unit)
    near = np.argsort(-cosines, kind="stable")[:N_NEAREST_USES]
    positions = [plane.project(vectors[i]) for i, plane in enumerate(by_layer.planes)]
    return OwnSentence(
        uses=uses,
        layer=layer,
        n_more=len(spans) - 1,
        cosines=cosines,
        near=tuple(near.tolist()),
        match=_match_of(unit, uses, units, groups, by_layer, layer)
        if names is None
        else _named_match(names, plain[row], layer),
        positions=np.array(positions, dtype=np.float32).reshape(-1, 2),
    )


def _spans(text: str, word: str) -> list[Span]:
    if len(text) > MAX_SENTENCE_CHARACTERS:
        raise RequestError(
            say("senses.missing.sentence_too_long", n=len(text), most=MAX_SENTENCE_CHARACTERS)
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
    """(n_layers, n_dims) the word's vectors in the sentence, at the corpus's layers."""
    (encoding,) = service.encode(corpus.model, [text], layers=corpus.layers)
    starts, ends = encoding.offsets.T
    inside = (starts < span[1]) & (ends > span[0]) & (encoding.text_ids == 0)
    if not inside.any():
        raise RequestError(say("senses.missing.beyond_model"))
    vectors: FloatArray = encoding.hidden[:, inside].mean(axis=1)
    if vectors.shape[1] != corpus.n_dims:
        raise RequestError(
            say("senses.missing.other_dims", n=vectors.shape[1], other=corpus.n_dims)
        )
    return vectors


def _named_match(names: SenseNames, vector: FloatArray, layer: int) -> SenseMatch:
    """The sense of the ready corpus that the use has, by the rule of all pages."""
    naming, cosines = names.name(vector, layer), names.cosines_at(vector, layer)
    order = np.argsort(-cosines, kind="stable").tolist()
    needed = float(names.margins[layer])
    verdict: Literal["in", "between", "unclear"] = "in" if naming.is_clear else "between"
    return SenseMatch(
        kind="sense",
        names=tuple(str(names.senses[i]) for i in order),
        cosines=tuple(float(cosines[i]) for i in order),
        margin=naming.margin,
        low_margin=needed,
        low_cosine=-1.0,
        verdict=verdict if np.isfinite(needed) else "unclear",
        is_named=True,
    )


def _match_of(
    unit: FloatArray,
    uses: WordUses,
    units: FloatArray,
    groups: IntArray,
    by_layer: WordLayers,
    layer: int,
) -> SenseMatch | None:
    """The closest labelled sense if senses can be tested, else the closest group."""
    tested = by_layer.separation(layer)
    kind: Literal["sense", "group"] = "sense"
    names, codes = uses.trial.senses, uses.trial.codes
    if tested is None:
        kind, codes = "group", groups
        names = tuple(group_name(i) for i in range(int(groups.max()) + 1))
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
        cosines=tuple(float(cosines[i]) for i in order),
        margin=margin,
        low_margin=tested.low_margin,
        low_cosine=tested.low_cosine,
        verdict=verdict,
    )
