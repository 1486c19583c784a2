"""Attention: definitions, formulas and limits."""

from __future__ import annotations

__all__ = ["FORMULA", "LIMITS", "ROLLOUT", "SUMMARIES"]

LIMITS = (
    "Attention weights say how much of each token's value vector a head takes in; they leave out "
    "what those vectors hold, the residual connection and the feed-forward layers, so a large "
    "weight is no proof that a token mattered for a result, and a small one no proof that it did "
    "not."
)

ROLLOUT = (
    "Rollout (Abnar and Zuidema, 2020): each layer's mean attention is mixed half and half with "
    "the token itself, rows are renormalised, and the layers are multiplied, so that each row "
    "tells which tokens of the text a position was mixed from, as far as attention alone decides."
)

SUMMARIES = (
    "Shares are means over the tokens of this text, special ones included and padding left out: "
    "on the token before and on the one after (of the tokens that have one), on the first token, "
    "on the other special tokens, and on the token itself with the rest of its word. Entropy says "
    "how widely a head looks. A share is called the head's habit from 0.3 on, where it is 1.5 "
    "times that of even attention. Differences up to 0.02 are told as none, and of small weights "
    "those up to a fifth."
)

FORMULA = r"""
**Attention** of one head, with queries $Q$ and keys $K$ of $d_k$ dimensions for each token:

$$A = \mathrm{softmax}\left(\frac{Q K^{\top}}{\sqrt{d_k}} + M\right)$$

$M$ is so far below zero at padding that its columns are exactly 0. Rows are queries: row $i$ says
how much token $i$ takes from each token $j$, and sums to 1. (MPNet adds a bias for the distance of
$i$ and $j$ before the softmax.)

**Hidden special tokens.** With $S$ the tokens that stay, $A_{ij}$ for $i, j \in S$; renormalised:

$$A'_{ij} = \frac{A_{ij}}{\sum_{k \in S} A_{ik}}$$

**Words.** A word gets the sum of what its sub-tokens get, and gives the mean of what they give:

$$A_{vw} = \frac{1}{|v|} \sum_{i \in v} \sum_{j \in w} A_{ij}$$

**Rollout** (Abnar and Zuidema, 2020). With $\bar{A}_\ell$ the mean over the heads of layer $\ell$:

$$\tilde{A}_\ell = \tfrac{1}{2} \bar{A}_\ell + \tfrac{1}{2} I$$

$$R_\ell = \mathrm{norm}(\tilde{A}_\ell) \, R_{\ell - 1}, \qquad R_0 = I$$

where norm divides each row by its sum.

**Entropy** of a head in bits, from 0 (each token looks at one) to $\log_2 n$ (at all $n$ alike):

$$H = -\frac{1}{n} \sum_{i} \sum_{j} A_{ij} \log_2 A_{ij}$$
""".strip()
