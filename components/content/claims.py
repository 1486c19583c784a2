"""What pages claim, a whole sentence for each verdict: the numbers are filled in where it is shown.

Users' texts come in quoted and escaped, shares as per cent. This module imports nothing of ours.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = [
    "MEANING_HEADLINE",
    "PAIRS_CAUTION",
    "PAIRS_CLAIM",
    "PAIRS_SURE",
    "PAIRS_TITLE",
    "RULER",
    "SENSES_AT_LAYER",
    "SENSES_CLAIM",
    "SENSES_SURE",
    "SENSES_TITLE",
    "SENSES_TITLE_AT_LAYER",
    "SENSES_UNTESTED",
]

_GUESS = "(always guessing {commonest}: {baseline})"

SENSES_TITLE: Mapping[str, str] = {
    "one": "{Layers} separates the senses of {word} best ({accuracy} right, guessing {baseline})",
    "several": "{Layers} separate the senses of {word} best ({accuracy}, guessing {baseline})",
    "every": "Every layer separates the senses of {word} ({accuracy} right, guessing {baseline})",
    "unclear": "No layer clearly separates the senses of {word}",
    "untested": "The senses of {word} cannot be tested here",
}
"""Titles of the picture of all layers, in plain text."""

SENSES_TITLE_AT_LAYER: Mapping[str, str] = {
    "tested": "Layer {layer}: {accuracy} of uses of {word} get the right sense (guessing "
    "{baseline})",
    "one": "Layer {layer}: 1 use of {word}",
    "several": "Layer {layer}: {n} uses of {word}",
}
"""Titles of the map of one layer, in plain text."""

SENSES_CLAIM: Mapping[str, str] = {
    "one": "{Layers} separates the senses of {word} best: **{accuracy}** of its uses get the right "
    f"sense {_GUESS}.",
    "several": "{Layers} separate the senses of {word} best: **{accuracy}** of its uses get the "
    f"right sense {_GUESS}.",
    "every": "Every layer separates the senses of {word} equally well: **{accuracy}** of its uses "
    f"get the right sense {_GUESS}.",
    "unclear": "No layer clearly separates the senses of {word}: at best, **{accuracy}** of its "
    f"uses get the right sense {_GUESS}.",
}

SENSES_AT_LAYER = "At layer {layer} it is **{accuracy}**."

SENSES_UNTESTED: Mapping[str, str] = {
    "one": "All labelled uses of {word} have the sense {sense}, so there is nothing to separate.",
    "single": "The senses of {word} cannot be tested: at least two senses need two labelled uses "
    "each.",
    "none": "No senses of {word} are labelled here, so they cannot be tested. Groups come from the "
    "vectors alone.",
}

SENSES_SURE: Mapping[str, str] = {
    "interval": "{n} uses were tested: the true share lies between {low} and {high} (95% "
    "interval).",
    "folds": "Each use was tested on sense averages of other uses ({n_folds}-fold "
    "cross-validation): it gets the sense whose average is most similar.",
    "split": "Senses were averaged over the training rows of the split and tested on its test "
    "rows: a use gets the sense whose average is most similar.",
    "one": "{Layers} lies within that interval and may do as well.",
    "several": "{Layers} lie within that interval and may do as well.",
    "alone": "No other layer lies within that interval.",
}

MEANING_HEADLINE: Mapping[str, str] = {
    "equal": "Same word, same vector",
    "same": "Same word, one meaning",
    "different": "Same word, two meanings",
    "references": "{word} is closer to {first} in {a}, to {second} in {b}",
    "cannot tell": "Same word; unclear whether the meaning differs",
    "two words, similar": "Two words that the model treats as similar",
    "two words, unrelated": "Two words, no more similar than unrelated words often are",
    "two words, equal": "Two words, same vector",
    "two words": "Two words, two vectors",
}
"""Headlines of Start here, in plain text."""

RULER: Mapping[str, str] = {
    "equal": "{Measure} **{cosine}**: the model gives both the same vector.",
    "cannot tell": "{Measure} **{cosine}**. Everyday words in one sense get {one_low} to "
    "{one_high}, words in two senses {two_low} to {two_high}: this number alone does not settle "
    "the meaning.",
    "same": "{Measure} **{cosine}**: uses this similar have the same meaning in at least {right} "
    "of cases, measured on {n_words} words.",
    "different": "{Measure} **{cosine}**: uses this different have two meanings in at least "
    "{right} of cases, measured on {n_words} words.",
    "unknown": "{Measure} **{cosine}**. Too few words were measured to say more.",
    "above": "{Measure} **{cosine}** is high: 9 in 10 random pairs of words get {low} to {high}.",
    "within": "{Measure} **{cosine}** is usual for unrelated words: 9 in 10 random pairs of words "
    "get {low} to {high}.",
    "below": "{Measure} **{cosine}** is low: 9 in 10 random pairs of words get {low} to {high}.",
    "note": "Bars hold 9 in 10 pairs, marks are their medians (of unrelated words: the mean). "
    "Measured on sentences that come with the app{left_out}: English, written for it.",
}
"""What a cosine of two words says: of one word by its verdict, of two words by random pairs."""

PAIRS_TITLE: Mapping[str, str] = {
    "clear": "Layer {layer} gets {accuracy} right (guessing {baseline})",
    "unclear": "No layer does clearly better than always giving the same answer",
}
"""Titles of the picture of all layers, in plain text."""

_PAIRS = (
    "At layer {layer}, one threshold on the similarity gets **{accuracy}** of the pairs right "
    "(always saying “{commonest}”: {baseline})"
)
PAIRS_CLAIM: Mapping[str, str] = {
    "better": f"{_PAIRS}.",
    "worse": f"{_PAIRS}: worse than that one answer.",
    "unclear": f"{_PAIRS}: too close to that one answer to call it better.",
}

PAIRS_CAUTION = (
    "This tests the similarity of two uses alone; labelled examples of each sense can tell more."
)

PAIRS_SURE = (
    "{n} {kind} were judged: “same” from a similarity (cosine) of {threshold} on. The true share "
    "lies between {low} and {high} (95% interval)."
)
