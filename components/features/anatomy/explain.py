"""Anatomy: what each part of a model does, how operations are counted, and limits."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["FORMULA", "LIMITS", "NO_POOLER", "PARTS", "SAID_MILLIONS"]

LIMITS = (
    "A count says how large a part is, not how much it matters: a small part can decide what the "
    "model says, and two models of one size can differ in everything they learned."
)

FORMULA = r"""
**Counts.** A parameter array of shape $a \times b$ holds $a \cdot b$ numbers. Arrays that share
their memory (tied ones) count once; so do weights that several layers use in turn.

**Memory** of $P$ parameters: $4P$ bytes as float32, $2P$ as float16, $P$ as int8. What is computed
on the way needs more.

**Operations** for a text of $N$ tokens, in multiply-adds, with $L$ layers, $d$ dimensions and $f$
inner dimensions:

$$
\underbrace{N L (4 d^2 + 2 d f)}_{\text{linear layers}} +
\underbrace{2 L N^2 d}_{\text{attention}} + \underbrace{d^2}_{\text{pooler}}
$$

Query, key, value and output are $d \times d$ each, widening and narrowing $d \times f$. The scores
and the weighted sum of attention take $N^2 d$ each. A projection from $e$ to $d$ dimensions after
the embedding layer adds $N e d$. The pooler reads one token. Additions, LayerNorm, softmax and the
look-up of table rows are not counted.

**Singular values** $\sigma_1 \ge \sigma_2 \ge \dots$ of a matrix $W$ say how strongly it stretches
along its directions; $\lVert W \rVert_F^2 = \sum_i \sigma_i^2$. They are shown beside those of a
random matrix of the same shape and norm.
""".strip()

PARTS: Mapping[str, str] = MappingProxyType(
    {
        "model": "Turns token IDs into one vector for each token, layer after layer.",
        "embeddings": "Looks up what is stored for each token and place, and adds it up.",
        "word": "Holds one row for each token of the vocabulary.",
        "position": "Holds one row for each place in a text.",
        "segment": "Holds one row for each segment, the first and the second text.",
        "one-segment": "Holds a single row, which is added to every token alike.",
        "layernorm": "Brings each vector to one scale, then stretches and shifts each dimension.",
        "projection": "Takes the smaller embedding vectors to the width of the layers.",
        "layer": "Lets tokens read from each other, then works on each of them alone.",
        "shared": "One stored layer that the model runs through several times.",
        "attention": "Lets each token gather from all tokens, as its query fits their keys.",
        "query": "Makes of each vector what its token looks for in the others.",
        "key": "Makes of each vector what its token can be found by.",
        "value": "Makes of each vector what its token hands on when it is found.",
        "output": "Mixes what all heads gathered into one vector for each token.",
        "feed-forward": "Works on each token's vector alone, wider inside than outside.",
        "widening": "Takes each vector to the inner width, before the activation function.",
        "narrowing": "Takes the inner vector back to the model's width.",
        "relative": "Adds to the attention scores what the distance between two tokens is worth.",
        "pooler": "A linear layer and a tanh on the first token's last vector.",
        "other": "A part that this page has no words for.",
    }
)
"""One sentence on what each kind of part does."""

NO_POOLER: Mapping[str, str] = MappingProxyType(
    {
        "distilbert": "The distilbert architecture has no pooler.",
        "electra": "The electra architecture has no pooler.",
        "roberta": "Its published checkpoints have no weights for a pooler.",
    }
)
"""Why a family's architecture stands here without a pooler, where no weights can be asked."""

SAID_MILLIONS: Mapping[str, float] = MappingProxyType(
    {
        "google-bert/bert-base-uncased": 110,
        "google-bert/bert-base-cased": 110,
        "google-bert/bert-large-uncased": 340,
        "google-bert/bert-large-cased": 340,
        "google-bert/bert-large-uncased-whole-word-masking": 340,
        "distilbert/distilbert-base-uncased": 66,
        "FacebookAI/roberta-base": 125,
    }
)
"""Millions of parameters that are usually told of a preset."""
