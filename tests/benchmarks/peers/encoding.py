"""Many sentences: a loop, transformers' pipeline, sentence-transformers, ONNX Runtime."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from contextlens.core.registry import bundled_folder
from tests.benchmarks.encoding import (
    bare_model,
    set_up_loop,
    set_up_sentence_transformers,
    set_up_service,
    stay_offline,
)
from tests.benchmarks.peers.rows import INSTALL, Group, Missing, Row
from tests.benchmarks.texts import WARM_UP, mixed_sentences
from tests.benchmarks.workers import interleaved, seconds

__all__ = ["encoding", "set_up_onnx_runtime"]

N_TEXTS = 500
BATCH = 32  # of the pipeline and ONNX Runtime; sentence-transformers has the same by default
OURS = "Contextlens"
PEERS = {
    "notebook loop, every layer": ("transformers", "torch"),
    "transformers pipeline, last layer": ("transformers", "torch"),
    "sentence-transformers, last layer": ("sentence-transformers", "transformers", "torch"),
}
ONNX = "ONNX Runtime, last layer"
ONNX_PACKAGES = ("onnxruntime", "onnxscript", "transformers", "torch")


def encoding(rounds: int) -> Group:
    """500 mixed sentences; ours gives every layer of every token."""
    set_ups = [set_up_loop, set_up_pipeline, set_up_sentence_transformers]
    peers, missing = dict(PEERS), []
    if all(map(find_spec, ONNX_PACKAGES)):
        set_ups, peers = [*set_ups, set_up_onnx_runtime], peers | {ONNX: ONNX_PACKAGES}
    else:
        missing = [Missing("ONNX Runtime", f"install it with: {INSTALL}")]
    contenders: dict[str, tuple[Any, ...]] = {OURS: (set_up_service, "exact", N_TEXTS)} | {
        name: (set_up, N_TEXTS) for name, set_up in zip(peers, set_ups, strict=True)
    }
    took = interleaved(contenders, [(seed,) for seed in range(rounds)])
    return Group(
        [
            Row(
                f"{N_TEXTS} sentences: vectors of all tokens",
                *(name, tuple(took[OURS]), tuple(took[name])),
                packages=packages,
            )
            for name, packages in peers.items()
        ],
        missing,
    )


def set_up_pipeline(n: int) -> Callable[[int], float]:
    """Feature extraction in batches, tensors as they come: the quickest that it offers."""
    stay_offline()
    from transformers import logging, pipeline

    logging.disable_progress_bar()
    folder = str(bundled_folder())
    extract = pipeline("feature-extraction", model=folder, tokenizer=folder, device="cpu")

    def call(texts: list[str]) -> object:
        return extract(texts, batch_size=BATCH, return_tensors=True, truncation=True)

    def run(seed: int) -> float:
        texts = mixed_sentences(n, seed)
        return seconds(lambda: call(texts))

    call(mixed_sentences(BATCH, WARM_UP))
    return run


def set_up_onnx_runtime(n: int) -> Callable[[int], float]:
    """Torch's export of the network; batches of texts of like lengths, on all processors."""
    import onnxruntime
    import torch

    warnings.simplefilter("ignore")  # of torch, about its own exporter
    tokenizer, model = bare_model(attn_implementation="sdpa")
    names = ("input_ids", "attention_mask", "token_type_ids")

    class LastLayer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
            return self.model(**dict(zip(names, inputs, strict=True))).last_hidden_state

    example = tokenizer(["a bat", "a bat that flies"], padding=True, return_tensors="pt")
    sizes = {0: torch.export.Dim("texts"), 1: torch.export.Dim("tokens", min=2, max=512)}
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.onnx")
        torch.onnx.export(
            LastLayer(),
            tuple(example[name] for name in names),
            path,
            dynamo=True,
            verbose=False,
            input_names=names,
            dynamic_shapes=((sizes,) * len(names),),
        )
        session = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])

    def encode(texts: list[str]) -> list[Any]:
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        vectors: list[Any] = [None] * len(texts)
        for at in range(0, len(order), BATCH):
            batch = order[at : at + BATCH]
            inputs = tokenizer(
                [texts[i] for i in batch], padding=True, truncation=True, return_tensors="np"
            )
            (states,) = session.run(None, {name: inputs[name] for name in names})
            lengths = inputs["attention_mask"].sum(axis=1)
            for i, state, length in zip(batch, states, lengths, strict=True):
                vectors[i] = state[:length]
        return vectors

    def run(seed: int) -> float:
        texts = mixed_sentences(n, seed)
        return seconds(lambda: encode(texts))

    encode(mixed_sentences(BATCH, WARM_UP))
    return run
