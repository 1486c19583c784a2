"""Edits: small changes to the first sentence, and how similar each leaves it.

They come from small tables, which know words and no grammar. A sentence for which a table offers
nothing goes without that edit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, takewhile
from typing import Literal

from contextlens.analysis.baseline import Band
from contextlens.analysis.english import is_english
from contextlens.analysis.shares import vector_of
from contextlens.content.language import Claim, claim
from contextlens.content.wording import cut, cut_start, escape, leading, quoted
from contextlens.content.wording import span as value_range
from contextlens.core import EncoderService
from contextlens.core.schema import Counted
from contextlens.core.words import Span, split_words
from contextlens.features.why.explanation import task_of
from contextlens.features.why.score import (
    ModelRun,
    Score,
    Side,
    VectorKind,
    cosine,
    vectors_of,
    weights_of,
)
from contextlens.jobs import Task
from contextlens.ui.panel import Panel

EditKind = Literal["negation", "order", "name", "number", "case", "typo"]
_N_EDITS = 6
"""The usual number of edits of a sentence."""
_MAX_QUOTED = 60  # characters of an edited text


@dataclass(frozen=True)
class Edit:
    """A sentence changed in one way, with or without an effect on its meaning.

    Attributes:
        kind: the kind of change.
        text: the whole edited sentence.
        description: in plain text: 'put “not” behind “is”'.
    """

    kind: EditKind
    text: str
    description: str


@dataclass(frozen=True)
class RankedEdit:
    """An edit, and the cosine between the edited and the original sentence."""

    edit: Edit
    cosine: float


@dataclass(frozen=True, eq=False)
class EditsResult(Panel):
    """The edits of the first sentence, in ascending order of similarity.

    Attributes:
        score: the score whose first sentence is edited.
        vector_kind: the vector compared: "mean" or "cls" ("mean" if words are chosen).
        edits: ranked by their cosine, the lowest first.
    """

    score: Score
    vector_kind: VectorKind
    edits: tuple[RankedEdit, ...]

    @property
    def side(self) -> Side:
        """The edited sentence."""
        return self.score.first

    def claims(self, band: Band | None = None) -> Sequence[Claim]:
        """Return the similarity after each edit, after a negation and a typing error.

        Args:
            band: random pairs of sentences, at each layer; None if there are none.
        """
        if not self.edits:
            return (claim("why.edits.none"),)
        cosines, text = [ranked.cosine for ranked in self.edits], self.edits[0].edit.text
        low, high = cosines[0], cosines[-1]
        n_lowest = len(leading([-cosine for cosine in cosines]))
        if n_lowest == len(cosines):
            verdict = "both" if len(cosines) == 2 else "equal"
            claims = [claim(f"why.edits.{verdict}", n=len(cosines), span=value_range(cosines))]
        else:
            numbers = {"text": quoted(text, _MAX_QUOTED), "low": low, "high": high}
            claims = [claim("why.edits.apart", n=n_lowest, tried=len(cosines), **numbers)]
        by_kind = {ranked.edit.kind: ranked for ranked in self.edits}
        if {"negation", "typo"} <= by_kind.keys():
            negated, typo = by_kind["negation"], by_kind["typo"].cosine
            text = quoted(negated.edit.text, _MAX_QUOTED)
            claims.append(claim("why.edits.negation", text=text, cosine=negated.cosine, typo=typo))
        if band is not None:
            mean = float(band.mean[self.score.layer])
            claims.append(claim("why.edits.random", kind=band.of, mean=mean))
        return claims


# --- The work


def task(score: Score, service: EncoderService, *, token_seconds: float) -> Task:
    """Return the job that runs the edits; `token_seconds` is the duration of a token in a run."""
    seconds = _N_EDITS * score.first.encoding.n_tokens * token_seconds
    return task_of(
        ("edits", score.key), "Reading the edits", partial(edits_of, score, service), seconds
    )


def edits_of(
    score: Score, service: EncoderService, *, progress: Counted | None = None
) -> EditsResult:
    """Return all ready edits of the first sentence, with the cosine of each at the score's layer.

    Args:
        score: the score whose first sentence is edited; its second text, if any, is kept.
        service: runs the model.
        progress: receives the number of finished runs; an exception that it raises ends the work.
    """
    side, kind = score.first, score.vector_kind if score.vector_kind != "word" else "mean"
    text, pair = side.encoding.text, side.encoding.pair
    candidates = [
        *(negations(text) if is_english(text) else ()),
        *exchanged_words(text),
        *other_names(text),
        *other_numbers(text),
        *typo(text),
        *other_cases(text),
    ]
    edits = list({edit.text: edit for edit in reversed(candidates) if edit.text != text}.values())
    runs = [ModelRun(edit.text, pair, lambda tokens: weights_of(tokens, kind)) for edit in edits]
    vectors = vectors_of(runs, service, score.card, layer=score.layer, progress=progress)
    vector = vector_of(side.encoding.layer(score.layer), weights_of(side.encoding, kind))
    cosines = [cosine(vector, edited) for edited in vectors]
    ranked = sorted(zip(cosines, edits, strict=True), key=lambda pair: (pair[0], pair[1].text))
    return EditsResult(score.lean, kind, tuple(RankedEdit(edit, value) for value, edit in ranked))


# --- Negation inserted or removed


def _words(words: str) -> frozenset[str]:
    return frozenset(words.split())


_AUXILIARIES = _words("am is are was were can could will would should must may might do does did")
_DETERMINERS = _words("a an the my your his her its our their this that no some")
_NEGATIVE = _words("not never nor neither nobody nothing none no without")
_DO, _DOES = _words("i you we they"), _words("he she it")
_VERBS = _words(
    "believe drink eat enjoy feel get give hate hear keep know like live love make need play "
    "prefer read remember run see sleep speak take think understand use walk want work write"
)
_POSITIVE = {"can't": "can", "cannot": "can", "won't": "will"} | {
    f"{word}n't": word
    for word in _words("is are was were do does did has have had could would should must need")
}


def negations(text: str) -> list[Edit]:
    """Return the sentence without its first “not”, “never” or “n't”, else with a “not”."""
    words = _words_of(text)
    plain = [word.casefold().replace("’", "'") for _, word in words]
    for i, (span, word) in enumerate(words):
        if i and plain[i] in {"not", "never"}:
            return [Edit("negation", _without(text, span), f"took away “{word}”")]
        if plain[i] in _POSITIVE:
            new = _POSITIVE[plain[i]]
            return [_became(text, span, new.capitalize() if word[0].isupper() else new)]
    if any(word in _NEGATIVE or word.endswith("n't") for word in plain):
        return []
    for i, (span, word) in enumerate(words[1:-1], start=1):
        is_noun = plain[i - 1] in _DETERMINERS  # “the can”
        is_question = plain[i + 1] in _DO | _DOES
        if word in _AUXILIARIES and plain[i - 1].isalpha() and not (is_noun or is_question):
            new = _replaced(text, (span, f"{word} not"))
            return [Edit("negation", new, f"put “not” behind “{word}”")]
    return _with_do(text, words)


