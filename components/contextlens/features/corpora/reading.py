"""Descriptions of a corpus: sizes, most frequent words, how it was indexed."""

from __future__ import annotations

from datetime import datetime

from contextlens.content.language import Claim, claim, duration, say
from contextlens.content.wording import escape, listed, quoted, shortened
from contextlens.core import EncoderService
from contextlens.core.errors import ContextlensError
from contextlens.corpus.store.about import About
from contextlens.features.corpora.compute import IndexingCost
from contextlens.features.corpora.controls import MAX_SEARCH_CHARACTERS
from contextlens.features.corpora.search import SearchResult
from contextlens.ui.corpora.words import WordCounts, WordRow

_MAX_TITLE_LENGTH = 60


def words_title(words: WordCounts, *, is_whole: bool = True) -> str:
    """The headline: the most frequent word shown, of all texts or of those indexed so far."""
    rows = words.rows
    case = "several"
    if not rows:
        case = "none"
    elif rows[0].n == 1:
        case = "once"
    elif len(rows) > 1 and rows[1].n == rows[0].n:
        case = "tied"
    first = rows[0] if rows else WordRow("", 0)
    word, part = shortened(first.word, 24), "whole" if is_whole else "so_far"
    if first.n_senses and case in {"several", "tied"}:
        key = f"corpora.leading.{'tied' if case == 'tied' else part}"
        return say(key, word=word, times=first.n, n=first.n_senses)
    return say(f"corpora.title.{part}.{case}", word=word, times=first.n)


def words_claims(
    title: str, n_texts: int, words: WordCounts, *, is_whole: bool = True
) -> list[Claim]:
    """The number of words, and how many occur only once and so cannot be compared.

    Args:
        title: the corpus's title.
        n_texts: the number of its texts, or of those indexed so far.
        words: its words.
        is_whole: True if all texts are indexed.
    """
    corpus = escape(shortened(title, _MAX_TITLE_LENGTH))
    if not words.n:
        return [claim("corpora.words.none", corpus=corpus)]
    case = "whole" if is_whole else "so_far"
    claims = [claim(f"corpora.words.{case}", corpus=corpus, n=n_texts, words=words.n)]
    if words.n_once:
        share = words.n_once / words.n_different
        claims.append(claim("corpora.words.once", n=words.n_different, share=share))
    else:
        claims.append(claim("corpora.words.more", n=words.n_different))
    return claims


def search_title(result: SearchResult) -> str:
    """The headline of a search: the occurrences of the word in all corpora; plain text."""
    numbers = {"n_corpora": len(result.found), "n_all": len(result.hits)}
    word = shortened(result.word, 24)
    return say("corpora.searching.title", word=word, n=result.n, **numbers)


def search_claim(result: SearchResult) -> Claim:
    """The corpus in which the word is most frequent, or the reason why there is none."""
    if result.is_too_long:
        return claim("corpora.searching.too_long", n=len(result.word), most=MAX_SEARCH_CHARACTERS)
    if not result.found:
        case = "blanks" if " " in result.word else "missing"
        word = quoted(result.word, MAX_SEARCH_CHARACTERS)
        return claim(f"corpora.searching.{case}", word=word, n=len(result.hits))
    hit = max(result.found, key=lambda hit: hit.n / hit.n_words)
    title = escape(shortened(hit.title, _MAX_TITLE_LENGTH))
    return claim("corpora.searching.densest", corpus=title, n=hit.n, words=hit.n_words)


def facts(about: About) -> str:
    """Sizes in one line: texts, words, bytes on disk."""
    texts = say("corpora.facts.texts", n=about.n_texts)
    words = say("corpora.facts.words", n=about.n_occurrences)
    return f"{texts} · {words} · {megabytes(about.n_bytes)}"


def indexed_with(about: About) -> str:
    """Model, layers and precision in one line."""
    indexing = about.indexing
    model = indexing.model.rpartition("/")[2].removeprefix("folder:")
    case = "exact" if indexing.precision == "exact" else "fast"
    return say(f"corpora.facts.{case}", model=shortened(model, 40), layers=listed(indexing.layers))


def state_of(about: About, *, is_under_way: bool, share: float) -> str:
    """The state of a corpus in a few words; `share` is that of its texts that are read."""
    if is_under_way:
        case = "pausing" if about.state == "paused" else "indexing"
        return say(f"corpora.state.{case}", share=share)
    state = about.state if about.state in ("done", "paused", "failed") else "interrupted"
    return say(f"corpora.state.{state}", share=share)


def model_note(about: About, service: EncoderService) -> str:
    """A note if a corpus's model is gone or now has other weights; "" otherwise."""
    indexing = about.indexing
    try:
        spec = service.spec(indexing.model)
        if spec.loaded and service.load(indexing.model).checksum != indexing.checksum:
            return say("corpora.model.other_weights", model=indexing.model)
        if spec.loaded or spec.on_disk or spec.source != "hub":
            return ""
    except ContextlensError:
        pass
    return say("corpora.model.gone", model=indexing.model)


def cost_claims(expected: IndexingCost) -> list[Claim]:
    """Return the claims on the steps of indexing, its duration and its storage."""
    numbers = {"n": expected.n_texts, "words": expected.n_words}
    return [
        claim("corpora.estimate.cost", duration=duration(expected.seconds), **numbers),
        claim("corpora.estimate.kept", size=megabytes(expected.n_bytes)),
    ]


def megabytes(n_bytes: float) -> str:
    """A size: "under 0.1 MB", "0.4 MB", "25 MB", "1.2 GB"."""
    if n_bytes < 1e5:
        return say("corpora.facts.small")
    if n_bytes >= 1e9:
        return f"{n_bytes / 1e9:,.1f} GB"
    return f"{n_bytes / 1e6:,.0f} MB" if n_bytes >= 10e6 else f"{n_bytes / 1e6:,.1f} MB"


def date(created: str) -> str:
    """A date as people write it: "22 Nov 2026"; text that is not a date is only shortened."""
    try:
        day = datetime.fromisoformat(created)
    except ValueError:
        return shortened(created, 20)
    return f"{day.day} {day:%b %Y}"
