"""Tokens & IDs, said in words: how many, which words were cut, what is unknown or lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from components.analysis.tokens import Kind, cut_words, lost_spans, source
from components.content.wording import escape, quoted
from components.core.schema import Tokens
from components.core.words import split_words

__all__ = [
    "back_reading",
    "padding_note",
    "tokenizers_reading",
    "tokens_reading",
    "twins_reading",
    "unknown_notes",
]

_MOST = 2  # words that a reading names
_PIECES = 6  # tokens that it spells
_NOTES = 3  # unknown tokens that are explained


def tokens_reading(tokens: Tokens, kinds: Sequence[Kind], labels: Sequence[str]) -> list[str]:
    """One to five sentences on a text's tokens."""
    said = [
        _counts(tokens, kinds),
        _cuts(tokens, labels),
        _unknown(kinds),
        _lost(tokens),
        _padding(kinds),
    ]
    return [sentence for sentence in said if sentence]


def padding_note(asked: int, n_tokens: int) -> str:
    """That padding was asked for in vain; empty where it was not."""
    if not 0 < asked < n_tokens:
        return ""
    return f"Padding to {asked} was asked, but there are {n_tokens} tokens already: nothing to pad."


def unknown_notes(tokens: Tokens, reasons: Mapping[int, str]) -> list[str]:
    """Why the first tokens that are unknown are so, a sentence each."""
    return [
        f"Token {position} is unknown, {quoted(source(tokens, position))}: {escape(reason)}"
        for position, reason in list(reasons.items())[:_NOTES]
    ]


def tokenizers_reading(one: Tokens, other: Tokens, names: tuple[str, str]) -> list[str]:
    """How two tokenizers differ on one text."""
    counts = [int((t.text_ids >= 0).sum()) for t in (one, other)]
    titles = [escape(name) for name in names]
    lost = [t.n_truncated for t in (one, other)]
    if not any(counts):
        return ["Neither tokenizer finds a token in this text."]
    if _pieces(one) == _pieces(other) and not any(lost):
        return [f"Both cut this text into the same {_some(counts[0], 'token')}."]
    counts = [count + more for count, more in zip(counts, lost, strict=True)]
    if counts[0] == counts[1]:
        same = _pieces(one) == _pieces(other)
        but = "and those that fit are the same" if same else "but not the same"
        first = f"Both make {_some(counts[0], 'token')} of this text, {but}."
    else:
        first = (
            f"{titles[0]} makes {_some(counts[0], 'token')} of this text, "
            f"{titles[1]} **{counts[1]:,}**."
        )
    return [first, *_merged(one, other, names)]


def twins_reading(tokens: Tokens) -> list[str]:
    """Which words of a text look different and are the same to its tokenizer."""
    pairs = _twins(tokens)
    if not pairs:
        return ["No two words of this text are written differently and have the same token IDs."]
    return [f"{_listed_pairs(pairs)} have the same token IDs: the model cannot tell them apart."]


def back_reading(decoded: str, text: str, changes: int, n_unknown: int, n_lost: int) -> list[str]:
    """What came back from the IDs, beside the text as it was typed.

    Args:
        decoded: what came back.
        text: what was typed.
        changes: characters that the tokenizer rewrote or dropped before cutting.
        n_unknown: unknown tokens.
        n_lost: characters that did not fit.
    """
    if not text:
        return ["There is no text, so nothing comes back."]
    if decoded == text:
        return ["The IDs give back the text exactly as it was typed."]
    causes = [
        f"{_some(changes, 'character')} rewritten or dropped before cutting" if changes else "",
        f"{_some(n_unknown, 'unknown token')} cannot be read back" if n_unknown else "",
        f"{_some(n_lost, 'character')} did not fit" if n_lost else "",
    ]
    why = "; ".join(cause for cause in causes if cause)
    if not decoded:
        return [f"Nothing of the text comes back from the IDs{': ' if why else ''}{why}."]
    if not why and "".join(decoded.split()) == "".join(text.split()):
        return ["Every character comes back; only spaces are not as they were typed."]
    why = why or "some characters come back written in another way"
    return [f"The IDs do not give back the text as it was typed: {why}."]


def _some(count: int, noun: str) -> str:
    return f"**{count:,}** {noun}{'' if count == 1 else 's'}"


def _be(count: int) -> str:
    return "is" if count == 1 else "are"


