"""Which texts of several callers run together, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from components.core.batching import Processors, Streams
from components.core.encoder.devices import LONG_RUN, device_of, tidy_memory
from components.core.encoder.inputs import Request
from components.core.encoder.loading import LoadedModel
from components.core.encoder.running import Asked, ask, run_together
from components.core.encoder.threads import limit_threads, n_threads
from components.core.schema import Encoding, Mask, Precision

__all__ = ["WEIGHT_BYTES", "Together", "encode_together", "processors"]

WEIGHT_BYTES = 256_000_000
"""Of the attention weights of a batch, unless one text has more."""


@dataclass(frozen=True)
class Together:
    """What texts have in common that run together; see `batching.Work`."""

    loaded: LoadedModel
    has_weights: bool
    mask: Mask
    precision: Precision

    @classmethod
    def of(cls, loaded: LoadedModel, request: Request) -> Together:
        """What one request may run together with."""
        return cls(loaded, request.attentions is not False, request.mask, request.precision)

    @property
    def same_length(self) -> bool:
        """Whether padding would change results."""
        return self.mask == "ones"

    @property
    def overhead(self) -> int:
        """What the steps of a batch cost however little there is to compute, in tokens."""
        return self.loaded.device.overhead_tokens

    def fits(self, n_texts: int, longest: int) -> bool:
        """Whether so many texts of at most so many tokens are not too many; one never is."""
        if n_texts <= 1:
            return True
        card = self.loaded.card
        weights = 4 * n_texts * card.n_layers * card.n_heads * longest**2
        return n_texts * longest <= self.loaded.device.batch_tokens and not (
            self.has_weights and weights > WEIGHT_BYTES
        )

    def run(self, texts: Sequence[Asked]) -> list[Encoding]:
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
    """Each text's encoding, in the order given, run with what others ask for meanwhile."""
    asked = ask(loaded, texts, request, pairs=pairs)
    lengths = [each.tokens.n_tokens for each in asked]
    with tidy_memory(sum(lengths)):
        return streams.run(Together.of(loaded, request), asked, lengths)


def processors(device: str) -> Processors:
    """What batches compute with.

    Two at once, each with half of torch's threads, where there are two; on a graphics card, where
    one is prepared while the other is computed.

    Args:
        device: as `CONTEXTLENS_DEVICE` names it.

    Raises:
        ModelError: it is not there.
    """
    has_two = n_threads() > 1 or device_of(device).name != "cpu"
    return Processors(2 if has_two else 1, limit_threads, partial(tidy_memory, LONG_RUN))
