"""The parts of Fill in the blank: toolbar, picture, closer looks, tabs, downloads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.content.language import duration, say
from contextlens.content.wording import escape, shortened
from contextlens.core import EncoderService, ModelCard, ModelSpec
from contextlens.core.errors import ContextlensError
from contextlens.core.registry import PRESETS
from contextlens.features.blank import next_sentence, surprise
from contextlens.features.blank.bars_drawing import bars_drawing
from contextlens.features.blank.blanks import blanked_sentences, with_chosen_words
from contextlens.features.blank.controls import (
    AT,
    CANDIDATES,
    CUT,
    EVERY_LAYER,
    MAX_HIDDEN_WORDS,
    NEXT_SENTENCE,
    PAGE,
    READ,
    REPLACE,
    SURPRISE,
    WORD,
)
from contextlens.features.blank.every_layer import every_layer
from contextlens.features.blank.next_sentence import NextSentence
from contextlens.features.blank.predictions import Predictions, predictions
from contextlens.features.blank.surprise import Surprise
from contextlens.features.blank.widgets import blanks
from contextlens.ui.models import download_requests, requested_model, runtime, waiting
from contextlens.ui.models.background import maps
from contextlens.ui.panel import Panel
from contextlens.ui.state import session
from contextlens.ui.state.services import settings, uncached
from contextlens.ui.state.view import ViewState, letter
from contextlens.ui.widgets import export, inputs, kit
from contextlens.ui.widgets.layer_bar import layer_bar

_KEY = "blanks"
_FILE = "fill-in-the-blank"
_JOB_HEIGHT = 240  # pixels
_OFFERED = ("distilbert/distilbert-base-uncased", "google-bert/bert-base-uncased")
"""Presets with a head, the smallest first."""
_NEXT = "google-bert/bert-base-uncased"
"""The one of them that has a head for the next sentence, too."""
_GAP = "\N{HORIZONTAL BAR}" * 4
_MAX_SHOWN = 120  # characters of a sentence with its gaps


# --- A model without a head


def has_head(card: ModelCard) -> bool:
    """Return True if a model can predict hidden words."""
    return card.provenance.token_head.state == "trained"


def without_head(view: ViewState, card: ModelCard) -> None:
    """Say why a model cannot fill in a blank, what the page shows, and offer models that can."""
    reason = "untrained" if card.provenance.token_head.state == "untrained" else "absent"
    kit.headline(
        say(f"blank.no_head.{reason}", model=escape(card.title)),
        say("blank.no_head.shows"),
        key="reading",
        is_long=True,
    )
    _sentences_with_gaps(view)
    specs = {spec.id: spec for spec in PRESETS if spec.id in _OFFERED}
    allowed = {spec.id: spec for spec in map(runtime.service().spec, _OFFERED) if _may_load(spec)}
    request = requested_model.current(view)
    with st.container(gap="small", key="models_with_head"):
        if request is not None and request.is_pending and request.model in specs:
            st.caption(say("blank.no_head.coming", title=escape(specs[request.model].title)))
        elif not allowed:
            st.caption(say("blank.no_head.restricted", title=escape(_OFFERED[0])))
        elif any(_is_here(spec) for spec in allowed.values()) or settings().allow_downloads:
            _offer(list(allowed.values()))
        else:
            st.caption(say("blank.no_head.away", title=escape(_OFFERED[0])))
    kit.next_page()


def _sentences_with_gaps(view: ViewState) -> None:
    """Draw the sentences with the words that are hidden, as no model has answered yet."""
    service, lines = runtime.service(), []
    for sentence in blanked_sentences(view, service, service.vocabulary(view.model)):
        if sentence.hidden:
            text = sentence.with_gaps(_GAP)
            start = max(0, text.find(_GAP) - _MAX_SHOWN // 2)
            shown = "…" * bool(start) + shortened(text[start:], _MAX_SHOWN)
            name = letter(sentence.index)
            lines.append(say("blank.no_head.here", letter=name, text=escape(shown)))
    st.markdown("  \n".join(lines))


def _offer(specs: list[ModelSpec]) -> None:
    with st.container(horizontal=True, gap="small"):
        for i, spec in enumerate(specs):
            choose = partial(requested_model.choose, spec.id)
            key = f"get_{spec.title}"
            if _is_here(spec):
                label = say("blank.no_head.use", title=escape(spec.title))
                st.button(label, key=key, type="primary", on_click=choose)
            elif settings().allow_downloads:
                label = say("blank.no_head.get", title=escape(spec.title))
                label = download_requests.with_size(label, spec)
                download_requests.button(label, key, choose, kind="secondary" if i else "primary")
    last = [] if all(map(_is_here, specs)) else [say("blank.no_head.once")]
    if any(spec.id == _NEXT for spec in specs):
        last.append(say("blank.no_head.next", title=_NEXT.rpartition("/")[2]))
    st.caption(" ".join(last))


def _is_here(spec: ModelSpec) -> bool:
    return spec.loaded or spec.on_disk


def _may_load(spec: ModelSpec) -> bool:
    try:
        runtime.check_model(spec.id)
    except ContextlensError:
        return False
    return True


# --- Above the closer looks


def toolbar(view: ViewState) -> None:
    """Draw the choices of what the model reads, the visitor's own words, and the options."""
    with kit.controls("blank"):
        if inputs.choice(view, READ) == REPLACE:
            inputs.text(view, WORD)
        inputs.text(view, CANDIDATES)
        with kit.menu():
            inputs.choice(view, CUT)


