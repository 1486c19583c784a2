"""The content words of a text, by which a search by words finds it.

Function words are scikit-learn's of English, without those that mean something, such as "bill" and
"fire", and with the pieces of contractions, such as "don" and "t".
"""

from __future__ import annotations

import unicodedata
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import regex

__all__ = ["CONTRACTED", "MEANINGFUL", "PATTERN", "content_words"]

PATTERN = r"[\p{Han}\p{Hiragana}\p{Katakana}]|[\w\p{M}]+"
"""A word, or a character of a script without spaces. Vowel signs of Hindi and others are marks."""
MEANINGFUL = (
    "amount bill bottom call cry describe detail empty fill find fire found front full give "
    "interest mill mine move name serious side sincere system thick thin top"
)
"""What scikit-learn takes for function words, and is none."""
CONTRACTED = (
    "ain aren couldn d didn doesn don hadn hasn haven isn ll m mustn s shouldn t ve wasn weren "
    "won wouldn"
)
_WORD = regex.compile(PATTERN)


def content_words(text: str) -> list[str]:
    """Return the content words of a text in order, in small letters."""
    words = _WORD.findall(unicodedata.normalize("NFC", text).lower())
    return [word for word in words if word not in _function_words()]


@cache
def _function_words() -> frozenset[str]:
    # Its file alone: to import scikit-learn takes a second.
    package = find_spec("sklearn")
    if package is None or package.origin is None:
        raise ImportError("scikit-learn is not installed.")
    file = Path(package.origin).parent / "feature_extraction" / "_stop_words.py"
    module = ModuleType("stop_words")
    SourceFileLoader(module.__name__, str(file)).exec_module(module)
    words: frozenset[str] = module.ENGLISH_STOP_WORDS
    return words - set(MEANINGFUL.split()) | set(CONTRACTED.split())
