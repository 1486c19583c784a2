"""The sentences of Pairs; numbers are compared as displayed, in whole per cent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from contextlens.analysis.correlation import FEWEST, Correlation, Float64Array
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import shortened, two
from contextlens.core import EncoderService
from contextlens.core.schema import Tokens
from contextlens.core.words import Span
from contextlens.features.pairs.compute import PairsAtLayer, standings
from contextlens.features.pairs.controls import POOLING
from contextlens.features.pairs.measures import SAME, UNKNOWN, Scores
from contextlens.maps.vectors import RECIPE, is_recipe
from contextlens.ui.models.recipes import recipe_title
from contextlens.ui.widgets.unread import unread


def pair_claims(at_layer: PairsAtLayer, pair: int) -> list[Claim]:
    """The verdict on one pair, beside its label if it has one."""
    pairs, called_same = at_layer.pairs, at_layer.called_same
    kind = "words" if pairs.has_words else "texts"
    if at_layer.correlation is not None:
        return [_standing(at_layer, pair)]
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


def read_claims(
    at_layer: PairsAtLayer, pair: int, service: EncoderService, model: str
) -> list[Claim]:
    """What the model cannot read of a pair's texts, and that it reads the same in both."""
    pairs = at_layer.pairs
    texts = [pairs.text(pair, side) for side in (0, 1)]
    both = service.tokenize(model, texts)
    names = (say("pairs.pair.first"), say("pairs.pair.second"))
    claims = unread(dict(zip(names, both, strict=True)), service, model)
    spans = [pairs.span(pair, side) or (0, len(texts[side])) for side in (0, 1)]
    words = [text[slice(*span)] for text, span in zip(texts, spans, strict=True)]
    ids = [_ids(tokens, span) for tokens, span in zip(both, spans, strict=True)]
    if words[0] != words[1] and ids[0] == ids[1] and ids[0]:
        claims.append(claim(f"pairs.verdict.{'words' if pairs.has_words else 'texts'}.twins"))
    return claims


def _ids(tokens: Tokens, span: Span) -> list[int]:
    """The IDs of the tokens in a span; none if the span does not fit the model."""
    inside = (tokens.offsets[:, 0] < span[1]) & (tokens.offsets[:, 1] > span[0])
    ids: list[int] = tokens.token_ids[inside & (tokens.text_ids >= 0)].tolist()
    return ids


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


def _standing(at_layer: PairsAtLayer, pair: int) -> Claim:
    """The place of a scored pair in the order of the scores beside that in the order of cosines."""
    cosine, (by_score, by_cosine) = float(at_layer.cosines[pair]), at_layer.places
    if at_layer.pairs.grades is None or np.isnan(by_score[0, pair]):
        return claim("pairs.standing.unscored", cosine=cosine)
    case = {1: "high", 0: "near", -1: "low"}[int(standings(at_layer)[pair])]
    return claim(
        f"pairs.standing.{case}",
        score=_score(float(at_layer.pairs.grades[pair])),
        cosine=cosine,
        by_score=_percentile(by_score[:, pair]),
        by_cosine=_percentile(by_cosine[:, pair]),
    )


def _percentile(ends: Float64Array) -> str:
    """A percentile, or several if other pairs have the same value: "59", "59 to 100"."""
    return " to ".join(dict.fromkeys(f"{round(100 * float(end))}" for end in ends))


def _score(score: float) -> str:
    """A score as people write it: "4", "3.67"."""
    return f"{round(score, 2) + 0.0:,.12g}".replace("-", "\N{MINUS SIGN}")


def pairs_title(at_layer: PairsAtLayer) -> str:
    """The finding over all layers."""
    scores, layers = at_layer.scores, at_layer.result.layers
    if at_layer.correlation is not None:
        return _correlation_title(at_layer.correlation, layers)
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


def _correlation_title(correlation: Correlation, layers: Sequence[int]) -> str:
    best = correlation.best
    if best is None or correlation.n < FEWEST:
        return say("pairs.title.few_scores")
    if not correlation.is_clear:
        return say("pairs.title.unclear_scores")
    return say("pairs.title.scores", layer=layers[best], spearman=float(correlation.spearman[best]))


def pairs_claims(at_layer: PairsAtLayer) -> list[Claim]:
    """The reading at the layer."""
    scores = at_layer.scores
    if at_layer.correlation is not None:
        return _scores_claims(at_layer.correlation, at_layer.row, at_layer.layer)
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
        n=scores.n,
        accuracy=float(scores.accuracy[row]),
        commonest=scores.commonest,
        baseline=scores.majority,
    )
    return [finding, claim("pairs.claim.caution")] if at_layer.pairs.has_words else [finding]


_CLOSE = 0.4
"""From this rank correlation on, a cosine is not said to follow scores only loosely."""


