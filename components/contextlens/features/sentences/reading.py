"""What the page Sentence vectors says: verdicts with their numbers."""

from __future__ import annotations

from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import listed_names, quoted
from contextlens.features.sentences.compute import N_RANDOM, Compared, CorpusAccuracy, Drawn
from contextlens.features.sentences.search import Hit, SearchResult


def name_of(pooling: str) -> str:
    """The name of a way within a sentence."""
    return say(f"sentences.pooling.{pooling}")


def claims(result: Compared) -> list[Claim]:
    """The finding about the sentences.

    For the ready ones: how often the nearest sentence has the same meaning, by the best and the
    worst way. For a visitor's own, whose meanings nobody knows: whether the ways agree.
    """
    if result.meanings is None:
        return [_agreement(result)]
    n, hits = result.hits
    if min(hits) == max(hits):
        return [claim("sentences.claim.equal", n=n, right=hits[0])]
    worst = [p for p, right in zip(result.poolings, hits, strict=True) if right == min(hits)]
    best = [p for p, right in zip(result.poolings, hits, strict=True) if right == max(hits)]
    named = "cls" if "cls" in worst else worst[0]
    return [
        claim("sentences.claim.misleads", n=n, right=min(hits), pooling=name_of(named)),
        claim("sentences.claim.better", n=n, right=max(hits), poolings=_names(best)),
    ]


def _agreement(result: Compared) -> Claim:
    found = result.disagreement
    if found.n_pairs == 1:
        return claim("sentences.claim.one_pair")
    if found.best == found.worst:
        return claim("sentences.claim.agree", n=found.n_pairs)
    return _of_pair("sentences.claim.disagree", result)


def drawn_line(drawn: Drawn) -> str:
    """How many texts of which corpus are compared, and in which order."""
    numbers = {"n": len(drawn.texts), "of": drawn.n_texts, "corpus": quoted(drawn.corpus)}
    key = "sentences.drawn.all" if len(drawn.texts) == drawn.n_texts else "sentences.drawn.some"
    order = say("sentences.drawn.order", column=quoted(drawn.column)) if drawn.column else ""
    return f"{say(key, **numbers)} {order}".rstrip()


def pair_title(result: Compared) -> Claim:
    """The pair to read, and its ranks by the two ways that disagree most about it."""
    found = result.disagreement
    agree = found.best == found.worst
    return _of_pair("sentences.pair.only" if agree else "sentences.pair.title", result)


def _of_pair(key: str, result: Compared) -> Claim:
    found = result.disagreement
    i, j = found.pair
    return claim(
        key,
        first=result.letters[i],
        second=result.letters[j],
        best=found.best,
        worst=found.worst,
        n=found.n_pairs,
        high=name_of(result.poolings[found.ranks.index(found.best)]),
        low=name_of(result.poolings[found.ranks.index(found.worst)]),
    )


def sure(result: Compared) -> list[Claim]:
    """Details for engineers."""
    lines = [claim("sentences.sure.random", n=N_RANDOM * (N_RANDOM - 1) // 2)]
    if result.meanings is not None:
        lines.insert(0, claim("sentences.sure.chosen"))
    pooler = result.card.provenance.pooler.state
    if pooler != "trained":
        lines.append(claim("sentences.sure.pooler", state=pooler))
    if result.vectors.n_cut:
        lines.append(claim("sentences.sure.cut", n=result.vectors.n_cut))
    return lines


def accuracy_claims(result: CorpusAccuracy, label: str) -> list[Claim]:
    """The finding on a labelled corpus, and what [CLS] costs there."""
    best, *others = result.accuracies
    is_better = best.interval[0] > result.baseline
    first = claim(
        "sentences.accuracy.better" if is_better else "sentences.accuracy.unclear",
        accuracy=best.share,
        pooling=name_of(best.pooling),
        label=label,
        baseline=result.baseline,
    )
    if not is_better or not others:
        return [first]
    worse = [other for other in others if other.is_worse]
    if not worse:
        return [first, claim("sentences.accuracy.equal")]
    last = worse[-1]
    second = claim("sentences.accuracy.costs", accuracy=last.share, pooling=name_of(last.pooling))
    cls = next((other for other in others if other.pooling == "cls"), None)
    if cls is None or cls is last:
        return [first, second]
    key = "sentences.accuracy.cls_worse" if cls.is_worse else "sentences.accuracy.cls_equal"
    return [first, second, claim(key, accuracy=cls.share)]


def accuracy_sure(result: CorpusAccuracy) -> list[Claim]:
    """Details for engineers."""
    best = result.accuracies[0]
    low, high = best.interval
    return [
        claim("sentences.accuracy_sure.held_out", n=result.n),
        claim("sentences.accuracy_sure.interval", low=low, high=high),
        claim("sentences.accuracy_sure.test"),
    ]


def _names(poolings: list[str]) -> str:
    return listed_names([name_of(pooling) for pooling in poolings])


def search_claims(result: SearchResult) -> list[Claim]:
    """What the model finds that words do not, and the reverse."""
    n, without = len(result.by_model), result.n_without_word
    key = "sentences.search.without_word" if without else "sentences.search.with_word"
    found = [claim(key, n=n, without=without)]
    if not result.by_words:
        return [*found, claim("sentences.search.no_word")]
    if len(result.by_words) == 1:
        return [*found, claim("sentences.search.one_text", rank=result.by_words[0].rank)]
    n_words = len(result.by_words)
    missed = claim("sentences.search.missed", n=n, words=n_words, missed=result.n_missed)
    return [*found, missed]


def hit_line(hit: Hit, *, by_words: bool) -> Claim:
    """The numbers of a text: by the way that found it, and its place by the other."""
    if by_words:
        return claim("sentences.search.word_hit", score=hit.word_score, rank=hit.rank)
    if not hit.word_rank:
        return claim("sentences.search.new_hit", cosine=hit.cosine)
    return claim("sentences.search.hit", cosine=hit.cosine, rank=hit.word_rank)
