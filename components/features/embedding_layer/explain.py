"""Embedding layer: the formula, how the families differ, and limits."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["FORMULA", "LEARNED", "LIMITS", "VARIANTS"]

LIMITS = (
    "A long row is not an important one: a share tells how far a part points along the sum, and "
    "leaving a part out how far layer 0 moves; neither tells what later layers make of it, and "
    "nearness in the word table reflects how words were used in training, not only what they mean."
)

LEARNED = (
    "The paper that introduced the transformer used fixed sine and cosine waves for positions, and "
    "many explanations say the same of BERT. Its checkpoints say otherwise: position and segment "
    "embeddings are tables of parameters like all the others, trained with them."
)

VARIANTS: Mapping[str, str] = MappingProxyType(
    {
        "bert": "BERT adds three rows: word, position and segment, counted from 0.",
        "distilbert": "DistilBERT has no segments: it adds two rows, word and position.",
        "roberta": (
            "RoBERTa counts positions from the row after that of its padding, so the rows before "
            "stand for no place in a text; where its segment table has a single row, that is "
            "added to all tokens."
        ),
        "xlm-roberta": (
            "XLM-RoBERTa counts positions from the row after that of its padding, so the rows "
            "before stand for no place in a text; where its segment table has a single row, that "
            "is added to all tokens."
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

**Projection share.** A part $r$ of the sum $x$ counts with its length along the sum's own
direction, as a share of the sum's length. The shares of a token add up to 1; a part that points
against the sum has a negative one. Long parts have large shares, and so has a row that is the same
for every token:

$$\mathrm{share}(r) = \frac{r \cdot x}{\lVert x \rVert^2}$$

A part's share is called the largest only where it is more than one percentage point above each
other part's.

**Left out.** How far layer 0 moves where a part is left out of the sum before LayerNorm, as a share
of its length, and as one minus the cosine. With $h(x)$ for all that follows the sum:

$$
\frac{\lVert h(x - r) - h(x) \rVert}{\lVert h(x) \rVert} \qquad
1 - \cos(h(x - r), \; h(x))
$$

**Positions** are called more or less alike where two mean cosines are at least 0.1 apart.

**Random rows.** The grey band of the neighbours runs from the 5th to the 95th percentile of the
cosines of pairs of rows drawn from the word table at random, with a fixed seed.
""".strip()
