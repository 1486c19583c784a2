"""Models as plain transformers runs them, one text at a time; nothing of ours is asked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

from contextlens.content.bundled_texts import baseline_sentences


@dataclass(frozen=True)
class Plain:
    """The oracle's answer for one input."""

    hidden: np.ndarray  # (n_layers + 1, n_tokens, n_dims)
    pooler_output: np.ndarray | None
    attentions: np.ndarray | None  # (n_layers, n_heads, n_tokens, n_tokens)


def before_projection(model: Any) -> Any:
    """A model without the projection of its last states (EmbeddingGemma 2), as pages show it."""
    if hasattr(model, "embedding_projection"):
        model.embedding_projection = torch.nn.Identity()
    return model


class Oracle:
    """A model as plain transformers runs it; weights of attention are asked of eager attention."""

    def __init__(self, folder: Path, max_length: int, **arguments: Any) -> None:
        self.max_length = max_length
        self.folder = folder
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = self._read(**arguments)

    @cached_property
    def eager(self) -> Any:
        return self._read(attn_implementation="eager")

    def _read(self, **arguments: Any) -> Any:
        model = AutoModel.from_pretrained(self.folder, **arguments).eval()
        if self.folder.name == "bert-without-pooler":  # transformers puts random numbers there
            model.pooler = None
        return before_projection(model)

    @torch.inference_mode()
    def __call__(
        self,
        text: str,
        pair: str | None = None,
        *,
        pad_to: int | None = None,
        mask: str = "model",
        attentions: bool = False,
    ) -> Plain:
        inputs = self.tokenizer(
            text,
            pair,
            return_tensors="pt",
            truncation=True,
            max_length=pad_to or self.max_length,
            padding="max_length" if pad_to else False,
            # ALBERT's tokenizer knows its segments but hands them out only when asked.
            return_token_type_ids=getattr(self.model.config, "type_vocab_size", 0) > 1,
        )
        if mask == "ones":
            inputs["attention_mask"] = torch.ones_like(inputs["attention_mask"])
        model = self.eager if attentions else self.model
        out = model(**inputs, output_hidden_states=True, output_attentions=attentions)
        pooled = getattr(out, "pooler_output", None)
        return Plain(
            hidden=torch.cat(out.hidden_states).numpy(),
            pooler_output=None if pooled is None else pooled[0].numpy(),
            attentions=torch.cat(out.attentions).numpy() if attentions else None,
        )

    def sentences(self, n: int) -> list[str]:
        """Texts of all lengths, from one token to the most that the model takes; a tenth long."""
        words = " ".join(baseline_sentences()).split()
        cut = []
        most = self.max_length - 2
        short, n_long = min(64, most), n // 10
        lengths = [*np.geomspace(1, short, n - n_long), *np.geomspace(short, most, n_long)]
        for i, length in enumerate(np.rint(lengths).astype(int)):
            start = 37 * i % (len(words) - most)
            text = " ".join(words[start : start + length])
            offsets = self.tokenizer(text, return_offsets_mapping=True)["offset_mapping"]
            cut.append(text[: offsets[min(length, len(offsets) - 2)][1]])
        return cut
