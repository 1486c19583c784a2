"""The shapes at each step from texts to one vector each, with one model's own numbers.

Whether a model has a pooler, and a trained one, is read from its card. Must not import torch.
"""

from __future__ import annotations

from dataclasses import dataclass

from components.content.language import say
from components.core.schema import ModelCard

__all__ = ["ShapeStep", "shape_steps"]


@dataclass(frozen=True)
class ShapeStep:
    """One step: what to write, the shape that comes out, and what it is in one sentence."""

    code: str
    axes: str
    shape: tuple[int, ...] | None  # None: this model has no such output
    meaning: str


def shape_steps(card: ModelCard, n_texts: int, n_tokens: int) -> list[ShapeStep]:
    """Every step for a batch of `n_texts` padded to `n_tokens`."""
    ids, vectors, one = (
        (n_texts, n_tokens),
        (n_texts, n_tokens, card.n_dims),
        (n_texts, card.n_dims),
    )
    return [
        _ids('batch["input_ids"]', ids, say("masks.shape.ids")),
        _ids('batch["attention_mask"]', ids, say("masks.shape.mask")),
        _segments(card, ids),
        ShapeStep("output.hidden_states[0]", _TOKENS, vectors, say("masks.shape.layer_0")),
        ShapeStep(
            f"output.hidden_states[{card.n_layers}]",
            _TOKENS,
            vectors,
            say("masks.shape.last_layer", n=card.n_layers),
        ),
        ShapeStep(
            "output[0]",
            _TOKENS,
            vectors,
            say("masks.shape.output"),
        ),
        _pooler(card, one),
        ShapeStep("output[0][:, 0]", _TEXTS, one, say("masks.shape.first")),
        ShapeStep(
            "(output[0] * mask).sum(1) / mask.sum(1)",
            _TEXTS,
            one,
            say("masks.shape.mean"),
        ),
    ]


_TOKENS = "[batch, tokens, dims]"
_TEXTS = "[batch, dims]"


def _ids(code: str, shape: tuple[int, int], meaning: str) -> ShapeStep:
    return ShapeStep(code, "[batch, tokens]", shape, meaning)


def _segments(card: ModelCard, shape: tuple[int, int]) -> ShapeStep:
    code = 'batch["token_type_ids"]'
    if card.has_segments:
        return _ids(code, shape, say("masks.shape.segments"))
    return ShapeStep(code, "none", None, say("masks.shape.no_segments"))


def _pooler(card: ModelCard, shape: tuple[int, int]) -> ShapeStep:
    part = card.provenance.pooler
    if part.state == "absent":
        meaning = say("masks.shape.no_pooler", reason=part.reason)
        return ShapeStep("output[1]", "none", None, meaning)
    meaning = say("masks.shape.pooler")
    if part.state == "untrained":
        meaning = say("masks.shape.pooler_untrained", reason=part.reason)
    return ShapeStep("output[1]", _TEXTS, shape, meaning)
