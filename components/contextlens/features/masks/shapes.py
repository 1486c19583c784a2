"""The shapes at each step from texts to one vector each."""

from __future__ import annotations

from dataclasses import dataclass

from contextlens.content.language import say
from contextlens.content.wording import escape
from contextlens.core.schema import ModelCard

_IDS = "[batch, tokens]"
_TOKENS = "[batch, tokens, dims]"
_TEXTS = "[batch, dims]"


@dataclass(frozen=True)
class ShapeStep:
    """One step: its code, the axes and shape of its output, and a description in one sentence."""

    code: str
    axes: str
    shape: tuple[int, ...] | None  # None: this model has no such output
    meaning: str


def shape_rows(card: ModelCard, n_texts: int, n_tokens: int) -> list[dict[str, str]]:
    """Return every step as a row of a table, in Markdown."""
    return [
        {
            "code": f"`{step.code}`",
            "axes": f"`{step.axes}`",
            "shape": f"`{list(step.shape)}`" if step.shape else "",
            "what it is": escape(step.meaning),
        }
        for step in shape_steps(card, n_texts, n_tokens)
    ]


def shape_steps(card: ModelCard, n_texts: int, n_tokens: int) -> list[ShapeStep]:
    """Return every step for a batch of `n_texts` padded to `n_tokens`."""
    ids, pooled = (n_texts, n_tokens), (n_texts, card.n_dims)
    vectors = (n_texts, n_tokens, card.n_dims)
    last_layer, last = f"output.hidden_states[{card.n_layers}]", card.n_layers
    mean = "(output[0] * mask).sum(1) / mask.sum(1)"
    return [
        ShapeStep('batch["input_ids"]', _IDS, ids, say("masks.shape.ids")),
        ShapeStep('batch["attention_mask"]', _IDS, ids, say("masks.shape.mask")),
        _segments(card, ids),
        ShapeStep("output.hidden_states[0]", _TOKENS, vectors, say("masks.shape.layer_0")),
        ShapeStep(last_layer, _TOKENS, vectors, say("masks.shape.last_layer", n=last)),
        ShapeStep("output[0]", _TOKENS, vectors, say("masks.shape.output")),
        _pooler(card, pooled),
        ShapeStep("output[0][:, 0]", _TEXTS, pooled, say("masks.shape.first")),
        ShapeStep(mean, _TEXTS, pooled, say("masks.shape.mean")),
    ]


def _segments(card: ModelCard, shape: tuple[int, int]) -> ShapeStep:
    code = 'batch["token_type_ids"]'
    if card.has_segments:
        return ShapeStep(code, _IDS, shape, say("masks.shape.segments"))
    return ShapeStep(code, "none", None, say("masks.shape.no_segments"))


def _pooler(card: ModelCard, shape: tuple[int, int]) -> ShapeStep:
    pooler = card.provenance.pooler
    if pooler.state == "absent":
        meaning = say("masks.shape.no_pooler", reason=pooler.reason)
        return ShapeStep("output[1]", "none", None, meaning)
    meaning = say("masks.shape.pooler")
    if pooler.state == "untrained":
        meaning = say("masks.shape.pooler_untrained", reason=pooler.reason)
    return ShapeStep("output[1]", _TEXTS, shape, meaning)
