"""How much a fetch may bring: of each file, in all, and in the hub cache."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from components.core.errors import CheckpointError
from components.core.hub.listing import CONFIG, DESCRIPTIONS, INDEX

__all__ = ["Limits", "check_sizes", "megabytes"]

_MOST_FILES = 256  # the largest encoders have some ten shards
_LARGEST_DESCRIPTION = 16_000_000  # bytes
_LARGEST = {CONFIG: 1_000_000, **dict.fromkeys((INDEX, *DESCRIPTIONS), _LARGEST_DESCRIPTION)}
_LARGEST_VOCABULARY = 64_000_000  # XLM-RoBERTa's tokenizer.json takes 17 MB


@dataclass(frozen=True)
class Limits:
    """What whoever runs the app allows.

    Attributes:
        model_bytes: of all files of one model.
        cache_bytes: of the whole hub cache, after a fetch.
    """

    model_bytes: int = 4_096_000_000
    cache_bytes: int = 50_000_000_000


def check_sizes(sizes: Mapping[str, int], model_id: str, limits: Limits) -> None:
    """Pass where the files that a hub lists are no more and no larger than a model's may be.

    Raises:
        CheckpointError: they are; the first that is too large is named.
    """
    if len(sizes) > _MOST_FILES:
        raise CheckpointError(
            f"{model_id} has {len(sizes):,} files of weights and vocabularies; at most "
            f"{_MOST_FILES} are fetched. Choose another model."
        )
    for name, size in sizes.items():
        if not name.endswith(".safetensors") and size > _largest(name):
            raise CheckpointError(
                f"{model_id} has a {name[:80]} of {size:,} bytes; at most {_largest(name):,} are "
                "read. Choose another model."
            )
    if (total := sum(sizes.values())) > limits.model_bytes:
        raise CheckpointError(
            f"{model_id} takes {megabytes(total)}; at most {megabytes(limits.model_bytes)} are "
            "fetched for one model here (CONTEXTLENS_MODEL_MB). Choose a smaller model."
        )


def _largest(name: str) -> int:
    return _LARGEST.get(name, _LARGEST_VOCABULARY)


def megabytes(n_bytes: int) -> str:
    """Bytes in words, rounded up: "1,345 MB"."""
    return f"{-(-n_bytes // 1_000_000):,} MB"
