"""Batches of several callers' texts: which texts run together, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from components.core.batching import Processors, Streams
from components.core.encoder.devices import LONG_RUN, device_of, tidy_memory
from components.core.encoder.inputs import Request
from components.core.encoder.loading import LoadedModel
from components.core.encoder.running import PreparedText, prepare_texts, run_together
from components.core.encoder.threads import limit_threads, n_threads
from components.core.schema import Encoding, Mask, Precision

__all__ = ["WEIGHT_BYTES", "BatchKey", "encode_together", "processors"]

WEIGHT_BYTES = 256_000_000
"""The limit for a batch's attention weights, unless a single text needs more."""


@dataclass(frozen=True)
class BatchKey:
    """The properties that texts must share to run together; see `batching.Work`."""

    loaded: LoadedModel
    has_weights: bool
    mask: Mask
    precision: Precision

    @classmethod
    def of(cls, loaded: LoadedModel, request: Request) -> BatchKey:
        """The kind of one request, for batching it with others."""
        return cls(loaded, request.attentions is not False, request.mask, request.precision)

    @property
    def same_length(self) -> bool:
        """True if padding would change results."""
        return self.mask == "ones"

    @property
    def overhead(self) -> int:
        """The fixed cost of a batch's steps, as the number of tokens computed in the same time."""
        return self.loaded.device.overhead_tokens

    def fits(self, n_texts: int, longest: int) -> bool:
        """True if `n_texts` texts of at most `longest` tokens fit in a batch; one always does."""
        if n_texts <= 1:
            return True
        card = self.loaded.card
        weights = 4 * n_texts * card.n_layers * card.n_heads * longest**2
        return n_texts * longest <= self.loaded.device.batch_tokens and not (
            self.has_weights and weights > WEIGHT_BYTES
        )

    def run(self, texts: Sequence[PreparedText]) -> list[Encoding]:
        """The encodings of some texts."""
        return run_together(self.loaded, texts)


def encode_together(
    streams: Streams,
    loaded: LoadedModel,
    texts: Sequence[str],
    request: Request,
    *,
    pairs: Sequence[str | None] | None = None,
) -> list[Encoding]:
    """Return each text's encoding, in the order given, batched with other callers' requests."""
    prepared = prepare_texts(loaded, texts, request, pairs=pairs)
    lengths = [text.tokens.n_tokens for text in prepared]
    with tidy_memory(sum(lengths)):
        return streams.run(BatchKey.of(loaded, request), prepared, lengths)


def processors(device: str) -> Processors:
    """The resources that batches compute with.

    Two batches run at once: on a processor with several threads, each has half of torch's threads;
    on a graphics card, one is prepared while the other is computed.

    Args:
        device: as `CONTEXTLENS_DEVICE` names it.

    Raises:
        ModelError: this machine does not have the device.
    """
    has_two = n_threads() > 1 or device_of(device).name != "cpu"
    return Processors(2 if has_two else 1, limit_threads, partial(tidy_memory, LONG_RUN))
