"""Embedding layer: the formula, how the families differ, and limits."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["FORMULA", "LEARNED", "LIMITS", "VARIANTS"]

LIMITS = (
    "A long row is not an important one: a share tells how much of the sum's length a part makes "
    "up, not what later layers use of it, and nearness in the word table reflects how words were "
    "used in training, not only what they mean."
)

LEARNED = (
    "The paper that introduced the transformer used fixed sine and cosine waves for positions, and "
    "many explanations say the same of BERT. Its checkpoints say otherwise: position and segment "
    "embeddings are tables of parameters, learned like all the others."
)

VARIANTS: Mapping[str, str] = MappingProxyType(
    {
        "bert": "BERT adds three rows: word, position and segment, counted from 0.",
        "distilbert": "DistilBERT has no segments: it adds two rows, word and position.",
        "roberta": (
            "RoBERTa counts positions from the row after that of its padding, so a text never uses "
            "the rows before; its segment table, where there is one, is the same for all tokens."
        ),
        "xlm-roberta": (
            "XLM-RoBERTa counts positions from the row after that of its padding, so a text never "
            "uses the rows before; its segment table is the same for all tokens."
        ),
        "mpnet": (
            "MPNet has no segments and counts positions from the row after that of its padding. "
            "Its relative positions act in attention, not here."
        ),
        "albert": (
            "ALBERT's tables are narrower than its layers: the sum is normalised first, then a "
            "linear layer widens it, and layer 0 comes after that."
        ),
        "electra": (
            "ELECTRA adds three rows like BERT. Where its tables are narrower than its layers, a "
            "linear layer follows, and layer 0 comes after that."
        ),
    }
)

FORMULA = r"""
**The sum.** The token at place $t$ has the ID $i_t$, the position row $p_t$ and the segment $s_t$.
Each of them names a row of a table, and the rows are added (families without segments leave $S$
out):

$$x_t = W_{i_t} + P_{p_t} + S_{s_t}$$

**LayerNorm.** The sum's $d$ numbers are brought to mean 0 and variance 1, then scaled and shifted
by two learned vectors $\gamma$ and $\beta$:

$$h_{0,t} = \frac{x_t - \mu_t}{\sqrt{\sigma_t^2 + \epsilon}} \odot \gamma + \beta$$

**Projection.** ALBERT, and ELECTRA where its tables are narrower than its layers, then apply a
linear layer: $h_{0,t} A^\top + b$.

**Share.** A part $r$ of the sum $x$ counts with its length along the sum's direction, so that the
shares of a token add up to 1 (a part that points against the sum has a negative one):

$$\mathrm{share}(r) = \frac{r \cdot x}{\lVert x \rVert^2}$$

**Random rows.** The grey band of the neighbours runs from the 5th to the 95th percentile of the
cosines of pairs of rows drawn from the word table at random, with a fixed seed.
""".strip()
