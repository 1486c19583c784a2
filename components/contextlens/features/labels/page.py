"""The parts of the Labels page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.content.language import duration, say
from contextlens.content.wording import escape
from contextlens.core import ModelCard
from contextlens.core.schema import Classification, Labels
from contextlens.corpus.corpus import Corpus
from contextlens.features.labels import before_after, other_words, token_labels, word_effects
from contextlens.features.labels.before_after import BeforeAfter
from contextlens.features.labels.controls import (
    BASE,
    BEFORE,
    COMPARED,
    EDITS,
    GRADIENTS,
    LABEL,
    MIN_WORD_USES,
    PAGE,
    SECTION,
    SENTENCE,
    WAY,
    WORD,
    WORDS,
)
from contextlens.features.labels.explained import Explained
from contextlens.features.labels.other_words import OtherWords
from contextlens.features.labels.text_labels import LabelledText, TextLabels, answer_of
from contextlens.features.labels.token_labels import LabelledWord, TokenLabels
from contextlens.features.labels.word_effects import WordEffects
from contextlens.figures.word_rows import words_svg
from contextlens.ui.corpora import bar, texts
from contextlens.ui.corpora.controls import READY_TEXTS
from contextlens.ui.models import runtime, second_model, waiting
from contextlens.ui.models.background import maps
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
_WORDS_HEIGHT = 120
_MENU_WIDTH = 240


def labels(view: ViewState, card: ModelCard, downloads: DeltaGenerator) -> None:
    """Draw the labels by the model's own head, or say why it has none."""
    if card.provenance.label_head.state == "trained":
        _of_tokens(view, card, downloads)
    elif card.provenance.text_head.state == "trained":
        _of_texts(view, card, downloads)
    else:
        _without_head(view, card)


# --- A model without a head


def _without_head(view: ViewState, card: ModelCard) -> None:
    """Say why there are no labels, and how to get some; fine-tuning may have changed others."""
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
        _look_closer(view, {BEFORE: partial(_before, view, card)})
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
    kit.headline(result.title(), key="reading")
    kit.chart(result.figure(), key=_CHART, alt=result.alt())
    _notes(result, {text.letter: text for text in result.texts}, card)
    of = None if chosen is None else Explained(card, chosen, result.label)
    look = _look_closer(view, _looks(view, card, of))
    _explain(result, look)
    _downloads(view, result, look, downloads)


def _label_menu(own: Labels, label: int) -> None:
    """Draw the menu of the labels; labels of one name have their number."""
    names = list(own.names)
    titles = {
        i: name if names.count(name) == 1 and name.strip() else f"{name} ({i})"
        for i, name in enumerate(names)
    }
    with st.container(width=_MENU_WIDTH, key="labels_menu"):
        inputs.menu(
            LABEL.label,
            titles,
            label,
            lambda index: session.write(LABEL.put(session.current(), index)),
            key=LABEL.key,
        )


def _notes(result: Panel, texts: Mapping[str, LabelledText], card: ModelCard) -> None:
    kit.notes(result.notes())
    tokens = {name: text.result.tokens for name, text in texts.items()}
    kit.notes(unread(tokens, uncached(), card.id))


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
    word = _chosen_word(view, result)
    if word is not None:
        rows = result.word_rows(word.positions[0])
        word_lines(rows, key="labels_tagged_words", on_pick=_explain_word)
        st.caption(say("labels.tokens.hint"))
    text = LabelledText(result.index, result.result)
    _notes(result, {text.letter: text}, card)
    label = LABEL.of(view)
    of = None
    if word is not None:
        own = int(result.result.scores[word.positions[0]].argmax())
        of = Explained(card, text, label if 0 <= label < len(card.labels.names) else own, word)
    look = _look_closer(view, _looks(view, card, of))
    _explain(result, look)
    _downloads(view, result, look, downloads)


def _chosen_word(view: ViewState, result: TokenLabels) -> LabelledWord | None:
    """Return the word that was clicked; else the first with a label, else the first of all."""
    words, position = result.visible_words, WORD.of(view)
    clicked = [word for word in words if word.positions[0] == position]
    named = [word for word in words if word.label != token_labels.OUTSIDE]
    return next(iter([*clicked, *named, *words]), None)