def _counts(tokens: Tokens, kinds: Sequence[Kind]) -> str:
    own = int((tokens.text_ids >= 0).sum())
    added = [t for t, kind in zip(tokens.tokens, kinds, strict=True) if kind == "special"]
    names = ", ".join(escape(name) for name in dict.fromkeys(added))
    subject = "This pair of texts" if tokens.pair is not None else "This text"
    if not own and tokens.n_truncated:
        return f"No token of its own fits: the model sees only {names}."
    if not own:
        return f"{subject} has no token of its own: the model sees only {names}."
    plus = f", {own} of its own and {len(added)} that the tokenizer adds ({names})"
    return f"{subject} becomes {_some(own + len(added), 'token')}{plus if added else ''}."


def _cuts(tokens: Tokens, labels: Sequence[str]) -> str:
    cut = cut_words(tokens, labels)
    if not cut:
        return _uncut(tokens)
    named = [f"{quoted(word)} is cut into {_spelled(pieces)}" for word, pieces in cut[:_MOST]]
    more = len(cut) - len(named)
    if more:
        named.append(f"{_some(more, 'more word')} {_be(more)} cut too")
    return f"{'; '.join(named)}."


def _uncut(tokens: Tokens) -> str:
    """That no word is cut, where there are words; signs alone are none."""
    seen = set(zip(tokens.text_ids.tolist(), tokens.word_ids.tolist(), strict=True))
    words = [
        (which, i)
        for which, text in enumerate((tokens.text, tokens.pair or ""))
        for i, span in enumerate(split_words(text))
        if any(map(str.isalnum, text[slice(*span)]))
    ]
    if seen.isdisjoint(words):
        return ""
    if tokens.n_truncated:
        return "No word that fits whole is cut."
    if not seen.issuperset(words):
        return "No word is cut."
    return "Its word is one token." if len(words) == 1 else "Every word is one token."


def _spelled(pieces: Sequence[str]) -> str:
    named = [escape(piece) for piece in pieces[:_PIECES]]
    dots = " …" if len(pieces) > len(named) else ""
    return f"**{len(pieces)}** ({' '.join(named)}{dots})"


def _unknown(kinds: Sequence[Kind]) -> str:
    count = kinds.count("unknown")
    said = f"{_some(count, 'token')} {_be(count)} unknown: the model cannot see what stood there."
    return said if count else ""


def _lost(tokens: Tokens) -> str:
    count = tokens.n_truncated
    verb = "does not fit and is" if count == 1 else "do not fit and are"
    return f"{_some(count, 'token')} {verb} left out." if count else ""


def _padding(kinds: Sequence[Kind]) -> str:
    count = kinds.count("padding")
    return f"{_some(count, 'position')} {_be(count)} padding." if count else ""


def _pieces(tokens: Tokens) -> list[str]:
    return [t for t, own in zip(tokens.tokens, tokens.text_ids >= 0, strict=True) if own]


def _merged(one: Tokens, other: Tokens, names: tuple[str, str]) -> list[str]:
    """A sentence on words that one tokenizer writes alike and the other keeps apart."""
    for tokens, against, name, rival in ((one, other, *names), (other, one, *names[::-1])):
        there = _ids_by_word(against)
        both = [(a, b) for a, b in _twins(tokens) if a in there and b in there]
        pairs = [(a, b) for a, b in both if there[a] != there[b]]
        if pairs:
            said = f"{_listed_pairs(pairs)} have the same token IDs in {escape(name)}"
            return [f"{said}, and others in {escape(rival)}."]
    return []


def _listed_pairs(pairs: Sequence[tuple[str, str]]) -> str:
    named = [f"{quoted(a)} and {quoted(b)}" for a, b in pairs[:_MOST]]
    return ", and likewise ".join(named)


def _twins(tokens: Tokens) -> list[tuple[str, str]]:
    """Pairs of words that are written differently and have the same token IDs."""
    first: dict[tuple[int, ...], str] = {}
    pairs: list[tuple[str, str]] = []
    for word, ids in _ids_by_word(tokens).items():
        if (twin := first.setdefault(ids, word)) != word:
            pairs.append((twin, word))
    return pairs


def _ids_by_word(tokens: Tokens) -> dict[str, tuple[int, ...]]:
    """The token IDs of each word as it is written, at its first place, where all of it fits."""
    lost = lost_spans(tokens)
    spans = (split_words(tokens.text), split_words(tokens.pair or ""))
    ids: dict[tuple[int, int], list[int]] = {}
    for i in range(tokens.n_tokens):
        if tokens.word_ids[i] >= 0:
            key = int(tokens.text_ids[i]), int(tokens.word_ids[i])
            ids.setdefault(key, []).append(int(tokens.token_ids[i]))
    found: dict[str, tuple[int, ...]] = {}
    for (which, word), own in ids.items():
        text, span, gone = (tokens.text, tokens.pair or "")[which], spans[which][word], lost[which]
        if gone is None or span[1] <= gone[0]:
            found.setdefault(text[slice(*span)], tuple(own))
    return found
