"""The sentences "in words" of Pairs, computed from what is on screen."""

from __future__ import annotations

import numpy as np

from components.content.language import say
from components.content.wording import bold, percent, shortened, two
from components.features.pairs.compute.shown import PairsShown
from components.features.pairs.measures import SAME, Scores

__all__ = ["notes", "pairs_reading", "pairs_sure", "pairs_title", "roc_reading"]


def pairs_title(shown: PairsShown) -> str:
    """The finding over all layers."""
    scores, layers = shown.scores, shown.compared.layers
    if scores is None:
        medians = np.median(shown.compared.cosines[:, shown.there], axis=1)
        return _spread_title(medians.tolist(), layers)
    if not scores.is_clear:
        return say("pairs.title.unclear")
    return say(
        "pairs.title.clear",
        layer=layers[scores.best],
        accuracy=percent(scores.accuracy[scores.best]),
        baseline=percent(scores.majority),
    )


def _spread_title(medians: list[float], layers: tuple[int, ...]) -> str:
    high, low = int(np.argmax(medians)), int(np.argmin(medians))
    if len(layers) == 1 or medians[high] - medians[low] < 0.01:
        return f"The median cosine is {medians[-1]:.2f}"
    return (
        f"Most alike at layer {layers[high]} ({medians[high]:.2f}), least at {layers[low]} "
        f"({medians[low]:.2f})"
    )


def pairs_reading(shown: PairsShown) -> list[str]:
    """What is on screen at the layer."""
    return _unlabelled(shown) if shown.scores is None else _judged(shown, shown.scores)


def _unlabelled(shown: PairsShown) -> list[str]:
    own = shown.cosines[shown.there]
    if len(own) == 1:
        return [f"At layer **{shown.layer}** the one pair has a cosine of {bold(own[0])}."]
    low, middle, high = np.percentile(own, [25, 50, 75])
    return [
        f"At layer **{shown.layer}** half of the **{len(own):,}** pairs have a cosine between "
        f"{bold(low)} and {bold(high)}; the median is {bold(middle)}.",
        f"The most alike have {bold(own.max())}, the least alike {bold(own.min())}.",
    ]


def _judged(shown: PairsShown, scores: Scores) -> list[str]:
    row = shown.row
    right, low, high = scores.accuracy[row], scores.low[row], scores.high[row]
    above = "better" if low > scores.majority else "worse" if high < scores.majority else "unclear"
    claim = say(
        f"pairs.claim.{above}",
        layer=shown.layer,
        accuracy=percent(right),
        commonest=scores.commonest,
        baseline=percent(scores.majority),
    )
    return [claim, say("pairs.claim.caution")] if shown.pairs.has_words else [claim]


def pairs_sure(shown: PairsShown) -> list[str]:
    """How the pairs were judged, and which mistakes there are; nothing without labels."""
    scores = shown.scores
    if scores is None:
        return []
    row = shown.row
    low, high = (percent(ends[row]) for ends in (scores.low, scores.high))
    return [
        say(
            "pairs.sure.interval",
            n=f"{scores.n:,}",
            kind="test pairs" if scores.how == "split" else "pairs",
            threshold=two(scores.thresholds[row]),
            low=low,
            high=high,
        ),
        _errors(shown, scores),
    ]


def _errors(shown: PairsShown, scores: Scores) -> str:
    wrong = scores.wrong(shown.row)
    if not len(wrong):
        return "No pair is judged wrong."
    missed = int((shown.pairs.gold[wrong] == SAME).sum())
    called = len(wrong) - missed
    return (
        f"{len(wrong):,} judged wrong: {called:,} different ones called “same”, {missed:,} same "
        "ones called “different”."
    )


def roc_reading(auc: float, n: int) -> str:
    """What the area under the curve says."""
    return (
        f"Take any pair that is the same and any that is different: in **{percent(auc)}** of such "
        f"cases the first has the higher cosine (AUC {auc:.4f}, {n:,} pairs judged). This needs no "
        "threshold; by guessing it would be 50%."
    )


def notes(shown: PairsShown) -> list[str]:
    """What the figures rest on, and what was left out, in a line each; names are not escaped."""
    scores, compared, pairs = shown.scores, shown.compared, shown.pairs
    what = "words" if pairs.has_words else "whole texts"
    line = [f"{shortened(pairs.name, 60)}: {pairs.n:,} pairs of {what}"]
    if pairs.n == 1:
        line = [line[0].replace("pairs of words", "pair of words").replace("1 pairs", "1 pair")]
    if scores is not None and scores.how == "split":
        line.append(f"threshold from {scores.n_train:,} training pairs, judged on {scores.n:,}")
        if (scores.train_accuracy == scores.train_accuracy.max()).sum() == 1:
            best = compared.layers[scores.best]
            line.append(f"of the training pairs layer {best} gets most right")
        if scores.n_left_out:
            line.append(f"{scores.n_left_out:,} are in neither part")
    elif scores is not None:
        line.append(
            f"{scores.n_folds}-fold cross-validation: each pair is judged by a threshold from the "
            "other folds"
        )
    if shown.n_lost:
        line.append(f"{shown.n_lost:,} have no cosine: the model does not read their word")
    if compared.n_cut:
        line.append(f"{compared.n_cut:,} texts are longer than the model takes")
    said = [" · ".join(line), *pairs.notes]
    if compared.why_not:
        said.append(compared.why_not)
    if scores is not None and scores.note:
        said.append(scores.note)
    return said
