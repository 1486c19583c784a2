"""Tokens & IDs: how a text becomes numbers, what an ID stands for, and limits."""

from __future__ import annotations

__all__ = ["FORMULA", "LIMITS", "METHODS", "ROW"]

LIMITS = (
    "Tokens show how a text is written for the model, not what it understands: a word cut into "
    "many pieces may be understood well, and a word kept whole may not."
)

METHODS = {
    "WordPiece": (
        "**WordPiece.** The text is normalised and split at spaces and signs. Each word is then "
        "cut from the left: the longest piece in the vocabulary that the word begins with, then "
        "the longest one that goes on with it (written with ## before it), to the end. A word that "
        "cannot be finished this way becomes one [UNK]."
    ),
    "BPE": (
        "**Byte-level BPE.** The text is seen as bytes, so that nothing is unknown. Starting from "
        "single bytes, the pair of neighbours that was merged first when the vocabulary was "
        "learned is merged, again and again, until no known pair is left. Ġ stands for the space "
        "before a word."
    ),
    "Unigram": (
        "**Unigram.** Each piece of the vocabulary has a probability. Of all ways to cut the text "
        "into pieces the most probable one is taken. ▁ stands for the space before a word."
    ),
}

FORMULA = r"""
**Special tokens.** One text becomes `[CLS] text [SEP]`, a pair `[CLS] first [SEP] second [SEP]`;
other families have signs of their own for both. The segment of the second text is 1
in models that have segments.

**Padding and mask.** Padding adds pad tokens up to a length $N$; the attention mask is 1 for real
tokens and 0 for padding.

**Truncation.** Where a text has more than $N$ tokens, special ones included, its end is left out;
of a pair, the longer text is cut first.
""".strip()

ROW = r"""
An ID $i$ stands for the one-hot vector $o_i \in \{0, 1\}^{V}$, which is 1 at place $i$ and 0
elsewhere. Multiplied with the word-embedding matrix $E \in \mathbb{R}^{V \times d}$ it gives

$$o_i E = E_{i}$$

which is row $i$ itself. So no product is computed: the row is looked up.
""".strip()
