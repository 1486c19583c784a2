"""The view: everything that a visitor is looking at, as one value. No streamlit in here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from contextlens.analysis.content_words import content_words
from contextlens.content.examples import EXAMPLES, Example, ExampleSentence
from contextlens.core.registry import BUNDLED_ID
from contextlens.core.words import Span, find_word, find_words, split_words

MAX_SENTENCES = 8  # and as many references
MAX_CHARACTERS = 20_000  # of one sentence
MAX_VALUE_CHARACTERS = 200  # of one control's text

Value = str | int | float | bool


@dataclass(frozen=True)
class Sentence:
    """A text (and its pair; blank for none), with the chosen word as a span of code points."""

    text: str
    pair: str | None = None
    word: Span | None = None

    def __post_init__(self) -> None:
        if self.pair is not None and not self.pair.strip():
            object.__setattr__(self, "pair", None)


@dataclass(frozen=True)
class ViewState:
    """Everything that decides what a page shows.

    Attributes:
        model: the model's id.
        sentences: one to `MAX_SENTENCES`.
        references: words or phrases to compare with; without a chosen word, the whole text counts.
        layer: the chosen layer; None is the last.
        controls: for each page, the choices that differ from its defaults.
    """

    model: str
    sentences: tuple[Sentence, ...]
    references: tuple[Sentence, ...] = ()
    layer: int | None = None
    controls: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)

    def control(self, page: str, name: str, default: Value) -> Value:
        """Return a page's choice, or its default."""
        value = self.controls.get(page, {}).get(name, default)
        return value if type(value) is type(default) else default

    def layer_among(self, layers: Sequence[int]) -> int:
        """Return the chosen layer; the last if it is none of these."""
        return self.layer if self.layer is not None and self.layer in layers else layers[-1]

    def with_control(self, page: str, name: str, value: Value, default: Value) -> ViewState:
        """Return the same view with one choice changed; a default is left out."""
        choices = {key: v for key, v in self.controls.get(page, {}).items() if key != name}
        if value != default:
            choices[name] = value
        others = {key: dict(v) for key, v in self.controls.items() if key != page}
        return replace(self, controls={**others, **({page: choices} if choices else {})})


def from_example(example: Example, model: str | None = None) -> ViewState:
    """Return the view that an example opens."""
    return ViewState(
        model=model or BUNDLED_ID,
        sentences=tuple(map(_from_example_sentence, example.sentences)),
        references=tuple(map(_from_example_sentence, example.references)),
    )


def _from_example_sentence(sentence: ExampleSentence) -> Sentence:
    span = find_word(sentence.text, sentence.word, sentence.occurrence) if sentence.word else None
    return Sentence(sentence.text, word=span)


def without_left_references(view: ViewState, before: ViewState) -> ViewState:
    """Return a view without the references of an example whose last sentence is gone.

    Args:
        view: the view with its new sentences.
        before: the view with the sentences that they replace.
    """
    texts = {reference.text for reference in view.references}
    for example in EXAMPLES:
        names = {reference.text for reference in example.references}
        if names <= texts and _has_word(before, example) and not _has_word(view, example):
            others = (reference for reference in view.references if reference.text not in names)
            return replace(view, references=tuple(others))
    return view


def _has_word(view: ViewState, example: Example) -> bool:
    words = {sentence.word for sentence in example.sentences if sentence.word}
    return any(find_words(sentence.text, word) for sentence in view.sentences for word in words)


DEFAULT = from_example(EXAMPLES[0])


def letter(index: int) -> str:
    """Return the letter of the n-th sentence, counted from 0."""
    return chr(ord("A") + index)


def retyped(old: Sentence, text: str, fallback: str | None) -> Sentence:
    """Return a sentence with a new text: the same word if the text has it, else `fallback`."""
    words = [] if old.word is None else [old.text[slice(*old.word)]]
    for word in [*words, *([fallback] if fallback else [])]:
        span = _nearest(text, word, old.word[0] if old.word else 0)
        if span is not None:
            return Sentence(text, old.pair, span)
    return Sentence(text, old.pair)


def shared_word(text: str, others: Sequence[str]) -> str | None:
    """Return the longest word that a text shares with others, in the text's spelling, or None.

    Words of fewer than three letters are not worth comparing. Of equally long words the last one
    counts, as a sentence's subject matter is usually near its end.
    """
    other_words = {
        other[slice(*span)].casefold() for other in others for span in split_words(other)
    }
    words = [text[slice(*span)] for span in split_words(text)]
    shared = [w for w in words if len(w) >= 3 and w.isalpha() and w.casefold() in other_words]
    return max(reversed(shared), key=len, default=None)


def last_content_word(text: str) -> Span | None:
    """Return the last word that is no function word, else the last one; None without words."""
    words = [span for span in split_words(text) if text[slice(*span)].isalnum()]
    content = (span for span in reversed(words) if content_words(text[slice(*span)]))
    return next(content, words[-1] if words else None)


def _nearest(text: str, word: str, position: int) -> Span | None:
    """Return the occurrence of a word that begins nearest to a position."""
    return min(find_words(text, word), key=lambda span: abs(span[0] - position), default=None)