def _explain_word(_side: str, position: int) -> None:
    session.write(LABEL.put(WORD.put(session.current(), position), LABEL.default))


# --- Closer looks


def _look_closer(view: ViewState, looks: Mapping[str, Callable[[], Panel | None]]) -> Panel | None:
    """Draw the closer looks, one at a time; return the result of the open one."""
    return kit.look_closer(
        view, SECTION.among({name: SECTION.options[name] for name in looks}), looks
    )


def _looks(
    view: ViewState, card: ModelCard, of: Explained | None
) -> Mapping[str, Callable[[], Panel | None]]:
    """Return the closer looks of a model with a head; a regression has no answer to turn."""
    looks: dict[str, Callable[[], Panel | None]] = {WORDS: partial(_words, view, of)}
    if card.labels.scores != "none":
        looks[EDITS] = partial(_edits, of)
    return {**looks, BEFORE: partial(_before, view, card)}


def _words(view: ViewState, of: Explained | None) -> WordEffects | None:
    """Draw the words of the chosen sentence, coloured by their effect on the chosen label."""
    with kit.controls("labels_words"):
        if of is not None:
            _label_menu(of.labels, of.label)
        way = inputs.choice(view, WAY)
    if of is None:
        st.info(say("labels.missing.sentence"), icon=":material/edit:")
        return None
    task = word_effects.task(of, way, uncached(), token_seconds=maps().token_seconds(of.card))
    key = "cost_gradients" if way == GRADIENTS else "cost_leave_out"
    cost = say(f"labels.work.{key}", duration=duration(task.size))
    found = waiting.result_of(task, cost, place="labels_words", height=_WORDS_HEIGHT)
    if found is None:
        return None
    words = word_effects.word_effects(of, way, found)
    kit.claims(words.claims(), sure=words.sure(), key="reading_words")
    if words.words:
        rows = words.word_rows()
        word_lines(rows, key="labels_word_lines")
        kit.drawing(words_svg(rows))
    kit.notes(words.notes())
    return words


def _edits(of: Explained | None) -> OtherWords | None:
    """Draw the words of the vocabulary that turn the chosen label."""
    if of is None:
        st.info(say("labels.missing.sentence"), icon=":material/edit:")
        return None
    _label_menu(of.labels, of.label)
    task = other_words.task(of, uncached(), token_seconds=maps().token_seconds(of.card))
    cost = say("labels.work.cost_edits", duration=duration(task.size))
    found: OtherWords | None = waiting.result_of(
        task, cost, place="labels_edits", height=_WORDS_HEIGHT
    )
    if found is None:
        return None
    result = replace(found, of=of)  # another sentence of this text may have been asked for
    kit.claims(result.claims(), sure=result.sure(), key="reading_edits")
    if result.tried:
        st.caption(say("labels.edits.table", label=of.name, own=of.told(of.score)))
        kit.table(result.rows(), key="labels_edits_table", exact=("similarity", "score"))
    return result


def _before(view: ViewState, card: ModelCard) -> BeforeAfter | None:
    """Draw how far layers and words moved from another model's, on a collection."""
    service, first = runtime.service(), next(iter(READY_TEXTS))
    specs = {spec.id: spec for spec in (*service.models(), *runtime.own_models())}
    specs.pop(card.id, None)
    titles = {spec.id: spec.title for spec in specs.values()}
    with kit.controls("labels_before"):
        chosen = inputs.select(view, BASE.among({"": say("labels.before.choose"), **titles}))
        asked = COMPARED.asked(view) or first
        name = inputs.select(view, COMPARED.among(bar.collections(view, asked)))
    if not chosen:
        st.info(say("labels.before.ask"), icon=":material/compare:")
        return None
    base = second_model.model_card(specs[chosen])
    if base is None:
        return None
    problem = before_after.problem_of(card, base, service)
    corpus = texts.texts_of(view, name)
    if problem is not None or corpus is None:
        st.info(str(problem or say("labels.before.file")), icon=":material/info:")
        return None
    result = _compared(card, base, corpus)
    if result is not None:
        _draw_before(result)
    return result


