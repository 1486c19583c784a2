"""Sentences on labelled senses at a layer and over all layers, the same on every page.

The conclusion comes from `contextlens.analysis.separation.verdict_of`, the sentences from
`english.toml`. Without streamlit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from contextlens.analysis.separation import (
    SenseVerdict,
    Separation,
    Trial,
    is_beyond_luck,
    verdict_of,
)
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import escape, listed, percent, quoted, shortened

_LONGEST = 24


def senses_title_at(word: str, separation: Separation, trial: Trial) -> str:
    """Return the finding at one layer, at most 80 characters; plain text, not Markdown."""
    return say(
        "senses.title_at_layer.tested",
        layer=separation.layer,
        accuracy=percent(separation.accuracy),
        word=shortened(word, _LONGEST // 2),
        baseline=percent(trial.chance),
    )


def sorted_claim(word: str, test: Separation | None, trial: Trial) -> Claim:
    """Return the headline of a word's map: what a dot is, and how many are sorted right here.

    Args:
        word: the word.
        test: the test at the layer shown; None if its senses cannot be tested.
        trial: the tested trial.
    """
    name = escape(shortened(word, _LONGEST))
    if test is None:
        return claim("senses.sorted.untested", word=name)
    verdict = "better" if is_beyond_luck([test], test.accuracy, trial.chance) else "luck"
    numbers = {"right": test.right, "n": test.n, "guessed": round(trial.chance * test.n)}
    return claim(f"senses.sorted.{verdict}", word=name, **numbers)


def curve_title(curve: Sequence[Separation], trial: Trial) -> str:
    """Return the finding over all layers in a few words, as the title of their curve."""
    verdict = verdict_of(curve, trial)
    layers = _capital(listed(verdict.best))
    return say(f"senses.curve_title.{_case(verdict, len(curve))}", Layers=layers)


def senses_claim(word: str, curve: Sequence[Separation], trial: Trial, layer: int) -> list[str]:
    """Return one or two sentences of Markdown: the best layer, then the current one if it differs.

    Args:
        word: the word with these senses.
        curve: the test at each layer; empty if the trial has a problem.
        trial: the tested trial.
        layer: the current layer.
    """
    verdict = verdict_of(curve, trial)
    if verdict.state == "untested":
        sense = quoted(trial.senses[0]) if trial.senses else ""
        return [say(f"senses.untested.{trial.problem or 'none'}", word=quoted(word), sense=sense)]
    sentences = [
        say(
            f"senses.claim.{_case(verdict, len(curve))}",
            **_numbers(verdict),
            word=quoted(word),
            Layers=_capital(listed(verdict.best)),
        )
    ]
    current = next((separation for separation in curve if separation.layer == layer), None)
    if current is not None and layer not in verdict.best:
        accuracy = percent(current.accuracy)
        sentences.append(say("senses.claim.at_layer", layer=layer, accuracy=accuracy))
    return sentences


def senses_sure(curve: Sequence[Separation], trial: Trial) -> list[str]:
    """Return sentences on the test's method and margin of error; none if nothing was tested."""
    verdict = verdict_of(curve, trial)
    if verdict.state == "untested":
        return []
    low, high = map(percent, verdict.interval)
    sentences = [
        say("senses.sure.interval", n=verdict.n, low=low, high=high),
        say(f"senses.sure.{trial.how}", n_folds=trial.n_folds),
    ]
    if len(verdict.best) < len(curve):
        case = ("alone", "one")[len(verdict.near)] if len(verdict.near) < 2 else "several"
        near = _capital(listed(verdict.near))
        sentences.insert(1, say(f"senses.sure.{case}", Layers=near))
    return sentences


def _case(verdict: SenseVerdict, n_layers: int) -> Literal["unclear", "every", "one", "several"]:
    if verdict.state != "separate":
        return "unclear"
    if len(verdict.best) == n_layers > 1:
        return "every"
    return "one" if len(verdict.best) == 1 else "several"


def _numbers(verdict: SenseVerdict) -> dict[str, str]:
    if verdict.state == "untested":
        return {}
    return {
        "accuracy": percent(verdict.accuracy),
        "baseline": percent(verdict.baseline),
        "commonest": quoted(verdict.commonest),
    }


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
