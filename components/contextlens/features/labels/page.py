"""The parts of the Labels page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.content.language import duration, say
from contextlens.content.wording import escape
from contextlens.core import ModelCard
from contextlens.core.schema import Classification
from contextlens.features.labels import token_labels, word_effects
from contextlens.features.labels.controls import GRADIENTS, LABEL, PAGE, SENTENCE, WAY
from contextlens.features.labels.text_labels import LabelledText, TextLabels, answer_of
from contextlens.features.labels.token_labels import TokenLabels
from contextlens.features.labels.word_effects import WordEffects
from contextlens.figures.word_rows import words_svg
from contextlens.ui.models import runtime, waiting
from contextlens.ui.models.background import jobs, maps
from contextlens.ui.panel import Arrays, Panel, Rows
from contextlens.ui.state import session
from contextlens.ui.state.controls import sentence_index
from contextlens.ui.state.services import uncached
from contextlens.ui.state.view import Sentence, ViewState
from contextlens.ui.widgets import export, inputs, kit
from contextlens.ui.widgets.unread import unread
from contextlens.ui.widgets.word_lines import word_lines

HEIGHT = 300
_CHART = "labels_chart"
_FILE = "labels"
_JOB = "labels_words"
_WORDS_HEIGHT = 120
_MENU_WIDTH = 240


def labels(view: ViewState, card: ModelCard, downloads: DeltaGenerator) -> None:
    """Draw the labels by the model's own head, or say why it has none."""
    if card.provenance.label_head.state == "trained":
        _of_tokens(view, card, downloads)
    elif card.provenance.text_head.state == "trained":
        _of_texts(view, card, downloads)
    else:
        _without_head(card)


# --- A model without a head


def _without_head(card: ModelCard) -> None:
    """Say why there are no labels, and how to get a model that gives some."""
    parts = card.provenance.text_head, card.provenance.label_head
    untrained = next((part for part in parts if part.state == "untrained"), None)
    reason = say("labels.missing.absent") if untrained is None else untrained.reason
    st.info(
        say("labels.missing.title", model=escape(card.title), reason=escape(reason)),
        icon=":material/label_off:",
    )
    st.markdown(say("labels.missing.folder"))
    if runtime.may_choose_any():
        st.markdown(say("labels.missing.hub"))
    if not session.is_presented():
        kit.next_page()


# --- A head for texts


def texts_of(view: ViewState, card: ModelCard) -> TextLabels | None:
    """Return the labels of each sentence that is not empty; None if there is none."""
    written = [(i, sentence) for i, sentence in enumerate(view.sentences) if is_written(sentence)]
    if not written:
        return None
    found = runtime.service().classify(
        card.id,
        [sentence.text for _, sentence in written],
        pairs=[sentence.pair for _, sentence in written],
    )
    texts = tuple(LabelledText(i, result) for (i, _), result in zip(written, found, strict=True))
    chosen = _chosen(view, texts)
    scores = (chosen or texts[0]).result.scores
    answer = answer_of(scores, card.labels)
    own = answer[0] if answer else int(scores.argmax())
    label = LABEL.of(view)
    return TextLabels(card, texts, label if 0 <= label < len(scores) else own)


def is_written(sentence: Sentence) -> bool:
    """Return True if a sentence, or its second text, has anything to read."""
    return bool(sentence.text.strip() or (sentence.pair or "").strip())


def _chosen(view: ViewState, texts: Sequence[LabelledText]) -> LabelledText | None:
    """Return the sentence with the ring; None if it is empty."""
    index = sentence_index(view, SENTENCE)
    return next((text for text in texts if text.index == index), None)


def _of_texts(view: ViewState, card: ModelCard, downloads: DeltaGenerator) -> None:
    with kit.placeholder(PAGE, height=HEIGHT):
        result = texts_of(view, card)
    if result is None:
        st.info(say("labels.missing.sentence"), icon=":material/edit:")
        return
    chosen = _chosen(view, result.texts)
    with kit.box(), kit.controls(PAGE):
        _label_menu(result)
        inputs.choice(view, WAY)
    kit.headline(result.title(), key="reading")
    kit.chart(result.figure(), key=_CHART, alt=result.alt())
    _notes(result, {text.letter: text for text in result.texts}, card)
    words = None if chosen is None else _words(view, result, chosen)
    _explain(result, words)
    _downloads(view, result, words, downloads)


def _label_menu(result: TextLabels) -> None:
    """Draw the menu of the labels; labels of one name have their number."""
    names = list(result.labels.names)
    titles = {
        i: name if names.count(name) == 1 and name.strip() else f"{name} ({i})"
        for i, name in enumerate(names)
    }
    with st.container(width=_MENU_WIDTH, key="labels_menu"):
        inputs.menu(
            LABEL.label,
            titles,
            result.label,
            lambda index: session.write(LABEL.put(session.current(), index)),
            key=LABEL.key,
        )


def _notes(result: Panel, texts: Mapping[str, LabelledText], card: ModelCard) -> None:
    kit.notes(result.notes())
    tokens = {name: text.result.tokens for name, text in texts.items()}
    kit.notes(unread(tokens, uncached(), card.id))


