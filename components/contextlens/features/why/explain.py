"""The definitions and formulas of the page “Why alike?”."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from contextlens.features.why.controls import LEAVE_OUT, SHARES, SWAP_IN, SWITCH_OFF

_SCORE = r"""
**The score.** With $h_i$ and $g_j$ the hidden states of the two sentences at a layer, and weights
$w_i$, $v_j$ that sum to 1 (equal for all real tokens, special ones included; or for [CLS] alone; or
for the tokens of a word):

$$a = \sum_i w_i h_i, \qquad b = \sum_j v_j g_j, \qquad \cos(a, b) = \frac{a \cdot b}{|a|\,|b|}$$
"""

FORMULA: Mapping[str, str] = MappingProxyType(
    {
        SHARES: _SCORE
        + r"""
**Shares.** The numerator is a sum over pairs of tokens, so the score is one too, exactly:

$$\cos(a, b) = \sum_{i, j} s_{ij}, \qquad s_{ij} = \frac{w_i v_j \; h_i \cdot g_j}{|a|\,|b|}$$

A token's share is its row's sum or its column's; a word's is the sum over its tokens.
""",
        LEAVE_OUT: _SCORE
        + r"""
**Leave out.** The change is the score without the word, less the score. *Taken out*, the text is
read anew without the word's characters. *Hidden*, the word keeps its tokens and their positions,
and no token may attend to them in any layer, they themselves included.

**Order.** Kendall's $\tau_b$ (1945) between shares and falls, from 1 (the same order) to -1.
""",
        SWITCH_OFF: _SCORE
        + r"""
**Switch off.** A head's output, before the projection that follows all heads of its layer, is
replaced by zeros, or by its mean over all tokens of sample sentences; likewise a layer's whole
attention and its feed-forward, before they are added to what went in. The change is the score then,
less the score; over several sentences, the mean over all their pairs.
""",
        SWAP_IN: _SCORE
        + r"""
**Swap in.** One sentence is read again, and at one layer the hidden state of one position is
replaced by that of the token of the other sentence that stands for it. With $a$ and $b$ the results
of both sentences and $a'$ that of the changed run, the share of the way is the projection

$$f = \frac{(a' - a) \cdot (b - a)}{|b - a|^2}$$

0 where nothing moves, 1 where the result lies level with $b$. In sentences of equal length, tokens
are matched by position; otherwise equal tokens in the same order are (Ratcliff and Obershelp
1988).
""",
    }
)
"""The formulas by look."""

INTEGRATED = r"""
**Down to the input tokens.** Integrated gradients (Sundararajan, Taly and Yan 2017) of the score
over the embedding layer's output $x$, from a start $x^0$ to the sentence's own. At the start every
ordinary token has the word vector of padding; special tokens keep theirs, and positions, segments
and LayerNorm are the same. The other sentence stays as it is:

$$
s_i = (x_i - x_i^0) \cdot \int_0^1 \frac{\partial \cos}{\partial x_i}
\bigl(x^0 + t\,(x - x^0)\bigr) \, dt
$$

The shares add up to the score less the score at the start, but for what the steps of the integral
miss: that remainder is stated.
""".strip()
