"""Tokens & IDs, said in words: how many, which words were cut, what is unknown or lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from components.analysis.tokens import Kind, cut_words, source
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
    if _pieces(one) == _pieces(other):
        return [f"Both cut this text into the same {_some(counts[0], 'token')}."]
    if counts[0] == counts[1]:
        first = f"Both make {_some(counts[0], 'token')} of this text, but not the same."
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
    return [f"{_listed_pairs(pairs)} have the same token IDs: to the model they are the same."]


def back_reading(decoded: str, text: str, changes: int, n_unknown: int, n_lost: int) -> list[str]:
    """What came back from the IDs, beside the text as it was typed.

    Args:
        decoded: what came back.
        text: what was typed.
        changes: characters that the tokenizer rewrote before cutting.
        n_unknown: unknown tokens.
        n_lost: characters that did not fit.
    """
    if decoded == text:
        return ["The IDs give back the text exactly as it was typed."]
    causes = [
        f"{_some(changes, 'character')} rewritten before cutting" if changes else "",
        f"{_some(n_unknown, 'unknown token')} cannot be read back" if n_unknown else "",
        f"{_some(n_lost, 'character')} did not fit" if n_lost else "",
    ]
    why = "; ".join(cause for cause in causes if cause)
    if not why and "".join(decoded.split()) == "".join(text.split()):
        return ["Every token comes back; only spaces differ, because IDs do not keep them."]
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
    if not own:
        return f"{subject} has no token of its own: the model sees only {names}."
    plus = f", {own} of its own and {len(added)} that the tokenizer adds ({names})"
    return f"{subject} becomes {_some(own + len(added), 'token')}{plus if added else ''}."


def _cuts(tokens: Tokens, labels: Sequence[str]) -> str:
    cut = cut_words(tokens, labels)
    words = zip(tokens.text_ids.tolist(), tokens.word_ids.tolist(), strict=True)
    n_words = len({key for key in words if key[1] >= 0})
    if not cut:
        return ("", "Its word is one token.", "Every word is one token.")[min(n_words, 2)]
    named = [f"{quoted(word)} is cut into {_spelled(pieces)}" for word, pieces in cut[:_MOST]]
    more = len(cut) - len(named)
    if more:
        named.append(f"{_some(more, 'more word')} {_be(more)} cut too")
    return f"{'; '.join(named)}."


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
        pairs = [(a, b) for a, b in _twins(tokens) if there.get(a) != there.get(b)]
        if pairs:
            are = f"{_listed_pairs(pairs)} are the same to {escape(name)}"
            return [f"{are}; {escape(rival)} keeps them apart."]
    return []


def _listed_pairs(pairs: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{quoted(a)} and {quoted(b)}" for a, b in pairs[:_MOST])


def _twins(tokens: Tokens) -> list[tuple[str, str]]:
    """Pairs of words that are written differently and have the same token IDs."""
    first: dict[tuple[int, ...], str] = {}
    pairs: list[tuple[str, str]] = []
    for word, ids in _ids_by_word(tokens).items():
        if (twin := first.setdefault(ids, word)) != word:
            pairs.append((twin, word))
    return pairs


def _ids_by_word(tokens: Tokens) -> dict[str, tuple[int, ...]]:
    """The token IDs of each word as it is written, at its first place."""
    spans = (split_words(tokens.text), split_words(tokens.pair or ""))
    ids: dict[tuple[int, int], list[int]] = {}
    for i in range(tokens.n_tokens):
        if tokens.word_ids[i] >= 0:
            key = int(tokens.text_ids[i]), int(tokens.word_ids[i])
            ids.setdefault(key, []).append(int(tokens.token_ids[i]))
    found: dict[str, tuple[int, ...]] = {}
    for (which, word), own in ids.items():
        text = tokens.text if which == 0 else tokens.pair or ""
        found.setdefault(text[slice(*spans[which][word])], tuple(own))
    return found