def picture(view: ViewState, found: Predictions) -> None:
    """Draw the finding, the sentences with their bars, the layer bar and what has no number."""
    kit.headline(found.title(), *found.claims(), key="reading")
    blanks(found, key=_KEY, on_toggle=_toggler({s.index: s.hidden for s in found.sentences}))
    layer_bar(view, found.layers)
    kit.claims([*found.odds(), *found.cautions()], sure=found.sure(), key="reading_odds")
    kit.notes(found.notes())


def _toggler(hidden: Mapping[int, tuple[int, ...]]) -> Callable[[int, int], None]:
    """Return what hides a word of a sentence, or shows it again."""

    def toggle(sentence: int, word: int) -> None:
        view = with_chosen_words(session.current(), sentence, set(hidden[sentence]) ^ {word})
        if view is None:
            session.remember(say("blank.too_many", n=MAX_HIDDEN_WORDS))
        else:
            session.write(view)

    return toggle


# --- The closer looks


def _every_layer(view: ViewState, found: Predictions, service: EncoderService) -> Panel | None:
    """Draw the probability of a few tokens at one blank over the layers."""
    answers = list(found.answers())
    if not answers:
        st.caption(say("blank.title.nothing"))
        return None
    names = {str(i + 1): answer.place or "1" for i, answer in enumerate(answers)}
    at = AT.among(names, default="1")
    chosen = inputs.choice(view, at) if len(names) > 1 else "1"
    result = every_layer(view, service, found, answers[int(chosen) - 1])
    kit.claims(result.claims(), key="reading_layers")
    kit.chart(result.figure(), key="blank_layers", alt=result.alt())
    with st.expander(say("page.details")):
        kit.table(result.rows(), after=1, key="blank_layers_table")
    return result


def _surprise(view: ViewState, found: Predictions, _service: EncoderService) -> Panel | None:
    """Draw the words of the sentences by how much they surprise the model."""
    seconds = maps().token_seconds(found.card)
    job = surprise.task(view, uncached(), found.card, token_seconds=seconds)
    cost = say("blank.surprise.takes", duration=duration(job.size))
    result = waiting.result_of(job, cost, place="blank_surprise_job", height=_JOB_HEIGHT)
    if result is not None:
        _draw(result, ("surprise", "surprise of the word"), key="blank_surprise")
    return result


def _next_sentence(view: ViewState, found: Predictions, service: EncoderService) -> Panel:
    """Draw the probability that the second sentence follows the first."""
    result = next_sentence.next_sentence(view, service, found.card)
    _draw(result, ("probability",), key="blank_next")
    return result


def _draw(result: Surprise | NextSentence, exact: Sequence[str], *, key: str) -> None:
    """Draw a closer look's claims, its chart, and its numbers, formula and code folded."""
    kit.claims(result.claims(), sure=result.sure(), key=f"reading_{key}")
    chart = result.figure()
    if chart is not None:
        kit.chart(chart, key=key, alt=result.alt())
    kit.notes(result.notes())
    if result.rows():
        with st.expander(say("page.details")):
            kit.table(result.rows(), exact=exact, key=f"{key}_table")
            st.markdown(result.formula)
            st.code(result.snippet(), language="python", wrap_lines=True)


Look = Callable[[ViewState, Predictions, EncoderService], Panel | None]

LOOKS: Mapping[str, Look] = {
    EVERY_LAYER: _every_layer,
    SURPRISE: _surprise,
    NEXT_SENTENCE: _next_sentence,
}
"""What computes and draws each closer look, by its name among the options of `SECTION`."""


# --- Below the closer looks


def explain(found: Predictions) -> None:
    """Draw the tabs under the picture."""
    kit.tabs(lambda: _numbers(found), lambda: _under_the_hood(found), say("blank.limits"))


def _numbers(found: Predictions) -> None:
    kit.table(
        found.rows(), exact=("log-probability",), columns={"probability": _PROBABILITY},
        key="blank_table",
    )  # fmt: skip


_PROBABILITY = st.column_config.NumberColumn(format="%.6f")


def _under_the_hood(found: Predictions) -> None:
    if found.passport is None:
        st.markdown(found.formula)
        return
    kit.under_the_hood(
        formula=[found.formula],
        snippet=found.snippet(),
        passport=found.passport,
        shapes=lambda: _shapes(found),
    )


def _shapes(found: Predictions) -> None:
    card, n = found.card, sum(len(sentence.places) for sentence in found.sentences)
    st.markdown(say("blank.head", n=n, vocabulary=card.vocabulary_size, dims=card.n_dims))


def downloads(
    view: ViewState, found: Predictions, look: Panel | None, container: DeltaGenerator
) -> None:
    """Draw the Download menu; none without a blank. The files' numbers are computed again."""
    passport, card, service = found.passport, found.card, runtime.service()
    if passport is None:
        return
    look_arrays = {} if look is None else dict(look.arrays())  # few, unlike the page's own
    snippets = [(say("page.same_numbers"), found.snippet())]
    drawing = bars_drawing(found)
    kit.downloads(
        container,
        export.caption(passport),
        page=PAGE,
        svg=drawing,
        name=_FILE,
        snippets=snippets,
        files=lambda: kit.download_files(
            _FILE,
            passport,
            rows=lambda: predictions(view, service, card).rows(),
            arrays=lambda: {**predictions(view, service, card).arrays(), **look_arrays},
        ),
    )
