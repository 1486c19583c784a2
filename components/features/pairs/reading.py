"""The sentences of Pairs; numbers are compared as displayed, in whole per cent."""

from __future__ import annotations

from typing import Any

import numpy as np

from components.content.language import Claim, claim, say
from components.content.wording import shortened, two
from components.features.pairs.compute import PairsAtLayer
from components.features.pairs.measures import SAME, UNKNOWN, Scores

__all__ = ["notes", "pair_claims", "pairs_claims", "pairs_sure", "pairs_title", "roc_claim"]


def pair_claims(at_layer: PairsAtLayer, pair: int) -> list[Claim]:
    """The verdict on one pair, beside its label if it has one."""
    pairs, called_same = at_layer.pairs, at_layer.called_same
    kind = "words" if pairs.has_words else "texts"
    cosine, cut = float(at_layer.cosines[pair]), at_layer.cut_of(pair)
    if cut is None or called_same is None:
        return [_place(at_layer, cosine, kind), claim("pairs.verdict.no_threshold")]
    called, gold = bool(called_same[pair]), int(pairs.gold[pair])
    case = "unlabelled" if gold == UNKNOWN else "right" if called == (gold == SAME) else "wrong"
    numbers: dict[str, Any] = {"cosine": cosine, "threshold": cut}
    if two(cosine) == two(cut):  # four decimals tell which is greater
        numbers = {name: _four(value) for name, value in numbers.items()}
    names = {"called": _NAMES[called], "label": _NAMES[gold == SAME]}
    return [claim(f"pairs.verdict.{kind}.{case}", **names, **numbers)]


def _four(value: float) -> str:
    return f"{round(value, 4) + 0.0:.4f}".replace("-", "\N{MINUS SIGN}")


_NAMES = {True: "the same", False: "different"}


def _place(at_layer: PairsAtLayer, cosine: float, kind: str) -> Claim:
    """The place of a similarity among those of all pairs at the layer."""
    cosines = at_layer.cosines[at_layer.compared_pairs]
    lower = float((cosines < cosine).sum()) / max(1, len(cosines) - 1)
    verdict = "place" if len(cosines) > 1 else "alone"
    key = f"pairs.verdict.{kind}.{verdict}"
    return claim(key, cosine=cosine, share=lower, count=len(cosines) - 1)


def pairs_title(at_layer: PairsAtLayer) -> str:
    """The finding over all layers."""
    scores, layers = at_layer.scores, at_layer.result.layers
    if scores is None:
        medians = np.median(at_layer.result.cosines[:, at_layer.compared_pairs], axis=1)
        high, low = int(np.argmax(medians)), int(np.argmin(medians))
        if medians[high] - medians[low] < 0.01 or two(medians[high]) == two(medians[low]):
            return say("pairs.title.alike", median=float(medians[at_layer.row]))
        ends = {"high_layer": layers[high], "low_layer": layers[low]}
        values = {"high": float(medians[high]), "low": float(medians[low])}
        return say("pairs.title.spread", **ends, **values)
    if not scores.is_clear:
        return say("pairs.title.unclear")
    share, baseline = float(scores.accuracy[scores.best]), scores.majority
    numbers = {"layer": layers[scores.best], "accuracy": share, "baseline": baseline}
    return say(f"pairs.title.{scores.how}", **numbers)


def pairs_claims(at_layer: PairsAtLayer) -> list[Claim]:
    """The reading at the layer."""
    scores = at_layer.scores
    if scores is None:
        cosines = at_layer.cosines[at_layer.compared_pairs].astype(float)
        low, median, high = np.percentile(cosines, [25, 50, 75]).tolist()
        numbers = {"low": low, "median": median, "high": high}
        return [claim("pairs.unlabelled", n=len(cosines), layer=at_layer.layer, **numbers)]
    row = at_layer.row
    low, high, baseline = (
        round(100 * float(share)) for share in (scores.low[row], scores.high[row], scores.majority)
    )
    finding = claim(
        f"pairs.claim.{'better' if low > baseline else 'worse' if high < baseline else 'unclear'}",
        layer=at_layer.layer,
        accuracy=float(scores.accuracy[row]),
        commonest=scores.commonest,
        baseline=scores.majority,
    )
    return [finding, claim("pairs.claim.caution")] if at_layer.pairs.has_words else [finding]


def pairs_sure(at_layer: PairsAtLayer) -> list[Claim]:
    """The interval, the method of judging and the mistakes; no claims without labels."""
    scores, row = at_layer.scores, at_layer.row
    if scores is None:
        return []
    low, high = float(scores.low[row]), float(scores.high[row])
    how = {"threshold": float(scores.thresholds[row]), "n_folds": scores.n_folds}
    return [
        claim("pairs.sure.interval", n=scores.n, low=low, high=high),
        claim(f"pairs.sure.{scores.how}", n=scores.n_train, **how),
        _errors(at_layer, scores),
    ]


def _errors(at_layer: PairsAtLayer, scores: Scores) -> Claim:
    wrong = scores.wrong(at_layer.row)
    missed = int((at_layer.pairs.gold[wrong] == SAME).sum())
    case = "errors" if len(wrong) else "no_errors"
    return claim(f"pairs.sure.{case}", n=len(wrong), called=len(wrong) - missed, missed=missed)


def roc_claim(auc: float) -> Claim:
    """The meaning of the area under the curve."""
    return claim("pairs.roc.area", auc=auc)


def notes(at_layer: PairsAtLayer) -> list[str]:
    """Notes on the compared pairs and those left out, one line each; names are not escaped."""
    scores, result, pairs = at_layer.scores, at_layer.result, at_layer.pairs
    kind = "words" if pairs.has_words else "texts"
    line = [say(f"pairs.notes.{kind}", name=shortened(pairs.name, 60), n=pairs.n)]
    if scores is not None and scores.n_left_out:
        line.append(say("pairs.notes.left_out", n=scores.n_left_out))
    if at_layer.n_lost:
        line.append(say("pairs.notes.lost", n=at_layer.n_lost))
    if result.n_cut:
        line.append(say("pairs.notes.cut", n=result.n_cut))
    reasons = [result.why_not, "" if scores is None else scores.note]
    return [" · ".join(line), *pairs.notes, *filter(None, reasons)]
