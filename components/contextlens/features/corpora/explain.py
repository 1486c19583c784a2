"""The formulas of Corpora, and the schema of the stored data."""

from __future__ import annotations

FORMULA = r"""
**Words.** A text is cut at the Unicode word boundaries (UAX 29); what has a letter or a digit is a
word, and each of its places an **occurrence**. A marked span is one too. Letter case is ignored.

**Vectors.** An occurrence is cut into the sub-tokens $T$. At layer $\ell$, token $t$ has the hidden
state $h_{\ell,t}$. For each chosen layer their mean is stored, in 16 bits a number, not scaled:

$$w_\ell = \frac{1}{|T|} \sum_{t \in T} h_{\ell,t}$$

**Size.** With $n$ occurrences, $L$ layers and $d$ dimensions, the vectors take $2\,n\,L\,d$ bytes.
Words, places and texts add about a tenth.

**Stored once, in order.** Rows are added in the order of the texts, some seconds' worth at a time.
What is reported as stored stays, even if the server stops, and indexing goes on from there.
""".strip()

SCHEMA = (
    ("texts", "text", "string"),
    ("texts", "label_0, label_1, …", "string, a column of labels each"),
    ("texts", "target_start, target_end", "int32, the marked word"),
    ("occurrences", "text", "int32, the number of its text"),
    ("occurrences", "start, end", "int32, characters"),
    ("occurrences", "word", "string, casefolded"),
    ("occurrences", "surface, left, right", "string, as it stands there, and the words beside it"),
    ("occurrences", "is_target", "bool"),
    ("occurrences", "layer_0, layer_1, …", "float16 × dims, a column for each chosen layer"),
)
"""The data on disk: (table, columns, type)."""
