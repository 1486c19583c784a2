"""The parts of the Why alike? page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.analysis.baseline import Baseline
from contextlens.analysis.ruler import Ruler
from contextlens.content.examples import EXAMPLES
from contextlens.content.language import duration, say, table
from contextlens.content.wording import bold, escape
from contextlens.core import ModelCard
from contextlens.core.errors import JobError
from contextlens.features.why import (
    controls,
    edits,
    inputs,
    leave_out,
    swap_in,
    switch_off,
    yardsticks,
)
from contextlens.features.why.charts import HEIGHT
from contextlens.features.why.controls import (
    DEPTH,
    DETAIL,
    EDITS,
    FIRST,
    INPUTS,
    LEAVE_OUT,
    LOOK,
    MAX_EXPLANATION_ROWS,
    MAX_LINKED_HEADS,
    PANEL,
    PICKED,
    SECOND,
    SHARES,
    SIDE,
    SWAP_IN,
    SWITCH_OFF,
    VECTOR_KIND,
    WORD,
)
from contextlens.features.why.edits import EditsResult, RankedEdit, marked
from contextlens.features.why.explanation import Explanation
from contextlens.features.why.score import NoScore, Score, compared_indices, score_of
from contextlens.features.why.shares import shares_at
from contextlens.features.why.swap_in import SwapInResult
from contextlens.features.why.switch_off import SwitchOffResult
from contextlens.features.why.yardsticks import SentencePairs, Yardsticks, random_pairs_task
from contextlens.figures.word_rows import words_svg
from contextlens.jobs import Task
from contextlens.ui.models import runtime, waiting
from contextlens.ui.models.background import jobs, maps
from contextlens.ui.models.recipes import recipe_of
from contextlens.ui.page import navigation
from contextlens.ui.state import session
from contextlens.ui.state.controls import Choice, Text
from contextlens.ui.state.services import settings, uncached
from contextlens.ui.state.view import (
    MAX_SENTENCES,
    Sentence,
    ViewState,
    from_example,
    letter,
    retyped,
)
from contextlens.ui.widgets import export, kit
from contextlens.ui.widgets.inputs import choice
from contextlens.ui.widgets.subject import subject_bar
from contextlens.ui.widgets.unread import unread
from contextlens.ui.widgets.word_lines import word_lines

# --- The message if two sentences cannot be compared


def explain_no_score(view: ViewState, no_score: NoScore) -> None:
    """The reason why there is no score, and what to do."""
    st.info(escape(no_score.problem), icon=":material/compare_arrows:")
    if len(view.sentences) == 1:
        _second_field()
    elif VECTOR_KIND.of(view) == WORD:
        st.button(
            say("why.missing.whole"),
            icon=":material/notes:",
            key="why_whole",
            on_click=_compare_whole,
        )


def left_unread(score: Score) -> None:
    """Notes on the parts of the sentences that did not fit the model or that it cannot read."""
    for side in score.sides:
        if side.n_truncated:
            numbers = {"n": side.n_truncated, "most": score.card.max_length}
            st.caption(say("why.missing.cut", letter=side.letter, **numbers))
    texts = {side.letter: side.encoding for side in score.sides}
    kit.notes(unread(texts, uncached(), score.card.id))
    recipe = score.card.recipe
    if recipe is not None and score.layer == score.card.n_layers and score.vector_kind == "mean":
        is_too_long = any(side.encoding.n_tokens > recipe.max_length for side in score.sides)
        if is_too_long or not recipe.is_plain_mean:
            st.caption(say("why.missing.recipe", recipe=escape(recipe_of(score.card))))


def _second_field() -> None:
    field = session.bind("why_another", "")
    st.text_input(
        say("why.missing.second"),
        "",
        key=field,
        max_chars=session.max_characters(),
        placeholder=say("why.missing.type_one"),
        on_change=_add_sentence,
        args=(field,),
    )


def _add_sentence(field: str) -> None:
    view, text = session.current(), str(session.value(field) or "")
    if session.is_shown(field) and text.strip() and len(view.sentences) == 1:
        session.write(replace(view, sentences=(*view.sentences, Sentence(text))))


def _compare_whole() -> None:
    session.write(VECTOR_KIND.put(session.current(), VECTOR_KIND.default))


# --- The score on its ruler

_PAIRS_JOB = "why_pairs"


def yardsticks_of(
    score: Score, card: ModelCard, baseline: Baseline | None, ruler: Ruler | None
) -> Yardsticks:
    """Return the yardsticks of a score: random sentences, or labelled words."""
    needs_pairs = score.vector_kind != "word" and yardsticks.are_english(score)
    pairs = _measured_pairs(card) if needs_pairs else None
    return yardsticks.yardsticks_of(score, pairs, baseline, ruler)


def _similarity(ruler: Yardsticks) -> None:
    """Draw the score on its ruler, and beside random pairs in words."""
    st.caption(ruler.name)
    kit.chart(ruler.figure(), key="why_ruler", alt=ruler.alt())
    st.caption(str(ruler.claims()[0]))


def _measured_pairs(card: ModelCard) -> SentencePairs | None:
    """Return random pairs of sentences in a model; None until they are measured, or on failure."""
    pairs: SentencePairs | None = waiting.measured(_pairs_task(card), _PAIRS_JOB)
    return pairs


def _pairs_task(card: ModelCard) -> Task:
    return random_pairs_task(uncached(), card, settings().data_dir)


def await_pairs(card: ModelCard) -> None:
    """Say that random pairs are still being measured, and rerun the page when they are ready."""
    job = jobs().get(_pairs_task(card).key)
    if job is not None and job.state not in ("done", "failed"):
        waiting.follow(job, _PAIRS_JOB, cancel="")


# --- The picture of the chosen explanation

_CHART = "why_chart"
_PICTURE_JOB = "why_progress"
# The Attention page's controls that a link sets. That page declares them; a test compares both.
_HEAD = Text(page="attention", name="head", label="Head")
_SHOW = Text(page="attention", name="show", default="One head", label="Show")
_SENTENCE = Text(page="attention", name="sentence", default="A", label="Sentence")


def result_of(view: ViewState, score: Score, ruler: Yardsticks) -> Explanation | None:
    """Return the chosen explanation; until it is there show progress or a button, and None."""
    task = _task(view, score)
    if task is None:
        return shares_at(score, ruler.band).in_view(view)
    title = table("why.work")[LOOK.of(view)]
    result: Explanation | None = _await_result(task, _PICTURE_JOB, title, height=HEIGHT)
    return None if result is None else result.in_view(view)


def _await_result(task: Task, key: str, title: str, *, height: int) -> Any:
    """The result of a task; until then show progress, or the title with its cost and a button."""
    cost = say("why.work.takes", what=title, duration=duration(task.size))
    return waiting.result_of(task, cost, place=key, height=height)


def _task(view: ViewState, score: Score) -> Task | None:
    """The work behind the chosen explanation; None if it takes no time."""
    make = _EXPLAINED[_chosen(view)].task
    if make is None:
        return None
    return make(view, score, uncached(), token_seconds=maps().token_seconds(score.card))


def _chosen(view: ViewState) -> str:
    """The name of the chosen explanation."""
    look = LOOK.of(view)
    return INPUTS if look == SHARES and DEPTH.of(view) == INPUTS else look


def picture(view: ViewState, score: Score, ruler: Yardsticks) -> Explanation | None:
    """Draw an explanation, the rest of its reading, and the score on its ruler; return the first.

    Until an explanation is there, its place has the same height.
    """
    with st.container(key="why_picture"):
        top = st.container()  # so that progress takes the place of the words and moves nothing
        result = result_of(view, score, ruler)
        with top:
            _headline(result)
        draw_above = _EXPLAINED[_chosen(view)].draw_above
        if result is not None and draw_above is not None:
            draw_above(view, result)
        if result is not None and draw_above is None:
            _words(result)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _more(result)
    with right, st.container(key="why_score"):
        _similarity(ruler)
    return result


def _headline(result: Explanation | None) -> None:
    """Draw the finding."""
    if result is not None and not result.is_empty:  # otherwise a message says why
        kit.headline(result.claims()[0], key="reading")


def _more(result: Explanation | None) -> None:
    """Draw the rest of the reading, and notes on what was left out in small type."""
    if result is not None:
        if not result.is_empty:
            kit.claims(result.claims()[1:], sure=result.sure(), key="reading_more")
        kit.notes(result.notes())


def _words(result: Explanation) -> None:
    """Draw both sentences as coloured words."""
    rows = result.word_rows()
    if rows is not None:
        word_lines(rows, key="why_words", on_pick=_pick)


def _pick(side: str, position: int) -> None:
    """Write a picked word into the view; -1 for none."""
    view = session.current()
    view = SIDE.put(view, side if position >= 0 else SIDE.default)
    session.write(PICKED.put(view, position))


def _chart(result: Explanation) -> None:
    figure = result.figure()
    if figure is not None:
        kit.chart(figure, key=_CHART, alt=result.alt())


def _swaps(_: ViewState, result: SwapInResult) -> None:
    """Draw the aligned tokens, and the effect of each on the result at each layer."""
    left, right = st.columns([5, 6], gap="medium")
    with left:
        _words(result)
    with right:
        if result.problem is not None:
            st.info(str(result.problem), icon=":material/info:")
        else:
            _chart(result)


def _heads(view: ViewState, result: SwitchOffResult) -> None:
    """Draw all heads as a grid, whole parts as bars, and links to the strongest heads."""
    if result.is_empty:
        st.info(str(result.claims()[0]), icon=":material/layers:")
        return
    left, right = st.columns([8, 3], gap="medium")
    with left:
        _chart(result)
    with right, st.container(key="why_heads", gap="xsmall"):
        st.caption(say("why.switch_off.strongest"))
        for head in result.strongest(MAX_LINKED_HEADS):
            opened = on_head(view, result.score.first.letter, head.layer, head.head)
            navigation.link(
                navigation.row("attention"), opened, label=head.label, icon=":material/hub:"
            )


def on_head(view: ViewState, sentence: str, layer: int, head: int) -> ViewState:
    """Return the view that opens Attention on a sentence's head (layer from 1, head from 0)."""
    view = _SENTENCE.put(_SHOW.put(view, _SHOW.default), sentence)
    return _HEAD.put(view, f"{layer}.{head}")


