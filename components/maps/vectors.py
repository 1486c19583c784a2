"""The points of a planned map and their vectors: texts are encoded a few at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from components.core import EncoderService, Encoding, ModelCard
from components.corpus.corpus import Corpus
from components.maps.gathering import Gathered, gather
from components.maps.plan import Plan
from components.maps.progress import OnProgress
from components.maps.request import MapRequest

__all__ = ["gathered"]

_N_TEXTS = 96  # encoded at a time


def gathered(
    request: MapRequest,
    corpus: Corpus,
    card: ModelCard,
    plan: Plan,
    service: EncoderService,
    *,
    on_progress: OnProgress,
    note_speed: Callable[[int, float], None],
) -> Gathered:
    """The points with the vectors of the planned layers.

    Args:
        request, corpus, card, plan: of the map.
        service: encodes the texts.
        on_progress: told how far it is; what it raises ends the work.
        note_speed: told, of some texts after others, how many tokens were encoded, and in how
            many seconds.

    Raises:
        ContextlensError: the texts cannot be encoded, or there is nothing to map in them.
    """
    order = plan.order
    chosen = request.unit == "words" and not request.every_word and corpus.spans is not None
    spans = [corpus.spans[i] for i in order] if chosen and corpus.spans is not None else None
    layers = plan.layers if request.pooling != "pooler" else (card.n_layers,)

    def encodings() -> Iterator[Encoding]:
        for at in range(0, len(order), _N_TEXTS):
            on_progress(f"Reading {plan.n_texts:,} texts", min(1.0, at / plan.n_texts))
            texts = [corpus.texts[i] for i in order[at : at + _N_TEXTS]]
            start = time.monotonic()
            found = service.encode(card.id, texts, layers=layers, checksum=card.checksum)
            note_speed(sum(one.n_tokens for one in found), time.monotonic() - start)
            yield from found

    return gather(
        encodings(),
        unit=request.unit,
        pooling=request.pooling,
        spans=spans,
        only=request.only,
        special=request.special,
        labels={title: [column[i] for i in order] for title, column in corpus.labels.items()},
        most=plan.most,
    )
