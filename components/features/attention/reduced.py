"""Attention weights for a page: all heads are computed once and kept reduced, within a bound.

At 512 tokens all heads of the bundled model are 75 MB and those of a large one 400 MB; the page
shows one head at a time, and small pictures of the others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from components.core import EncoderService, Encoding, ModelCard
from components.core.cache import ByteCache
from components.core.errors import RequestError
from components.core.schema import FloatArray
from components.features.attention.measures.heads import Heads, reduce_heads
from components.ui.state.view import Sentence

__all__ = ["Reduced", "head_weights", "reduced"]

_KEPT_BYTES = 96_000_000


@dataclass(frozen=True, eq=False)
class Reduced:
    """A text's encoding without its attentions, and what is kept of those."""

    encoding: Encoding
    heads: Heads


def reduced(
    service: EncoderService, card: ModelCard, sentence: Sentence, pad_to: int | None
) -> Reduced:
    """All heads on a text, reduced; the whole ones of a long text are let go."""
    key = (card.id, card.checksum, sentence.text, sentence.pair, pad_to)

    def compute() -> Reduced:
        encoding = _encode(service, card, sentence, pad_to, None)
        heads = reduce_heads(_weights(encoding), encoding)
        return Reduced(replace(encoding, attentions=None), heads)

    found: Reduced = _cache().get(key, compute)
    return found


def head_weights(
    service: EncoderService,
    card: ModelCard,
    sentence: Sentence,
    pad_to: int | None,
    place: tuple[int, int],
) -> FloatArray:
    """(n_tokens, n_tokens) weights of one (layer, head), which the service remembers."""
    weights: FloatArray = _weights(_encode(service, card, sentence, pad_to, place))[0]
    return weights


@st.cache_resource(show_spinner=False)
def _cache() -> ByteCache:
    return ByteCache(_KEPT_BYTES)


def _encode(
    service: EncoderService,
    card: ModelCard,
    sentence: Sentence,
    pad_to: int | None,
    place: tuple[int, int] | None,
) -> Encoding:
    return service.encode(
        card.id,
        [sentence.text],
        pairs=None if sentence.pair is None else [sentence.pair],
        pad_to=pad_to,
        layers=[0],
        attentions=True if place is None else [place],
    )[0]


def _weights(encoding: Encoding) -> FloatArray:
    if encoding.attentions is None:
        raise RequestError("This model gives no attention weights. Choose another one.")
    return encoding.attentions
