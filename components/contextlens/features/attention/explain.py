"""The formulas of Attention."""

from __future__ import annotations

FORMULA = r"""
**Attention** of one head, with queries $Q$ and keys $K$ of $d_k$ dimensions for each token:

$$A = \mathrm{softmax}\left(\frac{Q K^{\top}}{\sqrt{d_k}} + M\right)$$

$M$ is so far below zero at padding that its columns are exactly 0. Row $i$ holds the
attention of token $i$ to each token $j$, and sums to 1. (MPNet adds a bias for the distance between
$i$ and $j$ before the softmax.)

**Hidden special tokens.** With $S$ the tokens that are left, $A_{ij}$ for $i, j \in S$; divided by
what is left of each row:

$$A'_{ij} = \frac{A_{ij}}{\sum_{k \in S} A_{ik}}$$

**Words.** A word gets the sum of what its sub-tokens get, and gives the mean of what they give:

$$A_{vw} = \frac{1}{|v|} \sum_{i \in v} \sum_{j \in w} A_{ij}$$

**Rollout** (Abnar and Zuidema, 2020). With $\bar{A}_\ell$ the mean over the heads of layer $\ell$:

$$\tilde{A}_\ell = \tfrac{1}{2} \bar{A}_\ell + \tfrac{1}{2} I$$

$$R_\ell = \mathrm{norm}(\tilde{A}_\ell) \, R_{\ell - 1}, \qquad R_0 = I$$

where norm divides each row by its sum.

**Entropy** of a head in bits: 0 where each token attends to one, $\log_2 n$ where to all equally:

$$H = -\frac{1}{n} \sum_{i} \sum_{j} A_{ij} \log_2 A_{ij}$$
""".strip()
