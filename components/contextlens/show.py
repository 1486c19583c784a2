"""The pages' pictures for notebooks and scripts: the same figures, without a browser or a server.

    import contextlens
    contextlens.show_attention("I love my pet python", layer=2, head=3).write_html("attention.html")

Each function asks the service, calls what the page calls, and replaces Streamlit's colours. The
random-pair baseline is measured once for a model and kept where the app keeps it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from plotly import graph_objects as go

from contextlens.analysis.baseline import Baseline
from contextlens.analysis.words import POOLINGS, Pooling
from contextlens.content.glossary import unmarked
from contextlens.content.wording import shortened
from contextlens.core import BUNDLED_ID, EncoderService, ModelCard, Settings, open_service
from contextlens.core.errors import RequestError
from contextlens.core.schema import Passport
from contextlens.core.words import Span, find_word
from contextlens.corpus.corpus import Corpus
from contextlens.features.attention import controls as attention_controls
from contextlens.features.attention.attention import attention_view
from contextlens.features.layers.controls import MEASURE, MEASURES, MeasureKind
from contextlens.features.layers.hidden_states import hidden_states
from contextlens.features.layers.one_token import one_token
from contextlens.features.map.chart import draw_map
from contextlens.features.map.coloring import usual_color
from contextlens.features.map.finding import finding_of
from contextlens.figures.theme import standalone
from contextlens.maps.engine import Maps
from contextlens.maps.plan import can_gather_all_layers
from contextlens.maps.points import UNITS, Unit
from contextlens.maps.prepare import compiled_folder
from contextlens.maps.request import MapRequest, MapSettings, Method
from contextlens.maps.result import MapResult
from contextlens.maps.vectors import SENTENCE_POOLINGS, WORD_POOLINGS, has_layers
from contextlens.ui.models import tasks
from contextlens.ui.models.recipes import recipe_poolings
from contextlens.ui.state.view import MAX_CHARACTERS, MAX_SENTENCES, Sentence, ViewState
from contextlens.ui.widgets.comparison.compute import Portrait, meaning_of, portrait_of
from contextlens.ui.widgets.comparison.controls import POOLING
from contextlens.ui.widgets.comparison.figures import portrait_lines
from contextlens.ui.widgets.comparison.reading import (
    meaning_in_context,
    meaning_title,
    visible_claims,
)
from contextlens.ui.widgets.export import caption

__all__ = ["Chart", "show_attention", "show_layers", "show_map", "show_meaning"]

_CONFIG = {"displaylogo": False}
_POLICY = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
    "style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'\">"
)
"""A saved page asks nobody for anything. Plotly makes functions from text for charts in WebGL."""
_ATTENTION_UNITS = ("tokens", "words")
_MAX_KEY_LENGTH = 90  # characters of a sentence below the title


@dataclass(frozen=True, eq=False)
class Chart:
    """A page's picture with what the page says about it.

    As the last line of a notebook's cell it is drawn, with its claim below.

    Attributes:
        figure: the figure, in the light theme's colours.
        claim: the page's reading, as plain text.
        passport: everything that is needed to compute the numbers again.
    """

    figure: go.Figure
    claim: str
    passport: Passport

    def __str__(self) -> str:
        """The claim."""
        return self.claim

    def __repr__(self) -> str:
        """The claim, named as that of a chart."""
        return f"Chart({self.claim!r})"

    def _ipython_display_(self) -> None:
        """Draw the figure in a notebook, and write the claim below it."""
        self.show()
        print(self.claim)

    def show(self) -> None:
        """Draw the figure in the notebook, or else in a browser."""
        self.figure.show(config=_CONFIG)

    def write_html(self, path: str | Path) -> None:
        """Write the figure, its claim and its passport as one file that opens without a network."""
        figure = self.figure.to_html(full_html=False, include_plotlyjs=True, config=_CONFIG)
        title = re.sub(r"<[^>]+>", " ", str(self.figure.layout.title.text or "Contextlens"))
        title = html.escape(html.unescape(title))
        claim, line = (html.escape(text) for text in (self.claim, caption(self.passport)))
        page = (
            f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n{_POLICY}\n'
            f"<title>{title}</title>\n"
            f'<body style="font-family: sans-serif">\n{figure}\n<p>{claim}</p>\n'
            f"<p><small>{line}</small></p>\n</body>\n</html>\n"
        )
        Path(path).write_text(page, encoding="utf-8")


def show_meaning(
    texts: Sequence[str],
    *,
    word: str | Sequence[str],
    references: Sequence[str] = (),
    layer: int | None = None,
    pooling: Pooling = "mean",
    model: str = BUNDLED_ID,
    service: EncoderService | None = None,
) -> Chart:
    """Return the picture of Meaning in context: how similar a word's uses are at each layer.

    Args:
        texts: one to eight texts.
        word: the word that is compared, or one for each text; its first occurrence counts.
        references: words or phrases to compare with.
        layer: the layer of the claim; None is the last.
        pooling: how a word's tokens become one vector.
        model: the model's id.
        service: computes the numbers; by default one of this process.

    Raises:
        RequestError: a word is not in its text, or another argument cannot be used.
        ModelError: the model cannot be loaded.
    """
    sentences = [
        Sentence(text, word=_span(text, name))
        for text, name in _with_words(_checked("texts", texts, least=1), word)
    ]
    _checked("references", references)
    if len(sentences) + len(references) < 2:
        raise RequestError("One text was given and no reference. Give another text or a reference.")
    _check_choice("pooling", pooling, POOLINGS)
    service = service or _service()
    card = service.load(model)
    view = ViewState(
        model=model,
        sentences=tuple(sentences),
        references=tuple(map(Sentence, references)),
        layer=_checked_layer(layer, card),
    )
    meaning = meaning_of(POOLING.put(view, pooling), service, card, _baseline(card, service))
    portrait = portrait_of(meaning, view)
    if meaning.problems or portrait is None:
        raise RequestError(" ".join(meaning.problems) or "These words cannot be compared.")
    claims = meaning_in_context(portrait.comparison, portrait.layer, meaning.band)
    title = str(meaning_title(portrait.comparison))
    figure = standalone(portrait_lines(portrait, title=title), subtitle=_key(portrait))
    return Chart(figure, _plain(visible_claims(claims)), meaning.passport)


def show_map(
    texts: Sequence[str],
    *,
    labels: Sequence[object] | Mapping[str, Sequence[object]] | None = None,
    unit: Unit = "sentences",
    only: Sequence[str] = (),
    pooling: str = "mean",
    method: Method = "umap",
    seed: int = 0,
    layer: int | None = None,
    exact: bool = False,
    model: str = BUNDLED_ID,
    service: EncoderService | None = None,
) -> Chart:
    """Return the picture of Map: texts, or their words or tokens, with similar ones close together.

    Args:
        texts: the texts.
        labels: a label for each text, or several columns of them by title; they colour the points.
        unit: the points: "sentences", "words" or "tokens".
        only: of words or tokens, those that are mapped; by default all.
        pooling: how a sentence's or a word's tokens become one vector.
        method: "umap", "pca" or "tsne".
        seed: of the method's random draws.
        layer: the shown layer; None is the last.
        exact: True to read the texts in 32 bits, even if they are many and 16 bits are faster here.
        model: the model's id.
        service: computes the vectors; by default one of this process.

    Raises:
        InputError: an argument cannot be used.
        ModelError: the model cannot be loaded.
    """
    settings = MapSettings(method=method, seed=seed)
    _check_choice("unit", unit, UNITS)
    given = _checked("texts", texts, least=1, most=None)
    if only and unit == "sentences":
        raise RequestError("only names words or tokens, but unit is sentences. Give another unit.")
    corpus = Corpus(name="texts", texts=tuple(given), labels=_columns(labels, len(given)))
    service = service or _service()
    card = service.load(model)
    of_sentences = (*SENTENCE_POOLINGS, *recipe_poolings(card))
    of_unit = {"sentences": of_sentences, "words": WORD_POOLINGS, "tokens": ("mean",)}
    _check_choice("pooling", pooling, of_unit[unit])
    layer, only_layer = _checked_layer(layer, card), None
    most = MapRequest(model, corpus.key).most
    if not has_layers(pooling):
        if layer is not None:
            raise RequestError(
                f"layer was {layer}, but pooling {pooling} has no layers. Leave one of them out."
            )
        only_layer = -1
    elif not can_gather_all_layers(most, card):
        only_layer = card.n_layers if layer is None else layer
    request = MapRequest(
        model=model,
        checksum=card.checksum,
        corpus=corpus.key,
        unit=unit,
        pooling="mean" if unit == "tokens" else pooling,
        only=tuple(word.casefold() for word in _checked("only", only, most=None)),
        layer=only_layer,
        settings=settings,
        exact=exact,
    )
    result = _result_of(request, corpus, card, service)
    row = result.index_of(layer)
    finding = finding_of(result, row, usual_color(request, corpus))
    figure, _ = draw_map(result, row, finding)
    return Chart(standalone(figure), _plain(finding.claims), result.passport)


def show_attention(
    text: str,
    *,
    pair: str | None = None,
    layer: int | None = None,
    head: int | None = None,
    unit: str = "tokens",
    model: str = BUNDLED_ID,
    service: EncoderService | None = None,
) -> Chart:
    """Return the heatmap of Attention: how much each token attends to each other one.

    Args:
        text: the text.
        pair: a second text, which the model reads with the first.
        layer: the layer, from 1; without a head, the mean of its heads.
        head: the head, from 0 as in transformers' arrays; titles count from 1, as the page does.
            Without layer and head, the page's first one: the head that most joins two words.
        unit: "tokens" or "words".
        model: the model's id.
        service: computes the numbers; by default one of this process.

    Raises:
        RequestError: an argument cannot be used.
        ModelError: the model cannot be loaded.
    """
    _check_text(text, pair)
    _check_choice("unit", unit, _ATTENTION_UNITS)
    if head is not None and layer is None:
        raise RequestError(f"Head {head} was given without its layer. Give both: layer=1, head=0.")
    service = service or _service()
    card = service.load(model)
    view = ViewState(
        model=model,
        sentences=(Sentence(text, pair),),
        layer=_checked_layer(layer, card, first=1),
    )
    view = attention_controls.UNIT.put(view, unit.capitalize())
    if head is not None:
        head = _check_number("head", head, 0, card.n_heads - 1, card)
        view = attention_controls.HEAD.put(view, f"{view.layer}.{head}")
    elif layer is not None:
        view = attention_controls.SHOW.put(view, "Layer")
    attention = attention_view(view, service, card)
    claims = [attention.headline(), *attention.claims()]
    return Chart(standalone(attention.figure()), _plain(claims), attention.passport)


def show_layers(
    text: str,
    *,
    word: str | None = None,
    pair: str | None = None,
    measure: MeasureKind = "start",
    layer: int | None = None,
    model: str = BUNDLED_ID,
    service: EncoderService | None = None,
) -> Chart:
    """Return the picture of Layer by layer: what each layer makes of one token.

    Args:
        text: the text.
        word: the word whose first token is followed; None is the last word that the model reads.
        pair: a second text, which the model reads with the first.
        measure: the token's cosine to itself at layer 0 ("start") or at the layer before
            ("before"), its cosine to the first token ("first"), or its vector's "length".
        layer: the layer of the claim; None is the last.
        model: the model's id.
        service: computes the numbers; by default one of this process.

    Raises:
        RequestError: the word is not in the text, or another argument cannot be used.
        ModelError: the model cannot be loaded.
    """
    _check_text(text, pair)
    titles = {kind: title for title, kind in MEASURES.items()}
    _check_choice("measure", measure, titles)
    sentence = Sentence(text, pair, None if word is None else _span(text, word))
    service = service or _service()
    card = service.load(model)
    view = ViewState(model=model, sentences=(sentence,), layer=_checked_layer(layer, card))
    view = MEASURE.put(view, titles[measure])
    states = hidden_states(view, service, card, _baseline(card, service))
    ends = states.encoding.offsets[states.encoding.text_ids == 0, 1]
    if sentence.word is not None and ends.max(initial=0) <= sentence.word[0]:
        raise RequestError(
            f"“{word}” is beyond the {states.encoding.n_tokens} tokens that {card.title} reads. "
            "Shorten the text, or give an earlier word."
        )
    result = one_token(states)
    claims = [result.title(), *result.claims()]
    return Chart(standalone(result.figure()), _plain(claims), states.passport)


# --- What this process keeps


@cache
def _settings() -> Settings:
    return Settings.from_env()


@cache
def _service() -> EncoderService:
    return open_service()


def _baseline(card: ModelCard, service: EncoderService) -> Baseline:
    """Return a model's random-pair baseline from the app's data folder, or measure it now."""
    return tasks.read_baseline(card, service, _settings().data_dir)


@lru_cache(maxsize=1)
def _maps(service: EncoderService) -> Maps:
    return Maps(service, compiled=compiled_folder(_settings()))


def _result_of(
    request: MapRequest, corpus: Corpus, card: ModelCard, service: EncoderService
) -> MapResult:
    result: MapResult = _maps(service).draw(request, corpus, card).result()
    return result


# --- Arguments


def _checked(
    name: str, texts: Sequence[str], *, least: int = 0, most: int | None = MAX_SENTENCES
) -> list[str]:
    """Return texts as a list.

    Raises:
        RequestError: they are no texts, too few, too many, too long or blank.
    """
    if not isinstance(texts, Sequence | np.ndarray) or isinstance(texts, str | bytes):
        given = type(texts).__name__
        raise RequestError(f'{name} was {given}; it must be a list of texts, such as ["..."].')
    for i, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise RequestError(
                f"Number {i} of {name} was {type(text).__name__}; it must be a text (str)."
            )
    if len(texts) < least:
        raise RequestError(f"{name} is empty. Give at least {least}.")
    if most is not None and len(texts) > most:
        raise RequestError(f"{len(texts)} {name} were given; at most {most} are shown. Give fewer.")
    for i, text in enumerate(texts, 1):
        if not text.strip():
            raise RequestError(f"Number {i} of {name} is blank. Leave it out, or write something.")
        if len(text) > MAX_CHARACTERS:
            raise RequestError(
                f"Number {i} of {name} has {len(text):,} characters; at most "
                f"{MAX_CHARACTERS:,} are allowed. Shorten it."
            )
    return list(texts)


def _check_text(text: str, pair: str | None) -> None:
    """Check a text and its pair.

    Raises:
        RequestError: one is no text, too long or blank.
    """
    for name, given in (("text", text), ("pair", pair)):
        if name == "pair" and given is None:
            continue
        if not isinstance(given, str):
            raise RequestError(f"{name} was {type(given).__name__}; it must be one text (str).")
        if not given.strip():
            raise RequestError(f"{name} is blank. Write something.")
        _checked(name, [given])


def _with_words(texts: Sequence[str], word: str | Sequence[str]) -> list[tuple[str, str]]:
    words = [word] * len(texts) if isinstance(word, str) else _checked("word", word)
    if len(words) != len(texts):
        raise RequestError(
            f"{len(texts)} texts and {len(words)} words were given. Give one word for all, or one "
            "for each text."
        )
    return list(zip(texts, words, strict=True))


def _span(text: str, word: str) -> Span:
    span = find_word(text, word)
    if span is None:
        raise RequestError(
            f"“{shortened(word, 40)}” is no word of “{shortened(text, 60)}”. Give one whole word "
            "that is in the text; a phrase cannot be followed."
        )
    return span


def _columns(
    labels: Sequence[object] | Mapping[str, Sequence[object]] | None, n: int
) -> Mapping[str, tuple[str, ...]]:
    """Return columns of labels by title; missing labels are empty."""
    if labels is None:
        return {}
    named = labels if isinstance(labels, Mapping | pd.DataFrame) else {"label": labels}
    for title, column in named.items():
        if isinstance(column, str | bytes) or not isinstance(column, Iterable):
            raise RequestError(
                f"labels had {type(column).__name__} for {title!r}; give a list with one label for "
                "each text, or several lists by title."
            )
    columns = {
        str(title): tuple("" if pd.isna(label) else str(label) for label in column)
        for title, column in named.items()
    }
    for title, column in columns.items():
        if len(column) != n:
            raise RequestError(
                f"{n} texts and {len(column)} values of {title!r} were given. Give one for each "
                "text; None is for texts without."
            )
    return columns


def _checked_layer(layer: int | None, card: ModelCard, *, first: int = 0) -> int | None:
    return None if layer is None else _check_number("layer", layer, first, card.n_layers, card)


def _check_number(name: str, value: object, low: int, high: int, card: ModelCard) -> int:
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole or not low <= int(value) <= high:  # type: ignore[call-overload]
        raise RequestError(
            f"{name} was {value!r}; {card.title} has {name}s {low} to {high}. Give one of them."
        )
    return int(value)  # type: ignore[call-overload, no-any-return]


def _check_choice(name: str, value: object, allowed: Collection[str]) -> None:
    if value not in allowed:
        raise RequestError(f"{name} was {value!r}; it must be one of {', '.join(allowed)}.")


# --- Words


def _key(portrait: Portrait) -> list[str]:
    """Return a line for each sentence: its letter, which names it in the picture, and its text."""
    lettered = [c for c in portrait.meaning.chosen if c.item.label]
    return [f"{c.item.label}: {shortened(c.encoding.text, _MAX_KEY_LENGTH)}" for c in lettered]


def _plain(claims: Sequence[object]) -> str:
    return unmarked(" ".join(map(str, claims)))