class _Explained(NamedTuple):
    """The job of an explanation, and what it draws above the reading, if not words beside it."""

    task: Callable[..., Task] | None
    draw_above: Callable[[ViewState, Any], None] | None = None


_EXPLAINED: Mapping[str, _Explained] = {
    SHARES: _Explained(None),
    INPUTS: _Explained(inputs.task),
    LEAVE_OUT: _Explained(leave_out.task),
    SWITCH_OFF: _Explained(switch_off.task, _heads),
    SWAP_IN: _Explained(swap_in.task, _swaps),
}
"""The explanations by their name in the controls."""


# --- Below the picture

_FILE = "why-alike"
_EXACT = (
    *("share", "change", "cosine", "share of the way"),
    *("start", "end", "remainder", "missed by steps"),
)


def look_closer(view: ViewState, score: Score, result: Explanation | None) -> None:
    """Draw the chart behind the coloured words, if there is one, or edits of the first sentence."""
    panels: dict[str, Callable[[], None]] = {EDITS: lambda: _edits(score)}
    titles = {EDITS: PANEL.options[EDITS]}
    if result is not None and result.detail:
        titles = {DETAIL: result.detail, **titles}
        panels[DETAIL] = partial(_chart, result)
    kit.look_closer(view, PANEL.among(titles), panels)