def _without(text: str, span: Span) -> str:
    """The text without a word that is not the first, and without the white space beside it."""
    before, after = text[: span[0]], text[span[1] :]
    return before.rstrip() + after if before[-1].isspace() else before + after.lstrip()


def _with_do(text: str, words: list[tuple[Span, str]]) -> list[Edit]:
    """The sentence with “do not” or “does not”, if it begins with a pronoun and a known verb."""
    if len(words) < 2:
        return []
    subject, (span, verb) = words[0][1].casefold(), words[1]
    if subject in _DO and verb in _VERBS:
        return [_became(text, span, f"do not {verb}")]
    if subject in _DOES and verb.endswith("s") and verb[:-1] in _VERBS:
        return [_became(text, span, f"does not {verb[:-1]}")]
    return []


def _became(text: str, span: Span, new: str) -> Edit:
    old = text[slice(*span)]
    return Edit("negation", _replaced(text, (span, new)), f"“{old}” became “{new}”")


# --- Other words, or another order

_NEXT_NAME = {"Mary": "Fatima", "Fatima": "Anna", "Anna": "Mary", "John": "Ahmed", "Ahmed": "David"}
_NEXT_NAME |= {"Maria": "Mary", "Emma": "Maria", "David": "Peter", "Peter": "John"}
_MAX_DIGITS = 9


def other_names(text: str) -> list[Edit]:
    """Return the text with its first known given name replaced everywhere by another one."""
    name = next((word for _, word in _words_of(text) if word in _NEXT_NAME), "")
    return [_everywhere("name", text, name, _NEXT_NAME[name])] if name else []