def _scores_claims(correlation: Correlation, row: int, layer: int) -> list[Claim]:
    """How closely the cosine follows the scores at a layer, with a yardstick and a caution."""
    r, low, high = (
        float(values[row])
        for values in (correlation.spearman, correlation.spearman_low, correlation.spearman_high)
    )
    n, words = correlation.n, correlation.shared_words
    if n < FEWEST:
        return [claim("pairs.scores.few", n=n, least=FEWEST)]
    if np.isnan(r):
        case = "equal_scores" if correlation.has_equal_scores else "equal_cosines"
        return [claim(f"pairs.scores.{case}", layer=layer, n=n)]
    is_above, is_below = round(low, 2) > 0, round(high, 2) < 0  # as displayed
    case = "against" if is_below else "follows" if r >= _CLOSE else "loosely"
    case = case if is_above or is_below else "unclear"
    finding = claim(f"pairs.scores.{case}", layer=layer, spearman=r, low=low, high=high, n=n)
    if case == "unclear":
        return [finding, claim("pairs.scores.words.unknown")]
    case = "fewer" if words < low else "more" if words > high else "about"
    yardstick = claim(f"pairs.scores.words.{'unknown' if np.isnan(words) else case}", words=words)
    return [finding, yardstick, claim("pairs.scores.caution")]


def pairs_sure(at_layer: PairsAtLayer) -> list[Claim]:
    """The interval, the method of judging and the mistakes; no claims without labels."""
    scores, row = at_layer.scores, at_layer.row
    if at_layer.correlation is not None:
        return _scores_sure(at_layer, at_layer.correlation)
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


def _scores_sure(at_layer: PairsAtLayer, correlation: Correlation) -> list[Claim]:
    """Both intervals, the texts that repeat, and the best layer; nothing if there are too few."""
    row, best, n = at_layer.row, correlation.best, correlation.n
    if best is None or n < FEWEST or np.isnan(correlation.spearman[row]):
        return []
    spearman, pearson = (
        {"low": float(low[row]), "high": float(high[row])}
        for low, high in (
            (correlation.spearman_low, correlation.spearman_high),
            (correlation.pearson_low, correlation.pearson_high),
        )
    )
    sides = at_layer.pairs.sides[correlation.rows]
    n_texts = len(np.unique(sides))
    return [
        claim("pairs.scores_sure.interval", n=n, **spearman),
        claim("pairs.scores_sure.pearson", pearson=float(correlation.pearson[row]), **pearson),
        *([claim("pairs.scores_sure.repeated", n=n_texts)] if n_texts < sides.size else []),
        claim(
            "pairs.scores_sure.best",
            layer=at_layer.result.layers[best],
            spearman=float(correlation.spearman[best]),
            n=len(at_layer.result.layers),
        ),
    ]


def roc_claim(auc: float) -> Claim:
    """The meaning of the area under the curve."""
    return claim("pairs.roc.area", auc=auc)


def _scored(at_layer: PairsAtLayer, correlation: Correlation) -> str:
    """The number of pairs with a score, and the lowest and the highest score."""
    grades = at_layer.pairs.grades
    if grades is None or np.isnan(grades).all():
        return say("pairs.notes.unscored")
    low, high = (_score(float(end(grades))) for end in (np.nanmin, np.nanmax))
    split = "" if at_layer.pairs.split is None else "_split"
    return say(f"pairs.notes.scored{split}", n=correlation.n, low=low, high=high)


def _vectors(settings: Mapping[str, Any]) -> str:
    """How whole texts became vectors."""
    pooling, prompt = str(settings.get("pooling")), str(settings.get("prompt", ""))
    if not is_recipe(pooling):
        return POOLING.options["mean"]
    return say("recipe.title") if pooling == RECIPE and not prompt else recipe_title(prompt)


def notes(at_layer: PairsAtLayer) -> list[str]:
    """Notes on the compared pairs and those left out, one line each; names are not escaped."""
    scores, result, pairs = at_layer.scores, at_layer.result, at_layer.pairs
    kind = "words" if pairs.has_words else "texts"
    line = [say(f"pairs.notes.{kind}", name=shortened(pairs.name, 60), n=pairs.n)]
    if not pairs.has_words:
        line.append(_vectors(result.passport.settings))
    if scores is not None and scores.n_left_out:
        line.append(say("pairs.notes.left_out", n=scores.n_left_out))
    if at_layer.correlation is not None:
        line.append(_scored(at_layer, at_layer.correlation))
    if at_layer.n_lost:
        line.append(say("pairs.notes.lost", n=at_layer.n_lost))
    if result.n_cut:
        limit = result.passport.settings.get("max_length")
        key = "cut" if limit is None else "cut_at"
        line.append(say(f"pairs.notes.{key}", n=result.n_cut, limit=limit))
    if result.n_unknown:
        line.append(say("pairs.notes.unknown", n=result.n_unknown))
    reasons = [result.why_not, "" if scores is None else scores.note]
    return [" · ".join(line), *pairs.notes, *filter(None, reasons)]