def _edits(score: Score) -> None:
    """Draw the edits of the first sentence, each with a button that compares it."""
    task = edits.task(score, uncached(), token_seconds=maps().token_seconds(score.card))
    result: EditsResult | None = _await_result(task, "why_edits", say("why.work.edits"), height=160)
    if result is None:
        return
    pairs = _measured_pairs(score.card)
    band = None if pairs is None else pairs.band(result.vector_kind)
    kit.claims(result.claims(band), key="reading_edits")
    for i, ranked in enumerate(result.edits):
        _edit(result, ranked, i)


def _edit(result: EditsResult, ranked: RankedEdit, index: int) -> None:
    second = result.score.second
    sentence, edited = result.side.sentence, ranked.edit.text
    with st.container(horizontal=True, vertical_alignment="center", gap="small",
                      key=f"why_edit_{index}"):  # fmt: skip
        st.markdown(bold(ranked.cosine), width=48)
        with st.container(gap=None):
            st.markdown(marked(sentence.text, edited))
            st.caption(escape(ranked.edit.description))
        st.button(
            say("why.work.compare_as", letter=second.letter)
            if second.index != result.side.index
            else say("why.work.compare"),
            key=f"why_edit_use_{index}",
            disabled=(edited, sentence.pair) == (second.sentence.text, second.sentence.pair),
            on_click=_compare_with,
            args=(result.side.index, second.index, edited),
        )


def _compare_with(first: int, second: int, text: str) -> None:
    """Replace the second sentence by an edit; if it is also the first, append the edit instead."""
    view = session.current()
    if not 0 <= first < len(view.sentences):
        return
    sentence, sentences = view.sentences[first], list(view.sentences)
    if second == first:
        second = len(sentences) if len(sentences) < MAX_SENTENCES else int(first == 0)
    sentences[second : second + 1] = [replace(retyped(sentence, text, None), pair=sentence.pair)]
    view = replace(view, sentences=tuple(sentences))
    for control, index in ((FIRST, first), (SECOND, second)):
        view = control.put(view, letter(index))
    session.write(PICKED.put(view, PICKED.default))