def _words(view: ViewState, result: TextLabels, text: LabelledText) -> WordEffects | None:
    """Draw the words of a sentence, coloured by their effect on the chosen label."""
    way, card = WAY.of(view), result.card
    task = word_effects.task(
        card, text, result.label, way, uncached(), token_seconds=maps().token_seconds(card)
    )
    cost = say(f"labels.work.cost_{way}", duration=duration(task.size))
    found = waiting.result_of(task, cost, place=_JOB, height=_WORDS_HEIGHT)
    if found is None:
        return None
    words = word_effects.word_effects(card, text, result.label, way, found)
    kit.claims(words.claims(), sure=words.sure(), key="reading_words")
    if words.words:
        word_lines(words.word_rows(), key="labels_word_lines")
    kit.notes(words.notes())
    return words


# --- A head for tokens


def tokens_of(view: ViewState, card: ModelCard) -> TokenLabels | None:
    """Return the labels of the chosen sentence's words; None if it is empty."""
    index = sentence_index(view, SENTENCE)
    if not view.sentences or not view.sentences[index].text.strip():
        return None
    sentence, service = view.sentences[index], runtime.service()
    (result,) = service.classify(card.id, [sentence.text])
    vocabulary = service.vocabulary(card.id)
    has_pair = bool((sentence.pair or "").strip())
    return token_labels.token_labels(card, index, result, vocabulary, has_pair=has_pair)


def _of_tokens(view: ViewState, card: ModelCard, downloads: DeltaGenerator) -> None:
    with kit.placeholder(PAGE, height=HEIGHT):
        result = tokens_of(view, card)
    if result is None:
        st.info(say("labels.missing.sentence"), icon=":material/edit:")
        return
    kit.headline(result.title(), key="reading")
    if result.words:
        word_lines(result.word_rows(), key="labels_word_lines")
    text = LabelledText(result.index, result.result)
    _notes(result, {text.letter: text}, card)
    _explain(result, None)
    _downloads(view, result, None, downloads)


# --- Below the picture


def _explain(result: TextLabels | TokenLabels, words: WordEffects | None) -> None:
    """Draw the tabs under the picture."""
    kind = "tokens" if isinstance(result, TokenLabels) else "texts"
    limits = say(f"labels.limits.{kind}")
    kit.tabs(lambda: _numbers(result, words), lambda: _under_the_hood(result, words), limits)


def _numbers(result: Panel, words: WordEffects | None) -> None:
    kit.table(result.rows(), key="labels_table", exact=("score", "logit"))
    if words is not None and words.words:
        kit.table(words.rows(), key="labels_words_table", exact=("score", "effect"))


def _under_the_hood(result: TextLabels | TokenLabels, words: WordEffects | None) -> None:
    arrays = {**result.arrays(), **({} if words is None else words.arrays())}
    shapes = [{"array": name, "shape": str(a.shape)} for name, a in arrays.items()]
    formula = [result.formula] if words is None else [result.formula, words.formula]
    kit.under_the_hood(
        formula=formula,
        snippet=result.snippet() + ("" if words is None else words.snippet()),
        passport=_first(result).passport,
        shapes=kit.shapes(shapes, key="labels_shapes"),
        remark=say("labels.work.no_script") if words and words.way == GRADIENTS else "",
    )


def _first(result: TextLabels | TokenLabels) -> Classification:
    return result.result if isinstance(result, TokenLabels) else result.texts[0].result


def _downloads(
    view: ViewState,
    result: TextLabels | TokenLabels,
    words: WordEffects | None,
    container: DeltaGenerator,
) -> None:
    """Draw the Download menu; it holds only the view, and finds the data again on a click."""
    passport = _first(result).passport
    is_of_tokens = isinstance(result, TokenLabels)
    script = result.snippet() + ("" if words is None else words.snippet())
    kit.downloads(
        container,
        export.caption(passport),
        page=PAGE,
        chart="" if is_of_tokens else _CHART,
        svg=words_svg(result.word_rows()) if isinstance(result, TokenLabels) else "",
        name=_FILE,
        snippets=[(say("page.same_numbers"), script)],
        unused=("label",),
        files=lambda: kit.download_files(
            _FILE,
            passport,
            rows=lambda: _restored(view)[0],
            arrays=lambda: _restored(view)[1],
        ),
    )


def _restored(view: ViewState) -> tuple[Rows, Arrays]:
    """Return the rows and the arrays of a view; of words only if they are still at hand."""
    card = runtime.service().load(view.model)
    if card.provenance.label_head.state == "trained":
        tokens = tokens_of(view, card)
        return ((), {}) if tokens is None else (tokens.rows(), tokens.arrays())
    result = texts_of(view, card)
    if result is None:
        return (), {}
    chosen, way, arrays = _chosen(view, result.texts), WAY.of(view), dict(result.arrays())
    if chosen is not None:
        task = word_effects.task(card, chosen, result.label, way, uncached(), token_seconds=0.0)
        job = jobs().get(task.key)
        if job is not None and job.state == "done":
            found = job.result()
            arrays |= word_effects.word_effects(card, chosen, result.label, way, found).arrays()
    return result.rows(), arrays
