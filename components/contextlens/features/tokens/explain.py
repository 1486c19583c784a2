"""Tokens & IDs: the path from a text to numbers, and the meaning of an ID."""

from __future__ import annotations

FORMULA = r"""
**Special tokens.** One text becomes `[CLS] text [SEP]`, a pair `[CLS] first [SEP] second [SEP]`;
other model families have other special tokens. The segment of the second text is 1 in models that
have segments.

**Padding and mask.** Padding adds pad tokens up to a length $N$; the attention mask is 1 for real
tokens and 0 for padding.

**Truncation.** Where a text has more than $N$ tokens, special tokens included, its end is left out.
In a pair, the longer text is shortened first.
""".strip()

ROW = r"""
An ID $i$ stands for the one-hot vector $o_i \in \{0, 1\}^{V}$, which is 1 at place $i$ and 0
elsewhere. Multiplied with the word-embedding matrix $E \in \mathbb{R}^{V \times d}$ it gives

$$o_i E = E_{i}$$

which is row $i$ itself. So nothing is multiplied: the row is looked up.
""".strip()
