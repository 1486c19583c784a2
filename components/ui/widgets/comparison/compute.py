"""Meaning in context, from a view to what is compared; shared by its page and the home page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from components.analysis.baseline import N_PAIRS, SEED, Band, Baseline
from components.analysis.similarity import Comparison, Item, compare
from components.analysis.words import POOLINGS, Pooling, pool, token_positions
from components.core import EncoderService, Encoding, ModelCard
from components.core.errors import RequestError
from components.core.schema import FloatArray, Passport
from components.core.words import Span, split_words
from components.figures.theme import color_of
from components.ui.state.view import Sentence, ViewState, letter
from components.ui.widgets.chips import ChipRow

__all__ = ["Meaning", "chip_rows", "compute", "pooling_of"]

PAGE = "meaning"


@dataclass(frozen=True, eq=False)
class Chosen:
    """A chosen word that has vectors: where it stands, and its sentence's encoding."""

    item: Item
    span: Span
    encoding: Encoding


@dataclass(frozen=True, eq=False)
class Meaning:
    """What Meaning in context shows for a view.

    Attributes:
        chosen: the words compared, as in `comparison.items`.
        comparison: None where fewer than two words can be compared.
        problems: what keeps chosen words out of the comparison, in a sentence each.
        band: the random-pair baseline, or None while it is being measured.
        baseline_mean: (n_layers, n_dims) the mean that centred cosines take off.
    """

    chosen: tuple[Chosen, ...]
    comparison: Comparison | None
    problems: tuple[str, ...]
    pooling: Pooling
    band: Band | None
    baseline_mean: FloatArray | None

    @property
    def passport(self) -> Passport:
        """The passport behind the numbers, with this page's own settings."""
        own: dict[str, Any] = {"pooling": self.pooling, "centred": self.baseline_mean is not None}
        if self.band is not None:
            own |= {"baseline_pairs": N_PAIRS, "baseline_seed": SEED}
        encoded = self.chosen[0].encoding.passport
        return replace(encoded, settings={**encoded.settings, **own})

    @property
    def key(self) -> str:
        """Which sentence each letter stands for, in one line."""
        own = [c for c in self.chosen if c.item.label]
        return " · ".join(f"{c.item.label}: {_cut(c.encoding.text, 70)}" for c in own)


def pooling_of(view: ViewState) -> Pooling:
    """The chosen pooling; mean where the address names none that exists."""
    asked = view.control(PAGE, "pooling", "mean")
    return next((p for p in POOLINGS if p == asked), "mean")


def chip_rows(view: ViewState) -> list[ChipRow]:
    """The sentences and references as rows of chips."""
    return [
        ChipRow(
            letter(i), s.text, color_of(i), _chosen(s), note=_missing(s, "sentence"), warning=True
        )
        for i, s in enumerate(view.sentences)
    ] + [
        ChipRow(
            "", s.text, color_of(i), _span(s), "reference", _missing(s, "reference"), warning=True
        )
        for i, s in enumerate(view.references, start=len(view.sentences))
    ]


def compute(
    view: ViewState, service: EncoderService, card: ModelCard, baseline: Baseline | None
) -> Meaning:
    """Encode the sentences and compare their chosen words."""
    sentences = [*view.sentences, *view.references]
    usable = [i for i, s in enumerate(sentences) if _is_ready(s, i < len(view.sentences))]
    encodings = service.encode(view.model, [sentences[i].text for i in usable])
    chosen, problems = [], []
    for i, encoding in zip(usable, encodings, strict=True):
        span = _span(sentences[i])
        try:
            token_positions(encoding, span or (0, 0))
        except RequestError as exc:
            problems.append(f"{_item(view, i).label or 'A reference'}: {exc}")
        else:
            chosen.append(Chosen(_item(view, i), span or (0, 0), encoding))
    pooling = pooling_of(view)
    centred = bool(view.control(PAGE, "centred", default=False)) and baseline is not None
    return Meaning(
        chosen=tuple(chosen),
        comparison=_compare(chosen, service, card, pooling, baseline if centred else None),
        problems=tuple(problems),
        pooling=pooling,
        band=None if baseline is None else baseline.band(pooling, centred=centred),
        baseline_mean=baseline.centre(pooling)[0] if centred and baseline is not None else None,
    )


def _cut(text: str, longest: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= longest else flat[: longest - 1] + "…"


def _is_ready(sentence: Sentence, own: bool) -> bool:
    return not _missing(sentence, "sentence" if own else "reference")


def _missing(sentence: Sentence, role: str) -> str:
    if not sentence.text.strip():
        return f"This {role} is empty. Type something, or take it away."
    if role == "sentence" and _chosen(sentence) is None:
        return "Choose a word of this sentence."
    return ""


def _chosen(sentence: Sentence) -> Span | None:
    """The chosen span, if it begins where a word begins and ends where one ends."""
    if sentence.word is None:
        return None
    starts, ends = zip(*split_words(sentence.text) or [(-1, -1)], strict=True)
    whole = sentence.word[0] in starts and sentence.word[1] in ends
    return sentence.word if whole else None


def _span(sentence: Sentence) -> Span | None:
    """The chosen span; of a reference without one, the whole text."""
    return _chosen(sentence) or ((0, len(sentence.text)) if sentence.text.strip() else None)


def _item(view: ViewState, index: int) -> Item:
    own = index < len(view.sentences)
    sentence = view.sentences[index] if own else view.references[index - len(view.sentences)]
    word = sentence.text[slice(*(_span(sentence) or (0, 0)))]
    return Item(letter(index) if own else "", word, "sentence" if own else "reference", index)


def _compare(
    chosen: Sequence[Chosen],
    service: EncoderService,
    card: ModelCard,
    pooling: Pooling,
    centre: Baseline | None,
) -> Comparison | None:
    if len(chosen) < 2 or not any(c.item.role == "sentence" for c in chosen):
        return None
    positions = [token_positions(c.encoding, c.span) for c in chosen]
    vectors = [
        pool(c.encoding.hidden[:, where], pooling)
        for c, where in zip(chosen, positions, strict=True)
    ]
    static = [
        pool(service.word_rows(card.id, c.encoding.token_ids[where]), pooling)
        for c, where in zip(chosen, positions, strict=True)
    ]
    return compare(
        [c.item for c in chosen],
        np.stack(vectors),
        np.stack(static),
        layers=chosen[0].encoding.layers,
        centre=None if centre is None else centre.centre(pooling),
    )
