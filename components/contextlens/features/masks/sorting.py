"""Closer look: the padding that sorting texts by length saves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from contextlens.content.bundled_texts import baseline_sentences
from contextlens.content.language import Claim, claim, table
from contextlens.content.wording import percent
from contextlens.core import EncoderService, ModelCard
from contextlens.core.byte_cache import remembered
from contextlens.core.errors import RequestError
from contextlens.features.masks.padded_batch import Masks
from contextlens.ui.panel import Panel

_SAMPLE_BATCH = 32
_OWN_BATCHES = (1, 2, 4, 8)


@dataclass(frozen=True)
class Saving:
    """The saving by sorting by length, in positions, with each batch padded to its longest text."""

    size: int  # texts in a batch
    real: int  # tokens that are not padding
    given: int  # positions computed in the order given
    by_length: int  # positions computed after sorting

    @property
    def padding_given(self) -> float:
        """The share of padding in the order given, 0 to 1."""
        return 1 - self.real / self.given

    @property
    def padding_sorted(self) -> float:
        """The share of padding after sorting, 0 to 1."""
        return 1 - self.real / self.by_length

    @property
    def saved(self) -> float:
        """The share of the positions that need not be computed, below 1.

        Negative if a smaller last batch happened to hold the longest text before sorting.
        """
        return 1 - self.by_length / self.given


@dataclass(frozen=True, eq=False)
class Sorting(Panel):
    """The saving for the sample that ships, and for the visitor's own sentences.

    Attributes:
        sample: the saving for the sample.
        n_texts: the number of its texts.
        own: the savings for the visitor's sentences, in batches of 1, 2, 4, 8.
    """

    sample: Saving
    n_texts: int
    own: Sequence[Saving] = ()

    def title(self) -> Claim:
        """Return the saving in one line."""
        before, after = self.sample.padding_given, self.sample.padding_sorted
        if self.sample.saved <= 0:
            return claim("masks.saving.nothing", after=after)
        is_little = percent(before) == percent(after)
        key = "masks.saving.little" if is_little else "masks.saving.cuts"
        return claim(key, before=before, after=after)

    def claims(self) -> list[Claim]:
        """Return the saving for the sample."""
        before, after = self.sample.padding_given, self.sample.padding_sorted
        sizes = {"n": self.n_texts, "size": self.sample.size}
        return [claim("masks.saving.sample", before=before, after=after, **sizes)]

    def rows(self) -> list[Mapping[str, int | str]]:
        """Return the savings for the visitor's sentences."""
        names = table("masks.column")
        return [
            {
                names["size"]: saving.size,
                names["given"]: saving.given,
                names["by_length"]: saving.by_length,
                names["padding"]: percent(saving.padding_sorted),
            }
            for saving in self.own
        ]


def sorting(masks: Masks, service: EncoderService, card: ModelCard) -> Sorting:
    """Return the saving for the sample, tokenized once for a model, and for the view."""
    texts = list(baseline_sentences())
    lengths = remembered(
        "lengths of the sample",
        card.id,
        card.checksum,
        compute=lambda: [tokens.n_tokens for tokens in service.tokenize(card.id, texts)],
    )
    own_lengths = masks.batch.lengths
    savings = [saving(own_lengths, n) for n in _OWN_BATCHES if n < 2 * len(own_lengths)]
    return Sorting(saving(lengths, _SAMPLE_BATCH), len(texts), savings)


def saving(lengths: Sequence[int], size: int) -> Saving:
    """Return the saving by sorting texts of these lengths, in batches of `size`.

    Raises:
        RequestError: there is no text, or the batch size is 0.
    """
    if not lengths or size < 1:
        raise RequestError(f"{len(lengths)} texts in batches of {size}: both must be at least 1.")
    by_length = _positions(sorted(lengths)[::-1], size)
    return Saving(size, sum(lengths), _positions(lengths, size), by_length)


def _positions(lengths: Sequence[int], size: int) -> int:
    batches = [lengths[start : start + size] for start in range(0, len(lengths), size)]
    return sum(len(batch) * max(batch) for batch in batches)
