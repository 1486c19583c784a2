"""Corpora: what is stored, how large it is, and what is said of a file."""

from __future__ import annotations

__all__ = ["FORMATS_HELP", "FORMULA", "LIMITS", "READY_MADE", "SCHEMA", "privacy"]

LIMITS = (
    "How often a word stands here says nothing of what it means: a corpus holds what somebody put "
    "into it, words behind a model's greatest length are not stored, labels are taken as they are, "
    "and only English function words are left out of the picture."
)

READY_MADE = "Ready-made, needs no indexing"

FORMATS_HELP = (
    "One text a row. The word that a text is about may be marked: by `start` and `end` (characters "
    "from 0, the end not included), by `span` (12-18), by `index` (white-space tokens from 0), or "
    "by the `word` itself. Labels belong to it alone then. A column `split` with train and test is "
    "kept to."
)

FORMULA = r"""
**Words.** A text is cut at the Unicode word boundaries (UAX 29); what has a letter or a digit is a
word, and each of its places an **occurrence**. A marked span is one too. Letter case is ignored.

**Vectors.** An occurrence is cut into the sub-tokens $T$. At layer $\ell$, token $t$ has the hidden
state $h_{\ell,t}$. For each chosen layer their mean is stored, in 16 bits a number, not scaled:

$$w_\ell = \frac{1}{|T|} \sum_{t \in T} h_{\ell,t}$$

**Size.** With $n$ occurrences, $L$ layers and $d$ dimensions, the vectors take $2\,n\,L\,d$ bytes.
Words, places and texts add about a tenth.

**Stored once, in order.** Rows are added in the order of the texts, some seconds' worth at a time.
What was said to be stored stays, whenever the server ends, and indexing goes on behind it.
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
"""Table, columns, type: what is on disk."""


def privacy(*, is_for_one: bool, in_cloud: bool) -> str:
    """Who can see what is stored, in two sentences.

    Args:
        is_for_one: whether the server answers to its own machine alone.
        in_cloud: whether it stores corpora in object storage.
    """
    place = "in the object storage of this server" if in_cloud else "on this server's disk"
    if is_for_one:
        place = place.replace("this server's disk", "this machine's disk")
        return (
            f"The chosen columns and their vectors are stored {place} until you delete them. "
            "Whoever can open this app can search them."
        )
    return (
        f"The chosen columns and their vectors are stored {place} until they are deleted. Whoever "
        "gets the address in your browser's bar can search, export and delete them. A link that "
        "you copy or share here names the corpus that is looked at alone, to be searched and "
        "exported."
    )
