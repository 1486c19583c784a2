"""The sentences of Pairs; numbers are compared as displayed, in whole per cent."""

from __future__ import annotations

import numpy as np

from components.content.language import Claim, claim, say
from components.content.wording import shortened, two
from components.features.pairs.compute import PairsShown
from components.features.pairs.measures import SAME, Scores

__all__ = ["notes", "pairs_claims", "pairs_sure", "pairs_title", "roc_claim"]


def pairs_title(shown: PairsShown) -> str:
    """The finding over all layers."""
    scores, layers = shown.scores, shown.compared.layers
    if scores is None:
        medians = np.median(shown.compared.cosines[:, shown.there], axis=1)
        high, low = int(np.argmax(medians)), int(np.argmin(medians))
        if medians[high] - medians[low] < 0.01 or two(medians[high]) == two(medians[low]):
            return say("pairs.title.alike", median=float(medians[shown.row]))
        ends = {"high_layer": layers[high], "low_layer": layers[low]}
        values = {"high": float(medians[high]), "low": float(medians[low])}
        return say("pairs.title.spread", **ends, **values)
    if not scores.is_clear:
        return say("pairs.title.unclear")
    share, baseline = float(scores.accuracy[scores.best]), scores.majority
    numbers = {"layer": layers[scores.best], "accuracy": share, "baseline": baseline}
    return say(f"pairs.title.{scores.how}", **numbers)


def pairs_claims(shown: PairsShown) -> list[Claim]:
    """The reading at the layer."""
    scores = shown.scores
    if scores is None:
        own = shown.cosines[shown.there].astype(float)
        low, median, high = np.percentile(own, [25, 50, 75]).tolist()
        numbers = {"low": low, "median": median, "high": high}
        return [claim("pairs.unlabelled", n=len(own), layer=shown.layer, **numbers)]
    row = shown.row
    low, high, baseline = (
        round(100 * float(share)) for share in (scores.low[row], scores.high[row], scores.majority)
    )
    finding = claim(
        f"pairs.claim.{'better' if low > baseline else 'worse' if high < baseline else 'unclear'}",
        layer=shown.layer,
        accuracy=float(scores.accuracy[row]),
        commonest=scores.commonest,
        baseline=scores.majority,
    )
    return [finding, claim("pairs.claim.caution")] if shown.pairs.has_words else [finding]


def pairs_sure(shown: PairsShown) -> list[Claim]:
    """The method of judging, and the kinds of mistakes; nothing without labels."""
    scores, row = shown.scores, shown.row
    if scores is None:
        return []
    low, high = float(scores.low[row]), float(scores.high[row])
    how = {"threshold": float(scores.thresholds[row]), "n_folds": scores.n_folds}
    return [
        claim("pairs.sure.interval", n=scores.n, low=low, high=high),
        claim(f"pairs.sure.{scores.how}", n=scores.n_train, **how),
        _errors(shown, scores),
    ]


def _errors(shown: PairsShown, scores: Scores) -> Claim:
    wrong = scores.wrong(shown.row)
    missed = int((shown.pairs.gold[wrong] == SAME).sum())
    case = "errors" if len(wrong) else "no_errors"
    return claim(f"pairs.sure.{case}", n=len(wrong), called=len(wrong) - missed, missed=missed)


def roc_claim(auc: float) -> Claim:
    """The meaning of the area under the curve."""
    return claim("pairs.roc.area", auc=auc)


def notes(shown: PairsShown) -> list[str]:
    """The basis of the figures, and what was left out, one line each; names are not escaped."""
    scores, compared, pairs = shown.scores, shown.compared, shown.pairs
    kind = "words" if pairs.has_words else "texts"
    line = [say(f"pairs.notes.{kind}", name=shortened(pairs.name, 60), n=pairs.n)]
    if scores is not None and scores.n_left_out:
        line.append(say("pairs.notes.left_out", n=scores.n_left_out))
    if shown.n_lost:
        line.append(say("pairs.notes.lost", n=shown.n_lost))
    if compared.n_cut:
        line.append(say("pairs.notes.cut", n=compared.n_cut))
    why = [compared.why_not, "" if scores is None else scores.note]
    return [" · ".join(line), *pairs.notes, *filter(None, why)]
