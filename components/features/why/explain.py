"""Why alike?: definitions, formulas and limits."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from components.features.why.controls import LEAVE_OUT, SHARES, SWAP_IN, SWITCH_OFF

__all__ = ["FORMULA", "INTEGRATED", "LIMITS"]

_SCORE = r"""
**The score.** With $h_i$ and $g_j$ the hidden states of the two sentences at a layer, and weights
$w_i$, $v_j$ that sum to 1 (all real tokens alike, special ones included; [CLS] alone; or a word's
tokens alike):

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
and no token of the text, not even itself, may look at them in any layer.

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
of both sentences and $a'$ that of the changed run, the part of the way is the projection

$$f = \frac{(a' - a) \cdot (b - a)}{|b - a|^2}$$

0 where nothing moves, 1 where the result is all the way at $b$. Tokens stand for each other by
place where both sentences have as many, else as equal tokens in the same order do (Ratcliff and
Obershelp 1988).
""",
    }
)
"""By the look."""

INTEGRATED = r"""
**Down to the input tokens.** Integrated gradients (Sundararajan, Taly and Yan 2017) of the score
over the embedding layer's output $x$, from a start $x^0$ in which each token's word vector is that
of padding (same positions, segments and LayerNorm), to the sentence's own; the other sentence stays
as it is:

$$
s_i = (x_i - x_i^0) \cdot \int_0^1 \frac{\partial \cos}{\partial x_i}
\bigl(x^0 + t\,(x - x^0)\bigr) \, dt
$$

The shares add up to the score less the score at the start, but for what the steps of the integral
miss: that remainder is stated.
""".strip()

LIMITS: Mapping[str, str] = MappingProxyType(
    {
        SHARES: (
            "Shares are arithmetic, not causes: each position at a layer has already taken in "
            "something of all the others, so a share at a later layer is that of a place in the "
            "text, not of the word alone; and what the score would be without the word is another "
            "question, which Leave out answers; integrated gradients depend on where they start."
        ),
        LEAVE_OUT: (
            "A text without a word is another text, often an odd one that the model was never "
            "trained on, and its positions move up; a hidden word leaves a gap that training never "
            "left; two words that say the same can each be left out at no cost."
        ),
        SWITCH_OFF: (
            "Switching a part off also shows what the rest does without it: later layers get "
            "something that training never gave them, and others may step in; a change tells what "
            "the model loses, not what the part is for; one pair of sentences is one pair."
        ),
        SWAP_IN: (
            "A state that is put in meets states of another sentence, a mixture that the model "
            "never made itself; parts of the way need not add up over tokens, and what one "
            "position brings at a layer may have come from others below it."
        ),
    }
)
"""By the look."""
