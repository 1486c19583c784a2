"""The precision in which many texts are read at once, and what it costs.

Maps, indexes, Search and Probe read whole collections. They do so fast, in 16 bits, where that was
measured to be faster than float32, and where it saves seconds. Everything else is read exactly.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from contextlens.analysis.separation import scaled
from contextlens.core import EncoderService, ModelCard
from contextlens.core.schema import FloatArray, Passport, Precision

__all__ = ["reading_precision", "usual_token_seconds", "with_cosine_errors"]

_FLOPS = 1.2e11  # multiplications and additions a second, until a speed is measured
_MIN_SECONDS = 5.0  # of exact reading; less is not worth a second copy of the weights
_N_TOKENS = 25.0  # of a text, on average
_N_COMPARED = 48  # texts, which make 1,128 pairs


def usual_token_seconds(card: ModelCard) -> float:
    """Return the estimated seconds per token, until they are measured."""
    return 2 * 12 * card.n_layers * card.n_dims**2 / _FLOPS


def reading_precision(card: ModelCard, n_texts: int, *, exact: bool = False) -> Precision:
    """Return the precision in which a collection is read.

    The estimated time of exact reading is the same on every machine, so that only the processor
    decides besides the texts.

    Args:
        card: the model's card, which has the measurement.
        n_texts: the number of texts to read.
        exact: True if exact reading is asked for.
    """
    is_faster = card.device == "cpu" and card.fast.dtype != "float32"  # on others, not measured
    seconds = n_texts * _N_TOKENS * usual_token_seconds(card)
    return "fast" if is_faster and not exact and seconds >= _MIN_SECONDS else "exact"


def with_cosine_errors(
    passport: Passport, texts: Sequence[str], card: ModelCard, service: EncoderService
) -> Passport:
    """Return the passport of a reading; if it was fast, with the errors of some cosines.

    They are the differences from exact cosines of the pairs of some texts, evenly spaced: of the
    means of the last layer.
    """
    if passport.precision == "exact" or card.fast.dtype == "float32":
        return passport
    places = np.unique(np.linspace(0, len(texts) - 1, _N_COMPARED).astype(np.int64))
    sample = [texts[i] for i in places.tolist()]
    errors = np.abs(
        _cosines(sample, card, service, "fast") - _cosines(sample, card, service, "exact")
    )
    return passport.with_cosine_errors(errors, len(sample), card.fast.reason)


def _cosines(
    texts: Sequence[str], card: ModelCard, service: EncoderService, precision: Precision
) -> FloatArray:
    """The cosine of each pair of texts."""
    encodings = service.encode(
        card.id, texts, layers=[card.n_layers], precision=precision, checksum=card.checksum
    )
    units = scaled(np.stack([one.hidden[0].mean(axis=0) for one in encodings]))
    cosines: FloatArray = (units @ units.T)[np.triu_indices(len(units), 1)]
    return cosines
