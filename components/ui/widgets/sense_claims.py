"""What labelled senses show at a layer and over all layers, worded alike on every page.

The conclusion is `components.analysis.separation.verdict_of`'s, the sentences are in
`english.toml`. Without streamlit.
"""

from __future__ import annotations

from collections.abc import Sequence

from components.analysis.separation import SenseVerdict, Separation, Trial, verdict_of
from components.content.language import say
from components.content.wording import listed, percent, quoted, shortened

__all__ = ["senses_claim", "senses_sure", "senses_title", "senses_title_at", "uses_title_at"]

_LONGEST, _TITLE = 24, 80


def senses_title_at(word: str, own: Separation, trial: Trial) -> str:
    """The finding at one layer, at most 80 characters; plain text, not Markdown."""
    return say(
        "senses.title_at_layer.tested",
        layer=own.layer,
        accuracy=percent(own.accuracy),
        word=shortened(word, _LONGEST // 2),
        baseline=percent(trial.chance),
    )


def uses_title_at(word: str, n: int, layer: int) -> str:
    """The title of the map of one layer where no sense can be tested; plain text."""
    name = shortened(word, _LONGEST)
    return say("senses.title_at_layer.untested", layer=layer, n=n, word=name)


def senses_title(word: str, curve: Sequence[Separation], trial: Trial) -> str:
    """The finding over all layers, at most 80 characters; plain text, not Markdown."""
    verdict = verdict_of(curve, trial)
    for longest in (_LONGEST, 12, 6):
        name = shortened(word, longest)
        for layers in (listed(verdict.best), f"{len(verdict.best)} layers"):
            title = say(
                f"senses.title.{_case(verdict, len(curve))}",
                **_numbers(verdict),
                word=name,
                Layers=_capital(layers),
            )
            if len(title) <= _TITLE:
                return title
    return title


def senses_claim(word: str, curve: Sequence[Separation], trial: Trial, layer: int) -> list[str]:
    """One or two sentences of Markdown: the best layer, then the layer shown where it is another.

    Args:
        word: whose senses they are.
        curve: the test at each layer; none where the trial has a problem.
        trial: the one that was tested.
        layer: the one shown.
    """
    verdict = verdict_of(curve, trial)
    if verdict.state == "untested":
        sense = quoted(trial.senses[0]) if trial.senses else ""
        return [say(f"senses.untested.{trial.problem}", word=quoted(word), sense=sense)]
    sentences = [
        say(
            f"senses.claim.{_case(verdict, len(curve))}",
            **_numbers(verdict),
            word=quoted(word),
            Layers=_capital(listed(verdict.best)),
        )
    ]
    shown = next((own for own in curve if own.layer == layer), None)
    if shown is not None and layer not in verdict.best:
        accuracy = percent(shown.accuracy)
        sentences.append(say("senses.claim.at_layer", layer=layer, accuracy=accuracy))
    return sentences


def senses_sure(curve: Sequence[Separation], trial: Trial) -> list[str]:
    """How the test was made and how far its share may be off; nothing where nothing was tested."""
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


def _case(verdict: SenseVerdict, n_layers: int) -> str:
    if verdict.state != "separate":
        return verdict.state
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