def _compared(card: ModelCard, base: ModelCard, corpus: Corpus) -> BeforeAfter | None:
    """Return what both models say of a collection, or wait for it and return None."""
    read = before_after.texts_of(corpus)
    seconds = maps().token_seconds(card)
    task = before_after.task(card, base, read, corpus.digest, uncached(), token_seconds=seconds)
    cost = say("labels.before.cost", duration=duration(task.size))
    movement = waiting.result_of(task, cost, place="labels_before", height=before_after.HEIGHT)
    if movement is None:
        return None
    return BeforeAfter(card, base, read, len(corpus.texts), movement)


def _draw_before(result: BeforeAfter) -> None:
    kit.claims(result.claims(), sure=result.sure(), key="reading_before")
    kit.chart(result.figure(), key="labels_before_chart", alt=result.alt())
    if result.words:
        st.caption(say("labels.before.table_words", least=MIN_WORD_USES))
        kit.table(result.rows(), key="labels_before_words", exact=("similarity", "lowest"))
    with st.expander(say("page.details")):
        st.caption(say("labels.before.table_layers"))
        kit.table(result.layer_rows(), after=1, key="labels_before_layers")
        st.markdown(result.formula)
        if result.snippet():
            st.code(result.snippet(), language="python", wrap_lines=True)
        else:
            st.caption(say("labels.before.no_script"))
        st.caption(say("labels.before.limits"))


# --- Below the picture


def _explain(result: TextLabels | TokenLabels, look: Panel | None) -> None:
    """Draw the tabs under the picture."""
    kind = "tokens" if isinstance(result, TokenLabels) else "texts"
    limits = say(f"labels.limits.{kind}")
    kit.tabs(lambda: _numbers(result, look), lambda: _under_the_hood(result, look), limits)


def _numbers(result: Panel, look: Panel | None) -> None:
    kit.table(result.rows(), key="labels_table", exact=("score", "logit"))
    if isinstance(look, WordEffects) and look.words:
        kit.table(look.rows(), key="labels_words_table", exact=("score", "effect"))


def _under_the_hood(result: TextLabels | TokenLabels, look: Panel | None) -> None:
    own = look if isinstance(look, WordEffects | OtherWords) else None
    arrays = {**result.arrays(), **({} if own is None else own.arrays())}
    shapes = [{"array": name, "shape": str(a.shape)} for name, a in arrays.items()]
    kit.under_the_hood(
        formula=[result.formula] if own is None else [result.formula, own.formula],
        snippet=_script(result, look),
        passport=_first(result).passport,
        shapes=kit.shapes(shapes, key="labels_shapes"),
    )


def _script(result: Panel, look: Panel | None) -> str:
    """Return the script of the labels, with the lines of a closer look that go on from it."""
    goes_on = isinstance(look, WordEffects | OtherWords)
    return result.snippet() + (look.snippet() if goes_on and look is not None else "")


def _first(result: TextLabels | TokenLabels) -> Classification:
    return result.result if isinstance(result, TokenLabels) else result.texts[0].result


def _downloads(
    view: ViewState,
    result: TextLabels | TokenLabels,
    look: Panel | None,
    container: DeltaGenerator,
) -> None:
    """Draw the Download menu; it holds the view and a look's few numbers, and finds the rest."""
    passport = _first(result).passport
    is_of_tokens = isinstance(result, TokenLabels)
    look_arrays = {} if look is None else dict(look.arrays())
    kit.downloads(
        container,
        export.caption(passport),
        page=PAGE,
        chart="" if is_of_tokens else _CHART,
        svg=words_svg(result.word_rows()) if isinstance(result, TokenLabels) else "",
        name=_FILE,
        snippets=[(say("page.same_numbers"), _script(result, look))],
        unused=("label",),
        files=lambda: kit.download_files(
            _FILE,
            passport,
            rows=lambda: _restored(view)[0],
            arrays=lambda: {**_restored(view)[1], **look_arrays},
        ),
    )


def _restored(view: ViewState) -> tuple[Rows, Arrays]:
    """Return the rows and the arrays of a view's labels."""
    card = runtime.service().load(view.model)
    is_of_tokens = card.provenance.label_head.state == "trained"
    result = tokens_of(view, card) if is_of_tokens else texts_of(view, card)
    return ((), {}) if result is None else (result.rows(), result.arrays())
