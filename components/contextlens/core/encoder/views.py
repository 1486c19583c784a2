"""The ways to run one set of weights: with sdpa or eager attention, in full or half precision.

transformers reads the attention implementation from a model's config. Changing that for one call
would change it for other threads, so each variant is a separate model that shares its parameters'
memory: modules and config are copied, which takes milliseconds; tensors are not.
"""

from __future__ import annotations

import copy
import threading
from itertools import chain
from typing import Any, Literal

import torch

from contextlens.core.schema import Precision

__all__ = ["Attention", "ModelVariants"]

Attention = Literal["sdpa", "eager"]


class ModelVariants:
    """Models that share one set of weights, created on first use. Thread-safe.

    Args:
        model: as transformers loaded it, never run yet; its attention is transformers' own choice
            for the architecture: sdpa, or eager where sdpa is not supported (MPNet).
        fast: the precision of fast work: "bfloat16" or "float16".
    """

    def __init__(self, model: Any, fast: str = "bfloat16") -> None:
        # Never run: the first run of a model changes its modules, after which it cannot be copied.
        self._templates: dict[Precision, Any] = {"exact": _sharing_weights(model)}
        self._made: dict[tuple[Precision, Attention], Any] = {}
        self._fast = torch.float16 if fast == "float16" else torch.bfloat16
        self._lock = threading.Lock()
        self.default: Attention = model.config._attn_implementation
        self._made["exact", self.default] = model

    def at(self, precision: Precision, attention: Attention) -> Any:
        """The model for a precision and attention; first use makes the half-precision weights."""
        with self._lock:
            if (precision, attention) not in self._made:
                view = _sharing_weights(self._template(precision))
                view.config._attn_implementation = attention
                self._made[precision, attention] = view
            return self._made[precision, attention]

    def apart(self, device: str) -> Any:
        """A separate model around the exact weights, for callers that change how its modules run.

        Args:
            device: where it should run; on another device than the weights, it gets a copy of them.
        """
        view = _sharing_weights(self._templates["exact"])
        view.config._attn_implementation = self.default
        if view.device != torch.device(device):
            view = copy.deepcopy(view).to(device)
        return view

    @property
    def has_fast(self) -> bool:
        """True if there is a half-precision copy of the weights."""
        return "fast" in self._templates

    def _template(self, precision: Precision) -> Any:
        if precision not in self._templates:
            exact = self._templates["exact"]
            half = copy.deepcopy(exact)
            for parameter in half.parameters():  # not buffers: transformers rotates in float32
                parameter.data = parameter.data.to(self._fast)
            self._templates["fast"] = half
        return self._templates[precision]


def _sharing_weights(model: Any) -> Any:
    """A copy of a model's modules and config around the same tensors."""
    tensors = chain(model.parameters(), model.buffers())
    return copy.deepcopy(model, {id(tensor): tensor for tensor in tensors})
