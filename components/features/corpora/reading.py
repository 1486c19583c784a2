"""What a corpus is, in words: sizes, what stands in it most, how it was indexed."""

from __future__ import annotations

from datetime import datetime

from components.content.wording import escape, listed, percent, quoted, shortened
from components.core import EncoderService
from components.core.errors import ContextlensError
from components.corpus.store.about import About
from components.features.corpora.compute.estimate import Estimate
from components.features.corpora.compute.words import WordRow, Words

__all__ = [
    "date",
    "estimate_reading",
    "facts",
    "indexed_with",
    "megabytes",
    "model_note",
    "number",
    "state_of",
    "words_reading",
    "words_title",
]


def words_title(words: Words, *, is_whole: bool = True) -> str:
    """The headline: which word leads, of all texts or of those that are indexed so far."""
    said = _leads(words)
    return said if is_whole else f"So far {said[:1].lower()}{said[1:]}"


def _leads(words: Words) -> str:
    if not words.rows:
        return "No word here says what it is about"
    first = words.rows[0]
    times = "once" if first.n == 1 else f"{first.n:,} times"
    if any(row.n == first.n for row in words.rows[1:2]):
        second = shortened(words.rows[1].word, 24)
        own = f"“{shortened(first.word, 24)}”"
        if any(row.n == first.n for row in words.rows[2:3]):
            return f"{own}, “{second}” and others lead: {times} each"
        return f"{own} and “{second}” lead: {times} each"
    return f"“{shortened(first.word, 24)}” leads: {times}{_in_senses(first)}"


def words_reading(
    title: str, n_texts: int, words: Words, chosen: str = "", *, is_whole: bool = True
) -> list[str]:
    """How many words there are, how many have nothing to be compared with, and the one chosen.

    Args:
        title: of the corpus.
        n_texts: that it has, or that are indexed so far.
        words: its words.
        chosen: the word that is looked at.
        is_whole: whether all texts are indexed.
    """
    if not words.n:
        return [f"**{escape(shortened(title, 60))}** has no word with a letter or a digit."]
    name, different = escape(shortened(title, 60)), f"**{words.n_different:,}**"
    start = "" if is_whole else "So far "
    start += f"**{name}** holds **{number(words.n, 'word')}** in **{number(n_texts, 'text')}**"
    said = [f"{start}."]
    if words.n_once:
        share = percent(words.n_once / words.n_different)
        said = [
            f"{start}; {different} are different, and **{share}** of those occur only once, with "
            "nothing to be compared with."
        ]
    elif words.n_different > 1:
        said = [f"{start}; {different} are different, and each occurs more than once."]
    row = words.row(chosen) or (words.rows[0] if words.rows else None)
    if row is not None:
        times = "once" if row.n == 1 else f"**{row.n:,} times**"
        senses = f", in **{number(row.n_senses, 'sense')}**" if row.n_senses else ""
        said.append(f"{quoted(row.word)} occurs {times}{senses}.")
    return said


def facts(about: About) -> str:
    """Sizes in a line: texts, words, bytes on disk."""
    return " · ".join(
        [
            number(about.n_texts, "text"),
            number(about.n_occurrences, "word"),
            megabytes(about.n_bytes),
        ]
    )


def indexed_with(about: About) -> str:
    """Model, layers and precision in a line."""
    own = about.indexing
    model = own.model.rpartition("/")[2].removeprefix("folder:")
    precision = "exact" if own.precision == "exact" else "fast, 16 bit"
    return f"{shortened(model, 40)}, {listed(own.layers)}, {precision}"


def state_of(about: About, *, is_under_way: bool) -> str:
    """How it stands, in a few words."""
    share = percent(about.n_texts_done / max(1, about.n_texts))
    if is_under_way:
        return "pausing" if about.state == "paused" else f"being indexed, {share}"
    return {
        "done": "ready to be searched",
        "paused": f"paused at {share}",
        "failed": f"stopped at {share}",
    }.get(about.state, f"interrupted at {share}")


def model_note(about: About, service: EncoderService) -> str:
    """What cannot be done because a corpus's model is not to be had any more; "" where it is."""
    own = about.indexing
    try:
        spec = service.spec(own.model)
        if spec.loaded and service.load(own.model).checksum != own.checksum:
            return (
                f"It was indexed with other weights of {own.model} than those that are here now. "
                "What is stored can be searched; sentences of your own cannot be compared with it."
            )
        if spec.loaded or spec.on_disk or spec.source != "hub":
            return ""
    except ContextlensError:
        pass
    return (
        f"Its model, {own.model}, is not on this machine any more. What is stored can be searched; "
        "sentences of your own cannot be compared with it."
    )


def estimate_reading(expected: Estimate) -> str:
    """What indexing takes, in a sentence."""
    return (
        f"**{number(expected.n_texts, 'text')}** with about **{number(expected.n_words, 'word')}** "
        f"take about **{megabytes(expected.n_bytes)}** on disk and **{_duration(expected.seconds)}"
        "** here."
    )


def number(n: int, what: str) -> str:
    """A number of things: "1 text", "2,000 texts"."""
    return f"{n:,} {what if n == 1 else what + 's'}"


def megabytes(n_bytes: int) -> str:
    """A size: "under 0.1 MB", "0.4 MB", "25 MB", "1.2 GB"."""
    if n_bytes < 1e5:
        return "under 0.1 MB"
    if n_bytes >= 1e9:
        return f"{n_bytes / 1e9:,.1f} GB"
    return f"{n_bytes / 1e6:,.0f} MB" if n_bytes >= 10e6 else f"{n_bytes / 1e6:,.1f} MB"


def date(created: str) -> str:
    """A day as it is written: "22 Nov 2026"; what is no time stays as it is."""
    try:
        day = datetime.fromisoformat(created)
    except ValueError:
        return shortened(created, 20)
    return f"{day.day} {day:%b %Y}"


def _in_senses(row: WordRow) -> str:
    return f", in {number(row.n_senses, 'sense')}" if row.n_senses else ""


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(2, round(seconds)):,} seconds"
    if seconds < 5400:
        return f"{round(seconds / 60):,} minutes"
    return f"{seconds / 3600:,.1f} hours"
