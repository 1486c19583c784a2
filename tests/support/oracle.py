"""Models as plain transformers runs them, one text at a time; nothing of ours is asked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer


@dataclass(frozen=True)
class Plain:
    """The oracle's answer for one input."""

    hidden: np.ndarray  # (n_layers + 1, n_tokens, n_dims)
    pooler_output: np.ndarray | None
    attentions: np.ndarray | None  # (n_layers, n_heads, n_tokens, n_tokens)


class Oracle:
    """A model as plain transformers runs it."""

    def __init__(self, folder: Path, max_length: int, **arguments: Any) -> None:
        self.max_length = max_length
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModel.from_pretrained(folder, **arguments).eval()
        if folder.name == "bert-without-pooler":  # transformers puts random numbers there
            self.model.pooler = None

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
        out = self.model(**inputs, output_hidden_states=True, output_attentions=attentions)
        pooled = getattr(out, "pooler_output", None)
        return Plain(
            hidden=torch.cat(out.hidden_states).numpy(),
            pooler_output=None if pooled is None else pooled[0].numpy(),
            attentions=torch.cat(out.attentions).numpy() if attentions else None,
        )
