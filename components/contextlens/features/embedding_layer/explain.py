"""The formulas of the Embedding layer page."""

from __future__ import annotations

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
