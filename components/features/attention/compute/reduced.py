"""Attention weights for a page: all heads are computed once and kept reduced, within a bound.

At 512 tokens all heads of the bundled model are 75 MB and those of a large one 400 MB; the page
shows one head at a time, and small pictures of the others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from components.core import EncoderService, Encoding, ModelCard
from components.core.byte_cache import remembered
from components.core.errors import RequestError
from components.core.schema import FloatArray
from components.features.attention.measures.heads import Heads, reduce_heads
from components.ui.state.view import Sentence

__all__ = ["Reduced", "Source"]


@dataclass(frozen=True, eq=False)
class Reduced:
    """A text's encoding without its attentions, and what is kept of those."""

    encoding: Encoding
    heads: Heads


@dataclass(frozen=True, eq=False)
class Source:
    """Where a page's weights come from: a model and a text, padded to a length or None."""

    service: EncoderService
    card: ModelCard
    sentence: Sentence
    pad_to: int | None

    def reduced(self) -> Reduced:
        """All heads on the text, reduced; the whole ones of a long text are let go."""
        return remembered(
            "reduced attention",
            self.card.id,
            self.card.checksum,
            self.sentence.text,
            self.sentence.pair,
            self.pad_to,
            compute=self._reduce,
        )

    def whole(self, layer: int, head: int) -> FloatArray:
        """(n_tokens, n_tokens) weights of one head, which the service remembers."""
        weights: FloatArray = _weights(self._encode([(layer, head)]))[0]
        return weights

    def _reduce(self) -> Reduced:
        encoding = self._encode(True)
        heads = reduce_heads(_weights(encoding), encoding)
        return Reduced(replace(encoding, attentions=None), heads)

    def _encode(self, attentions: bool | list[tuple[int, int]]) -> Encoding:
        return self.service.encode(
            self.card.id,
            [self.sentence.text],
            pairs=[self.sentence.pair],
            pad_to=self.pad_to,
            layers=[0],
            attentions=attentions,
        )[0]


def _weights(encoding: Encoding) -> FloatArray:
    if encoding.attentions is None:
        raise RequestError("This model gives no attention weights. Choose another one.")
    return encoding.attentions
