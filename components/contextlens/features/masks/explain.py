"""Padding & masks: definitions and formulas."""

from __future__ import annotations

FORMULA = r"""
**Attention with a mask.** Position $i$ attends to position $j$ with the score $s_{ij}$. The
mask $m_j$ is 1 for a token and 0 for padding; where it is 0, the score is lowered so far that the
attention is 0:

$$a_{ij} = \frac{m_j \, e^{s_{ij}}}{\sum_k m_k \, e^{s_{ik}}}$$

With the mask switched off every $m_j$ is 1, and padding gets some of every token's attention.

**Similarity to the unpadded self.** At layer $\ell$, token $t$ has the vector $h_{\ell,t}$ in the
text alone and $h'_{\ell,t}$ in the padded batch. The cells show

$$\cos(h, h') = \frac{h \cdot h'}{\lVert h \rVert \, \lVert h' \rVert}$$

**Means.** Over the $n$ real tokens of a text padded to $N$ positions, and over all positions:

$$\bar{h}_\ell = \frac{1}{n} \sum_{t=1}^{n} h'_{\ell,t}$$

$$\tilde{h}_\ell = \frac{1}{N} \sum_{t=1}^{N} h'_{\ell,t}$$

Both are compared with the mean over the tokens of the text alone.

**The share of padding** in a batch of $B$ texts with $n_b$ tokens each:

$$1 - \frac{\sum_b n_b}{B \, N}$$

**The pooler.** $W$ and $b$ are the model's own:

$$\mathrm{pooler\_output} = \tanh(W \, h_{L,1} + b)$$
""".strip()
