"""Anatomy: how operations are counted, and the sizes that are usually quoted."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

FORMULA = r"""
**Counts.** A parameter array of shape $a \times b$ holds $a \cdot b$ numbers. Arrays that share
their memory (tied ones) count once; so do weights that several layers use in turn.

**Memory** of $P$ parameters: $4P$ bytes as float32, $2P$ as float16, $P$ as int8. Running
the model needs more.

**Operations** for a text of $N$ tokens, in multiply-adds, with $L$ layers, $d$ dimensions and $f$
inner dimensions:

$$
\underbrace{N L (4 d^2 + 2 d f)}_{\text{linear layers}} +
\underbrace{2 L N^2 d}_{\text{attention}} + \underbrace{d^2}_{\text{pooler}}
$$

Query, key, value and output are $d \times d$ each, widening and narrowing $d \times f$; with a gate
(as in ModernBERT), widening is $d \times 2f$, so that $2 d f$ becomes $3 d f$; EuroBERT's and
Gemma's keys and values are narrower where heads share them. Gemma's heads may have more dimensions
together, or fewer, than $d$; attention then takes these in place of $d$. The scores and the
weighted sum of attention take $N^2 d$ each. A projection from $e$ to $d$ dimensions after the
embedding layer adds $N e d$. DeBERTa projects the $r$ rows of its table of distances in each layer,
and scores each token against them: $r d (d + N)$ for each of its two terms. A convolution
over $k$ tokens adds $N k d^2$. EmbeddingGemma 2 makes an input of $p$ dimensions for each layer
from layer 0, which adds $3 N L d p$, and projects the last layer to $e$ dimensions: $N d e$. The
pooler reads one token. Additions, LayerNorm, softmax and the look-up of table rows are not counted.

**Singular values** $\sigma_1 \ge \sigma_2 \ge \dots$ of a matrix $W$ say how strongly it stretches
along its directions; $\lVert W \rVert_F^2 = \sum_i \sigma_i^2$. They are shown beside those of a
random matrix of the same shape and norm.
""".strip()

QUOTED_MILLIONS: Mapping[str, float] = MappingProxyType(
    {
        "google-bert/bert-base-uncased": 110,
        "google-bert/bert-base-cased": 110,
        "google-bert/bert-large-uncased": 340,
        "google-bert/bert-large-cased": 340,
        "google-bert/bert-large-uncased-whole-word-masking": 340,
        "distilbert/distilbert-base-uncased": 66,
        "FacebookAI/roberta-base": 125,
        "sentence-transformers/all-mpnet-base-v2": 110,
        "BAAI/bge-small-en-v1.5": 33,
        "intfloat/multilingual-e5-base": 278,
        "answerdotai/ModernBERT-base": 149,
    }
)
"""The millions of parameters that are usually quoted for a preset."""
