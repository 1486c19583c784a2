"""Sentence vectors by a model's own recipe, from its last layer's hidden states.

The arithmetic is that of sentence-transformers, in numpy; activations are torch's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open

from contextlens.core.errors import CheckpointError
from contextlens.core.recipe import DenseStep, SentenceRecipe, pool
from contextlens.core.schema import Encoding, FloatArray, SentenceVector

__all__ = ["DenseWeights", "read_dense", "sentence_vectors"]

DenseWeights = Mapping[str, FloatArray]
"""The arrays of a linear layer: `linear.weight`, and `linear.bias` and `residual.weight` if any."""
_SMALLEST = 1e-12  # the smallest length to divide by


def read_dense(folder: Path, recipe: SentenceRecipe) -> dict[str, DenseWeights]:
    """Return the weights of a recipe's linear layers in files of their own, by their folder.

    Raises:
        CheckpointError: a file is missing or damaged, or holds other shapes than its settings say.
    """
    steps = [step for step in recipe.steps if isinstance(step, DenseStep) and step.folder]
    return {step.folder: _weights(folder, step) for step in steps}


def _weights(folder: Path, step: DenseStep) -> DenseWeights:
    shapes: dict[str, list[int]] = {"linear.weight": [step.n_out, step.n_in]}
    if step.has_bias:
        shapes["linear.bias"] = [step.n_out]
    if step.has_residual and step.n_in != step.n_out:
        shapes["residual.weight"] = [step.n_out, step.n_in]
    path = folder / step.folder / "model.safetensors"
    try:
        with safe_open(path, framework="pt") as file:  # before anything of a wrong size is read
            if {name: file.get_slice(name).get_shape() for name in file.keys()} != shapes:  # noqa: SIM118
                raise CheckpointError(
                    "The model's own sentence vectors are not offered: the weights of a linear "
                    "layer do not have the size that its settings say."
                )
            weights = {name: file.get_tensor(name).float().cpu().numpy() for name in shapes}
    except (OSError, SafetensorError) as exc:
        raise CheckpointError(
            "The model's own sentence vectors are not offered: the weights of a linear layer "
            "cannot be read in safetensors."
        ) from exc
    if not all(np.isfinite(array).all() for array in weights.values()):
        raise CheckpointError(
            "The model's own sentence vectors are not offered: a linear layer has weights that are "
            "NaN or infinite."
        )
    return weights


def sentence_vectors(
    recipe: SentenceRecipe,
    weights: Mapping[str, DenseWeights],
    encodings: Sequence[Encoding],
    *,
    prompt: str = "",
    n_prompt: int = 0,
) -> list[SentenceVector]:
    """Return the vector of each text.

    Args:
        recipe: the model's recipe.
        weights: those of its linear layers, by folder.
        encodings: the texts, with the last layer's hidden states alone.
        prompt: the text that was put before each text, for the passport.
        n_prompt: the number of tokens of the prompt at the beginning, special ones included.
    """
    skipped = 0 if recipe.include_prompt else n_prompt
    vectors = []
    for encoding in encodings:
        states = encoding.hidden[-1]
        pooled = [pool(states, mode, skipped=skipped) for mode in recipe.poolings]
        vector: FloatArray = np.concatenate(pooled)
        for step in recipe.steps:
            if isinstance(step, DenseStep):
                vector = _linear(vector, step, weights[step.folder])
            else:
                vector = vector / max(float(np.linalg.norm(vector)), _SMALLEST)
        vector = vector.astype(np.float32)
        vector.flags.writeable = False
        passport = encoding.passport.with_prompt(prompt)
        vectors.append(SentenceVector(vector, encoding.n_tokens, encoding.n_truncated, passport))
    return vectors


def _linear(vector: FloatArray, step: DenseStep, weights: DenseWeights) -> FloatArray:
    linear = weights["linear.weight"] @ vector + weights.get("linear.bias", np.float32(0))
    activation: Callable[[Any], Any] = getattr(torch.nn, step.activation)()
    result: FloatArray = activation(torch.from_numpy(linear.astype(np.float32))).cpu().numpy()
    if step.has_residual:
        own = weights.get("residual.weight")
        result = result + (vector if own is None else own @ vector)
    return result
