"""The sample of everyday sentences behind the random-pair baseline.

A cosine alone says little: some models give any two words 0.8, others 0.1. So the pages draw beside
each cosine what words with nothing to do with each other get, and for that every model needs the
same mixed bag of text: news, recipes, law, medicine, code, chat, verse, questions, and so on. The
sentences were written for this app; one line of the file is one sentence. This module reads text,
knows no model, and imports nothing of ours.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

__all__ = ["baseline_sentences"]

_FILE = "baseline_sentences.txt"


@lru_cache(maxsize=1)
def baseline_sentences() -> tuple[str, ...]:
    """The sample in the order of its file: at least 200 different sentences, without line ends."""
    text = resources.files(__package__).joinpath(_FILE).read_text(encoding="utf-8")
    return tuple(line.strip() for line in text.splitlines() if line.strip())
