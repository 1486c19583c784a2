"""Tokens & IDs, from a view to what is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from components.analysis.tokens import Kind, kinds, labels, source, unknown_reason
from components.core import EncoderService
from components.core.schema import Passport, TokenizerCard, Tokens, Vocabulary
from components.features.tokens.samples import TokenExample
from components.ui.state.view import Sentence, ViewState

__all__ = ["PAGE", "SECTIONS", "TokenView", "compute", "cut_between", "from_example", "index_of"]

PAGE = "tokens"
SECTIONS = ("Vocabulary", "From ID to row", "Two tokenizers", "Back to text")


@dataclass(frozen=True, eq=False)
class TokenView:
    """What the page shows of one sentence.

    Attributes:
        index: which sentence it is.
        cut: the length in tokens that a longer text is cut to.
        pad_to: the length that was padded to; None where there was nothing to pad.
        pad_asked: the length that was asked, 0 for none.
        kinds, labels: what each token is, and what is written on it.
        reasons: why unknown tokens are unknown, by position.
        picked: the position of the token that is looked at closer.
        special: whether added tokens are shown.
    """

    index: int
    sentence: Sentence
    card: TokenizerCard
    vocabulary: Vocabulary
    tokens: Tokens
    cut: int
    pad_to: int | None
    pad_asked: int
    kinds: tuple[Kind, ...]
    labels: tuple[str, ...]
    reasons: Mapping[int, str]
    picked: int
    special: bool

    @property
    def passport(self) -> Passport:
        """How to get the same tokens again."""
        padding = {} if self.pad_to is None else {"pad_to": self.pad_to}
        return Passport(
            model=self.card.id,
            revision=self.card.revision,
            checksum=self.card.checksum,
            precision="exact",
            versions=self.card.versions,
            settings={"checksum_of": "tokenizer files", "max_length": self.cut, **padding},
        )


def index_of(view: ViewState) -> int:
    """Which sentence the view looks at; the first where it names none."""
    letter = str(view.control(PAGE, "sentence", "A"))
    index = ord(letter) - ord("A") if len(letter) == 1 else 0
    return index if 0 <= index < len(view.sentences) else 0


def cut_between(card: TokenizerCard, sentence: Sentence) -> tuple[int, int]:
    """The least and the most tokens that a text can be cut to: one of its own, and the limit."""
    return card.n_added[bool(sentence.pair)] + 1, card.max_length


def compute(view: ViewState, service: EncoderService, card: TokenizerCard) -> TokenView:
    """Cut the chosen sentence into tokens as the view's controls say."""
    index = index_of(view)
    sentence = view.sentences[index]
    sentence = replace(sentence, pair=sentence.pair or None)  # an empty second text is none
    least, most = cut_between(card, sentence)
    cut = min(max(int(view.control(PAGE, "cut", most)), least), most)
    pad_asked = min(max(int(view.control(PAGE, "pad", 0)), 0), most)
    tokens = _tokenize(service, view.model, sentence, cut, None)
    pad_to = pad_asked if pad_asked > tokens.n_tokens else None
    if pad_to is not None:
        tokens = _tokenize(service, view.model, sentence, cut, pad_to)
    vocabulary = service.vocabulary(view.model)
    own = kinds(tokens, vocabulary)
    return TokenView(
        index=index,
        sentence=sentence,
        card=card,
        vocabulary=vocabulary,
        tokens=tokens,
        cut=cut,
        pad_to=pad_to,
        pad_asked=pad_asked,
        kinds=own,
        labels=labels(tokens, vocabulary),
        reasons=_reasons(service, view.model, tokens, vocabulary, own),
        picked=_picked(view, tokens),
        special=not view.control(PAGE, "hide", default=False),
    )


def from_example(example: TokenExample, view: ViewState) -> ViewState:
    """The view with an example's text in the place of the sentence that is looked at."""
    index = index_of(view)
    rows = list(view.sentences)
    rows[index] = Sentence(example.text, example.pair)
    kept = {"sentence": view.control(PAGE, "sentence", "A")} if index else {}
    controls = {page: own for page, own in view.controls.items() if page != PAGE}
    own = {**kept, **dict(example.controls)}
    return replace(
        view, sentences=tuple(rows), controls={**controls, **({PAGE: own} if own else {})}
    )


def _tokenize(
    service: EncoderService, model: str, sentence: Sentence, cut: int, pad_to: int | None
) -> Tokens:
    pairs = None if sentence.pair is None else [sentence.pair]
    return service.tokenize(model, [sentence.text], pairs=pairs, pad_to=pad_to, max_length=cut)[0]


def _reasons(
    service: EncoderService,
    model: str,
    tokens: Tokens,
    vocabulary: Vocabulary,
    own: tuple[Kind, ...],
) -> dict[int, str]:
    unknown = [i for i, kind in enumerate(own) if kind == "unknown"]
    normalized = service.normalize(model, [source(tokens, i) for i in unknown])
    return {
        i: unknown_reason(text.strip(), vocabulary)
        for i, text in zip(unknown, normalized, strict=True)
    }


def _picked(view: ViewState, tokens: Tokens) -> int:
    """The token that the view names, or the chosen word's first, or the first of the text."""
    asked = int(view.control(PAGE, "token", -1))
    if 0 <= asked < tokens.n_tokens:
        return asked
    word = view.sentences[index_of(view)].word
    starts = [
        i
        for i in range(tokens.n_tokens)
        if tokens.text_ids[i] == 0 and (word is None or tokens.offsets[i, 1] > word[0])
    ]
    return starts[0] if starts else 0