def other_numbers(text: str) -> list[Edit]:
    """Return the text with its first number in digits replaced by the next one."""
    for _, word in _words_of(text):
        if word.isascii() and word.isdigit() and len(word) <= _MAX_DIGITS:
            return [_everywhere("number", text, word, str(int(word) + 1).zfill(len(word)))]
    return []


def _everywhere(kind: EditKind, text: str, old: str, new: str) -> Edit:
    changes = [(span, new) for span, word in _words_of(text) if word == old]
    return Edit(kind, _replaced(text, *changes), f"“{new}” in place of “{old}”")


def exchanged_words(text: str) -> list[Edit]:
    """The text with the last two neighbouring words that differ exchanged."""
    for (first, one), (second, other) in reversed(list(pairwise(_words_of(text)))):
        is_pair = one.isalpha() and other.isalpha() and text[first[1] : second[0]].isspace()
        if is_pair and one.casefold() != other.casefold():
            new = _replaced(text, (first, other), (second, one))
            return [Edit("order", new, f"“{one}” and “{other}” changed places")]
    return []


# --- The same words with another spelling

_MIN_LETTERS = 4  # of the shortest word with two inner letters


def other_cases(text: str) -> list[Edit]:
    """The text in lower case and in capitals, as far as that changes it."""
    both = (text.lower(), "all in small letters"), (text.upper(), "all in capitals")
    return [Edit("case", new, description) for new, description in both if new != text]


def typo(text: str) -> list[Edit]:
    """The text with two inner letters of its longest word exchanged; empty if no word allows it."""
    words = [(span, word) for span, word in _words_of(text) if _has_two_inner_letters(word)]
    if not words:
        return []
    span, word = max(words, key=lambda item: len(item[1]))
    positions = [i for i in range(1, len(word) - 2) if word[i] != word[i + 1]]
    i = min(positions, key=lambda i: abs(2 * i + 1 - (len(word) - 1)))
    new = word[:i] + word[i + 1] + word[i] + word[i + 2 :]
    return [Edit("typo", _replaced(text, (span, new)), f"“{word}” mistyped as “{new}”")]


def _has_two_inner_letters(word: str) -> bool:
    return word.isalpha() and len(word) >= _MIN_LETTERS and len(set(word[1:-1])) > 1


# --- The words of a text


def _words_of(text: str) -> list[tuple[Span, str]]:
    """Each word with its span, as written; punctuation marks count as words."""
    return [(span, text[slice(*span)]) for span in split_words(text)]


def _replaced(text: str, *changes: tuple[Span, str]) -> str:
    """The text with other words at some spans, which must not overlap."""
    for (start, end), new in sorted(changes, reverse=True):
        text = text[:start] + new + text[end:]
    return text


# --- An edited text with its new words marked

_SHOWN_BESIDE, _CHANGED = 80, 160  # characters on either side of a change, and of the change itself


def marked(before: str, after: str) -> str:
    """The edited text as Markdown with its new words marked; a long one is cut around them."""
    old_pieces, new_pieces = _pieces(before), _pieces(after)
    start = _n_common(old_pieces, new_pieces)
    end = _n_common(old_pieces[start:][::-1], new_pieces[start:][::-1])
    old, new = old_pieces[start : len(old_pieces) - end], new_pieces[start : len(new_pieces) - end]
    head, tail = "".join(new_pieces[:start]), "".join(new_pieces[len(new_pieces) - end :])
    return "".join(
        [
            escape(head if len(head) <= _SHOWN_BESIDE else f"…{cut_start(head, _SHOWN_BESIDE)}"),
            *_changed(old, new),
            escape(tail if len(tail) <= _SHOWN_BESIDE else f"{cut(tail, _SHOWN_BESIDE)}…"),
        ]
    )


def _changed(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Yield the changed part as Markdown, its new words marked; a long part is cut."""
    n_characters = 0
    for i, piece in enumerate(new):
        is_new = len(old) != len(new) or old[i] != piece
        yield f":blue-background[{escape(piece)}]" if is_new and piece.strip() else escape(piece)
        n_characters += len(piece)
        if n_characters > _CHANGED:
            yield "…"
            return


def _n_common(first: Sequence[str], second: Sequence[str]) -> int:
    """The number of equal pieces at the beginnings of both."""
    both = zip(first, second, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], both))


def _pieces(text: str) -> list[str]:
    """The words and the text between them; white space between words becomes one space."""
    cuts = sorted({0, len(text), *(end for span in split_words(text) for end in span)})
    return [text[a:b] if text[a:b].strip() else " " for a, b in pairwise(cuts)]
