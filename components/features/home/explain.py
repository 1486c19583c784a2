"""Start here: what this app is."""

from __future__ import annotations

__all__ = ["HOME_INTRO"]

HOME_INTRO = (
    "Contextlens shows what a language model of the BERT family does with your text, from the "
    "tokens that it is cut into to the vectors that every layer makes of them. "
    "Type sentences, choose a word, and see how the words around it change what the model makes of "
    "it. "
    "Every number is computed by the model you choose, and can be downloaded and checked."
)
