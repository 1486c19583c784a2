"""Grammar of counts in the sentences of `english.toml`: none, one, both, and ranges of one number.

It changes a sentence before its gaps are filled, so a visitor's words are never touched. A
translation has rules of its own here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

__all__ = ["NOUNS", "VERBS", "agreeing"]

NOUNS = frozenset(
    """
    arrays bits changes characters checks dimensions dims edits errors groups heads hours labels
    layers letters lines marks minutes neighbours numbers pairs parameters parts pieces points
    positions rows seconds senses sentences steps texts times tokens triplets uses values vectors
    views words
    """.split()  # noqa: SIM905
)
"""The things that sentences count; each in the singular without its last letter."""
_REGULAR = (
    "agree belong change contribute differ fit get hold keep lose make move repeat share stand"
)
VERBS = {
    "are": "is",
    "were": "was",
    "have": "has",
    "match": "matches",
    "do": "does",
    **{verb: f"{verb}s" for verb in _REGULAR.split()},
}
"""The verbs that stand behind a count, in the plural and the singular."""
_TAKES_NO_NONE = re.compile(
    r"(?:^|\s)(?:all|among|at|each|first|from|in|its|last|least|most|of|on|only|or|other|over|than|the|"
    r"these|to|under|with)\s$"
)
"""The words behind which zero stays a number: "only 0 texts", not "only no texts"."""
_BETWEEN = r"(?: (?!(?:and|at|from|in|is|its|of|or|than|the|to)\b)[a-z-]+){0,2}?"
_GAP = r"(?<!layer )(?<!head )(?<!position )(?P<bold>\*\*)?\{(?P<name>\w+)(?::,)?\}(?P<end>\*\*)?"
_VERB = rf"(?P<verb>{'|'.join(VERBS)})\b"
_NOUN = rf"(?P<noun>{'|'.join(sorted(NOUNS))})\b"
_COUNTED = re.compile(
    rf"(?P<all>\b[Aa]ll (?:the )?)?{_GAP}(?P<between>{_BETWEEN}) {_NOUN}(?: {_VERB})?"
)
_ALONE = re.compile(rf"(?P<all>\b[Aa]ll )?{_GAP} {_VERB}")
_OF = re.compile(r"(?P<gap>\{(?P<name>\w+)\})(?P<of>(?:\*\*)? of (?:\*\*)?\{(?P<total>\w+)\})")
_RANGE = re.compile(
    r"(?<!from )(?<!from \*\*)(?<!between )(?P<gap>\{(?P<low>\w+)(?P<low_form>:[^{}]*)?\})"
    r"(?:\*\* to \*\*| to )\{(?P<high>\w+)(?P<high_form>:[^{}]*)?\}"
)


def agreeing(sentence: str, numbers: Mapping[str, Any], form: Callable[[Any, str], str]) -> str:
    """Return a sentence, its gaps unfilled, whose words agree with its counts.

    Args:
        sentence: a text of `english.toml`.
        numbers: the values of its gaps.
        form: formats a value as the sentence will.
    """
    counts = {name: int(n) for name, n in numbers.items() if isinstance(n, Integral) and n <= 2}

    def counted(match: re.Match[str]) -> str:
        n, noun, verb = counts.get(match["name"]), match["noun"], match["verb"]
        if n == 1:
            noun, verb = noun[:-1], VERBS.get(verb or "", verb)
        rest = f"{match['between']} {noun}{f' {verb}' if verb else ''}"
        if match["all"] and n:
            opens = match["bold"] if match["bold"] and not match["end"] else ""
            return opens + _as_begun("both" if n == 2 else "the only", match) + rest
        gap = match[0][: match.start("between") - match.start()]
        return (_none("no", match) if n == 0 else gap) + rest

    def alone(match: re.Match[str]) -> str:
        n = counts.get(match["name"])
        if n == 0:
            return f"{_none('none', match)} {match['verb']}"
        if n == 2 and match["all"]:
            return f"{_as_begun('both', match)} {match['verb']}"
        return match[0].removesuffix(match["verb"]) + VERBS[match["verb"]] if n == 1 else match[0]

    def of_total(match: re.Match[str]) -> str:
        if not counts.get(match["name"]) == counts.get(match["total"]) == 1:
            return match[0]
        of = match["of"]
        return match["gap"] + ("**" if of.startswith("**") and of.count("**") == 1 else "")

    def range_of_one(match: re.Match[str]) -> str:
        low, high = (numbers.get(match[end]) for end in ("low", "high"))
        if not (isinstance(low, Real) and isinstance(high, Real)):
            return match[0]
        ends = {
            form(low, (match["low_form"] or "")[1:]),
            form(high, (match["high_form"] or "")[1:]),
        }
        return match["gap"] if len(ends) == 1 else match[0]

    sentence = _RANGE.sub(range_of_one, sentence)
    if not counts:
        return sentence
    return _ALONE.sub(alone, _COUNTED.sub(counted, _OF.sub(of_total, sentence)))


def _none(word: str, match: re.Match[str]) -> str:
    """Return a word in place of the number zero; the gap where that would be no English."""
    if match["all"] or _TAKES_NO_NONE.search(match.string[: match.start()]):
        return f"{match['all'] or ''}{match['bold'] or ''}{{{match['name']}}}{match['end'] or ''}"
    return f"{match['bold'] or ''}{_as_begun(word, match)}{match['end'] or ''}"


def _as_begun(word: str, match: re.Match[str]) -> str:
    """Return a word, capitalised if the match begins a sentence."""
    before = match.string[: match.start()].rstrip("*")
    return word.capitalize() if not before or before.endswith((". ", "? ", "! ")) else word
