"""What each head holds of the parting of senses, over the ambiguous words of the app."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from components.content.ambiguous_words import SenseSentence, ambiguous_words
from components.core import EncoderService, ModelCard
from components.core.errors import RequestError
from components.core.schema import Intervention, Tokens
from components.core.words import Span, find_word
from components.features.why.compute.running import Run, vectors_of
from components.features.why.compute.switch_off import parts_of
from components.features.why.measures.parting import sense_gap
from components.features.why.measures.target import Doubles, weights_of

__all__ = ["HeadCosts", "head_costs"]


@dataclass(frozen=True, eq=False)
class HeadCosts:
    """The gap between cosines of one sense and of two, with each head off.

    Attributes:
        words: that were measured.
        gaps: (n_words,) with all heads on, at the last layer.
        changes: (n_words, n_layers, n_heads) of the gap with that head off.
    """

    words: tuple[str, ...]
    gaps: Doubles
    changes: Doubles

    def dearest(self, n: int) -> list[tuple[int, int]]:
        """Layer and head of those whose absence lowers the mean gap most, the first one first."""
        means = self.changes.mean(axis=0)
        order = np.argsort(means, axis=None, kind="stable")[:n]
        rows, heads = np.unravel_index(order, means.shape)
        return [(int(row) + 1, int(head)) for row, head in zip(rows, heads, strict=True)]


def head_costs(
    service: EncoderService,
    card: ModelCard,
    words: Sequence[str] = (),
    *,
    told: Callable[[str], None] = lambda _: None,
) -> HeadCosts:
    """Switch off every head (to zero) in every sentence of some words, or of all.

    Args:
        service: runs the model; better without a cache.
        card: of the model.
        words: some of the ambiguous words; all where none are given.
        told: hears which word comes next.
    """
    chosen = tuple(words) or tuple(dict.fromkeys(each.word for each in ambiguous_words()))
    gaps, changes = [], []
    for word in chosen:
        told(word)
        own = [each for each in ambiguous_words() if each.word == word]
        runs = list(filter(None, (_plain(each, service, card) for each in own)))
        senses = [sense for sense, _ in runs]
        parts = parts_of(range(1, card.n_layers + 1), card.n_heads, "zero")
        heads = [part for part in parts if part.part == "head"]
        every: list[tuple[Intervention, ...]] = [(), *((head,) for head in heads)]
        vectors = vectors_of(
            [Run(run.text, None, run.weigh, each) for each in every for _, run in runs],
            service,
            card,
            layer=card.n_layers,
        )
        n = len(runs)
        found = [sense_gap(np.stack(vectors[i : i + n]), senses) for i in range(0, len(vectors), n)]
        gaps.append(found[0])
        shape = (card.n_layers, card.n_heads)
        changes.append((np.array(found[1:]) - found[0]).reshape(shape))
    return HeadCosts(chosen, np.array(gaps), np.stack(changes))


def _plain(each: SenseSentence, service: EncoderService, card: ModelCard) -> tuple[str, Run] | None:
    """A sentence's sense and run; None where the model does not read its word."""
    span = find_word(each.text, each.word)
    (tokens,) = service.tokenize(card.id, [each.text])
    try:
        weights_of(tokens, "word", span)
    except RequestError:
        return None
    return each.sense, Run(each.text, None, _weigh(span))


def _weigh(span: Span | None) -> Callable[[Tokens], Doubles]:
    return lambda tokens: weights_of(tokens, "word", span)
