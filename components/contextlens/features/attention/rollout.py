"""Attention rollout: the share of each token in each vector of a layer, through all layers."""

from __future__ import annotations

import numpy as np

from contextlens.content.language import claim
from contextlens.core.schema import FloatArray
from contextlens.features.attention.heads import HeadMean

FORMULA = r"""
**Rollout** (Abnar and Zuidema, 2020). With $\bar{A}_\ell$ the mean over the heads of layer $\ell$:

$$\tilde{A}_\ell = \tfrac{1}{2} \bar{A}_\ell + \tfrac{1}{2} I$$

$$R_\ell = \mathrm{norm}(\tilde{A}_\ell) \, R_{\ell - 1}, \qquad R_0 = I$$

where norm divides each row by its sum.
""".strip()


def rollout(layer_means: FloatArray) -> FloatArray:
    """(n_tokens, n_tokens) float32: attention rollout through (n_layers, n_tokens, n_tokens).

    Abnar and Zuidema (2020): half of each layer's mean attention, half the token itself (the
    residual connection), rows renormalised, multiplied from the first layer to the last.
    """
    n_tokens = layer_means.shape[-1]
    rolled = np.eye(n_tokens)
    for mean in layer_means:
        mixed = 0.5 * mean.astype(float) + 0.5 * np.eye(n_tokens)
        rolled = mixed / mixed.sum(axis=-1, keepdims=True) @ rolled
    return rolled.astype(np.float32)


ROLLOUT = HeadMean(
    kind="rollout",
    weights=lambda heads, layer: rollout(heads.layer_means[:layer]),
    layers=lambda layer, _: range(1, layer + 1),
    script=(
        "attention = torch.eye(attentions.shape[-1])",
        "for mean in attentions[:{layer}].mean(dim=1):",
        "    mixed = 0.5 * mean + 0.5 * torch.eye(len(mean))",
        "    attention = mixed / mixed.sum(dim=-1, keepdim=True) @ attention",
    ),
    script_heads="attentions[:{layer}].flatten(0, 1)",
    preposition="from",
    verb="draws_on",
    sure=lambda: [claim("attention.sure.rollout")],
)
