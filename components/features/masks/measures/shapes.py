"""The shapes at each step from texts to one vector each, with one model's own numbers.

Whether a model has a pooler, and a trained one, is read from its card. Must not import torch.
"""

from __future__ import annotations

from dataclasses import dataclass

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
        _ids('batch["input_ids"]', ids, "The token's number in the vocabulary, padding included."),
        _ids(
            'batch["attention_mask"]', ids, "1 for a token to attend to, 0 for padding to ignore."
        ),
        _segments(card, ids),
        ShapeStep(
            "output.hidden_states[0]", _TOKENS, vectors, "Layer 0: the embedding layer's output."
        ),
        ShapeStep(
            f"output.hidden_states[{card.n_layers}]",
            _TOKENS,
            vectors,
            f"Layer {card.n_layers}, the last; each layer before it has the same shape.",
        ),
        ShapeStep(
            "output[0]",
            _TOKENS,
            vectors,
            "The same as the line above: one vector for each position, padding included.",
        ),
        _pooler(card, one),
        ShapeStep("output[0][:, 0]", _TEXTS, one, "The first token's vector, [CLS] or its like."),
        ShapeStep(
            "(output[0] * mask).sum(1) / mask.sum(1)",
            _TEXTS,
            one,
            'The mean over real tokens, with mask = batch["attention_mask"][..., None].',
        ),
    ]


_TOKENS = "[batch, tokens, dims]"
_TEXTS = "[batch, dims]"


def _ids(code: str, shape: tuple[int, int], meaning: str) -> ShapeStep:
    return ShapeStep(code, "[batch, tokens]", shape, meaning)


def _segments(card: ModelCard, shape: tuple[int, int]) -> ShapeStep:
    code = 'batch["token_type_ids"]'
    if card.has_segments:
        return _ids(code, shape, "0 for the first text, 1 for the second of a pair.")
    return ShapeStep(code, "none", None, "This model has no segments, so there is no such input.")


def _pooler(card: ModelCard, shape: tuple[int, int]) -> ShapeStep:
    part = card.provenance.pooler
    if part.state == "absent":
        meaning = f"No pooler_output to trust: {part.reason}"
        return ShapeStep("output[1]", "none", None, meaning)
    meaning = (
        "pooler_output: not the first token's vector but a linear layer and tanh of it, so every "
        "number lies between -1 and 1."
    )
    if part.state == "untrained":
        meaning += f" Nothing shows that it was trained: {part.reason}"
    return ShapeStep("output[1]", _TEXTS, shape, meaning)
