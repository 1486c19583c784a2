"""Padding & masks: definitions, formulas and limits."""

from __future__ import annotations

__all__ = ["FORMULA", "LIMITS", "OUTPUTS"]

LIMITS = (
    "These cosines say how far padding turns this model's vectors for these texts, not whether "
    "their lengths change; they do not say how much worse a search or a classifier built on them "
    "becomes, and positions are only a rough measure of time."
)

OUTPUTS = (
    "A model's answer is a list: `output[0]` has one vector for each position, and `output[1]`, "
    "where the model has a pooler, one for each text. The second is often mistaken for the vector "
    "of the first token, [CLS]; it is a linear layer and tanh of that vector."
)

FORMULA = r"""
**Attention with a mask.** Position $i$ looks at position $j$ with the score $s_{ij}$. The mask
$m_j$ is 1 for a token and 0 for padding; where it is 0, the score is lowered so far that nothing is
left of it:

$$a_{ij} = \frac{m_j \, e^{s_{ij}}}{\sum_k m_k \, e^{s_{ik}}}$$

With the mask switched off every $m_j$ is 1, and padding takes part of every token's attention.

**How like itself.** At layer $\ell$, token $t$ has the vector $h_{\ell,t}$ in the text alone and
$h'_{\ell,t}$ in the padded batch. The cells show

$$\cos(h, h') = \frac{h \cdot h'}{\lVert h \rVert \, \lVert h' \rVert}$$

A token is said to move most, or a text to be hit harder, only where its cosine is more than 0.01
below, a layer to cost most where its loss is more than 0.01 above every other.

**Means.** Over the $n$ real tokens of a text padded to $N$ positions, and over all positions:

$$\bar{h}_\ell = \frac{1}{n} \sum_{t=1}^{n} h'_{\ell,t}$$

$$\tilde{h}_\ell = \frac{1}{N} \sum_{t=1}^{N} h'_{\ell,t}$$

Both are compared with the mean over the tokens of the text alone.

**The share of padding** in a batch of $B$ texts with $n_b$ tokens each:

$$1 - \frac{\sum_b n_b}{B \, N}$$

**The pooler.** $W$ and $b$ are the model's own:

$$\mathrm{pooler\_output} = \tanh(W \, h_{L,1} + b)$$
""".strip()