def explain(view: ViewState, result: Explanation) -> None:
    """Draw the tabs under the picture."""
    limits = table("why.limits")[LOOK.of(view)]
    kit.tabs(lambda: _numbers(result), lambda: _under_the_hood(result), limits)


def _numbers(result: Explanation) -> None:
    table = result.rows()
    kit.table(table[:MAX_EXPLANATION_ROWS], key="why_table", exact=_EXACT, height=360)
    if len(table) > MAX_EXPLANATION_ROWS:
        st.caption(say("why.work.rows", most=MAX_EXPLANATION_ROWS, n=len(table)))


def _under_the_hood(result: Explanation) -> None:
    shapes = [{"array": name, "shape": str(a.shape)} for name, a in result.arrays().items()]
    kit.under_the_hood(
        formula=[result.formula],
        snippet=result.snippet(),
        passport=result.passport,
        shapes=kit.shapes(shapes, key="why_shapes"),
    )


def downloads(view: ViewState, result: Explanation, container: DeltaGenerator) -> None:
    """Draw the Download menu; it holds only the view, and finds the data again on a click."""
    rows = result.word_rows() if result.detail else None
    kit.downloads(
        container,
        export.caption(result.passport),
        page="why",
        chart=_CHART,
        svg="" if rows is None else words_svg(rows),
        name=_FILE,
        snippets=[(say("page.same_numbers"), result.snippet()), ("", result.chart_snippet())],
        files=lambda: kit.download_files(
            _FILE,
            result.passport,
            rows=lambda: _restored(view).rows(),
            arrays=lambda: _restored(view).arrays(),
        ),
    )


def _restored(view: ViewState) -> Explanation:
    """The explanation of a view as it was shown.

    Raises:
        JobError: the data were evicted.
    """
    service = runtime.service()
    score = score_of(view, service, service.load(view.model))
    if isinstance(score, NoScore):
        raise JobError(say("why.work.gone"))
    task = _task(view, score)
    if task is None:
        return shares_at(score)
    job = jobs().get(task.key)
    if job is None or job.state != "done":
        raise JobError(say("why.work.gone"))
    result: Explanation = job.result()
    return result


# --- Above the picture

_READY = ("python", "bank", "negation", "order")
"""The keys of the examples that are offered here."""


def subject(view: ViewState) -> None:
    """Draw the subject bar with a ring around the letters of the compared sentences."""
    several = len(view.sentences) > 2
    subject_bar(
        view,
        controls.PAGE,
        shown=compared_indices(view) if several else (),
        on_letter=_compare_letter if several else None,
        words=VECTOR_KIND.of(view) == WORD,
        examples=partial(_examples, view),
    )


def _compare_letter(index: int) -> None:
    """Compare the clicked sentence with the one that was clicked before."""
    view = session.current()
    before = compared_indices(view)[1]
    if index not in compared_indices(view):
        session.write(SECOND.put(FIRST.put(view, letter(before)), letter(index)))


def toolbar(view: ViewState) -> None:
    """Draw the choice of the look, and the options."""
    with kit.controls("why"):
        choice(view, LOOK)
        with st.container(horizontal=True, gap="small", width="content"):
            _menus(view)


def _options(view: ViewState) -> tuple[Choice, ...]:
    """The controls that the chosen look has of its own."""
    look = LOOK.of(view)
    if look == SHARES:
        return DEPTH, controls.UNIT
    if look == LEAVE_OUT:
        return controls.HOW_OUT, controls.OUT_OF
    if look == SWITCH_OFF:
        return (*((controls.OVER,) if len(view.sentences) > 2 else ()), controls.OFF_TO)
    first, second = map(letter, compared_indices(view))
    into = {
        controls.INTO_FIRST: f"{second} into {first}",
        controls.INTO_SECOND: f"{first} into {second}",
    }
    return (controls.INTO.among(into),)


def _menus(view: ViewState) -> None:
    with kit.menu():
        choice(view, VECTOR_KIND)
        for control in _options(view):
            choice(view, control)


def _examples(view: ViewState) -> None:
    """Ready pairs, opened on this page with the chosen look."""
    for example in EXAMPLES:
        if example.key in _READY:
            ready = from_example(example, view.model)
            opened = replace(view, sentences=ready.sentences, references=ready.references)
            for control in (FIRST, SECOND):
                opened = control.put(opened, control.default)
            opened = PICKED.put(opened, PICKED.default)
            navigation.link(
                navigation.row(controls.PAGE), opened, label=example.title, icon=example.icon
            )
