"""The parts of the Why alike? page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.analysis.baseline import Band, Baseline, kind_of
from contextlens.analysis.ruler import Range, Ruler
from contextlens.content.examples import EXAMPLES
from contextlens.content.language import duration, say
from contextlens.content.wording import escape, two
from contextlens.core import ModelCard
from contextlens.core.errors import BusyError, JobError
from contextlens.features.why import controls
from contextlens.features.why.compute import (
    EditsResult,
    InputsResult,
    LeaveOutResult,
    LookResult,
    SharesResult,
    SwapInResult,
    SwitchOffResult,
    shares_at,
)
from contextlens.features.why.controls import (
    DEPTH,
    DETAIL,
    EDITS,
    LAYER,
    LOOK,
    MEAN,
    PANEL,
    SHARES,
    VECTOR_KIND,
    WORD,
)
from contextlens.features.why.english import is_english
from contextlens.features.why.explain import FORMULA, INTEGRATED
from contextlens.features.why.looks import (
    CHART,
    HEIGHT,
    draw_edits,
    draw_integrated,
    draw_left_out,
    draw_shares,
    draw_swapped_in,
    draw_switched_off,
    integrated_chart,
    left_out_chart,
    shares_chart,
    words_drawing,
)
from contextlens.features.why.measures import VectorKind
from contextlens.features.why.reading import reading_of, score_claim, title_of
from contextlens.features.why.score import (
    NoScore,
    Score,
    SentencePairs,
    compared_indices,
    problem_of,
    score_of,
)
from contextlens.features.why.snippet import picture_of, snippet_of
from contextlens.features.why.work import (
    arrays,
    edits_task,
    passport_of,
    random_pairs_task,
    rows,
    task_of,
)
from contextlens.figures.ruler import Stretch, line_ruler, ruler_figure
from contextlens.figures.theme import color_of
from contextlens.jobs import Task
from contextlens.ui.frame import navigation
from contextlens.ui.models import runtime, waiting
from contextlens.ui.models.background import jobs, maps
from contextlens.ui.models.recipes import recipe_of
from contextlens.ui.models.services import uncached
from contextlens.ui.state import session
from contextlens.ui.state.controls import Choice
from contextlens.ui.state.view import Sentence, ViewState, from_example, letter
from contextlens.ui.widgets import export, inputs, kit, sentences
from contextlens.ui.widgets.chips import ChipRow, word_chips
from contextlens.ui.widgets.comparison.compute import chosen_span
from contextlens.ui.widgets.comparison.ruler import pair_on_ruler
from contextlens.ui.widgets.unread import unread

# --- The message if two sentences cannot be compared


def explain_no_score(view: ViewState, no_score: NoScore) -> None:
    """The reason why there is no score, and what to do."""
    st.info(escape(no_score.problem), icon=":material/compare_arrows:")
    if len(view.sentences) == 1:
        _second_field()
    elif VECTOR_KIND.of(view) == WORD:
        if _lacks_word(view):
            _chips(view)
        st.button(
            say("why.missing.whole"),
            icon=":material/notes:",
            key="why_whole",
            on_click=_compare_whole,
        )


def left_unread(score: Score) -> None:
    """Notes on the parts of the sentences that did not fit the model or that it cannot read."""
    most = score.card.max_length
    for side in score.sides:
        if side.n_truncated:
            st.caption(say("why.missing.cut", most=most, n=side.n_truncated, letter=side.letter))
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

_RULER = "why_ruler"
_RULER_OF_WORDS = 140  # pixels, for ranges of several kinds
_PAIRS_PLACE = "why_pairs"


@dataclass(frozen=True)
class ScoreYardsticks:
    """The yardsticks of a score, if they are known and fit.

    Attributes:
        ranges: the ranges of pairs of known kinds, at the score's layer.
        middle: the middle value of a range: "mean" or "median".
        lowest: the lowest end of a range: for words at the score's layer, else at any layer.
        band: random pairs of the same kind at each layer.
        is_english: True if both texts are English, as the texts of all ranges are.
    """

    ranges: tuple[Range, ...] = ()
    middle: str = ""
    lowest: float = 0.0
    band: Band | None = None
    is_english: bool = True


def yardsticks_of(
    score: Score, card: ModelCard, baseline: Baseline | None, ruler: Ruler | None
) -> ScoreYardsticks:
    """The yardsticks of a score: random sentences, or labelled words."""
    if not all(map(is_english, _texts(score))):
        return ScoreYardsticks(is_english=False)
    if score.vector_kind == "word":
        return _of_words(score, baseline, ruler)
    band = _band_of(card, score.vector_kind)
    return ScoreYardsticks() if band is None else _of_band(band, score.layer)


def _similarity(score: Score, yardsticks: ScoreYardsticks) -> None:
    """The score on its ruler, and beside random pairs in words."""
    scale = (min(-0.2, yardsticks.lowest, float(score.cosines.min())), 1.0)
    ranges = yardsticks.ranges
    if len(ranges) > 1:
        figure = ruler_figure(
            ranges, score.cosine, scale=scale, middle=yardsticks.middle, height=_RULER_OF_WORDS
        )
    else:
        usual = [Stretch(say("why.score.random"), r.low, r.high) for r in ranges]
        same = Stretch(say("why.score.same"), 1.0, 1.0)
        figure = line_ruler([*usual, same], score.cosine, scale=scale)
    ends = "; ".join(f"{r.kind}: {two(r.low)} to {two(r.high)}" for r in ranges)
    alt = say("why.score.alt", cosine=score.cosine, ranges=ends)
    st.caption(_name(score))
    kit.chart(figure, key=_RULER, alt=alt.strip())
    st.caption(str(score_claim(score, yardsticks.band, is_english=yardsticks.is_english)))


def _band_of(card: ModelCard, kind: VectorKind) -> Band | None:
    """Random pairs of sentences by the compared vector; None if they are not known yet."""
    pairs = _measured_pairs(card)
    return None if pairs is None else pairs.band(kind)


def await_pairs(card: ModelCard) -> None:
    """Say that random pairs are still being measured, and rerun the page when they are ready."""
    job = jobs().get(random_pairs_task(uncached(), card).key)
    if job is not None and job.state not in ("done", "failed"):
        waiting.follow(job, _PAIRS_PLACE, cancel="")


def _name(score: Score) -> str:
    first = score.first.encoding.tokens[0]
    return say(f"why.score.name_{score.vector_kind}", first=first, layer=score.layer)


def _texts(score: Score) -> list[str]:
    """The texts that must be English for the yardsticks to fit."""
    sentences = [side.sentence for side in score.sides]
    return [
        text
        for sentence in sentences
        for text in (sentence.text, sentence.pair)
        if text and text.strip()
    ]


def _of_band(band: Band, layer: int) -> ScoreYardsticks:
    low, mean, high = (float(values[layer]) for values in (band.low, band.mean, band.high))
    name = f"random {band.of}"
    return ScoreYardsticks((Range(name, low, mean, high, 0),), "mean", float(band.low.min()), band)


def _of_words(score: Score, baseline: Baseline | None, ruler: Ruler | None) -> ScoreYardsticks:
    n_tokens = [int((side.weights != 0).sum()) for side in score.sides]
    kind = kind_of(*n_tokens)
    band = None if baseline is None else baseline.band("mean", centred=False, kind=kind)
    ruled = None
    if ruler is not None:
        words = [side.word for side in score.sides]
        ruled = pair_on_ruler(words, score.cosine, ruler, at=(score.layer, "mean"), band=band)
    if ruled is not None:
        lowest = min((r.low for r in ruled.ranges), default=0.0)
        return ScoreYardsticks(ruled.ranges, "median", lowest, band)
    return ScoreYardsticks() if band is None else _of_band(band, score.layer)


def _measured_pairs(card: ModelCard) -> SentencePairs | None:
    """Random pairs of sentences in a model; None during their measurement, or if it failed."""
    task = random_pairs_task(uncached(), card)
    job = jobs().get(task.key)
    if job is None or job.state != "failed":
        try:
            job = jobs().start(task, waiting.current_visitor(_PAIRS_PLACE))
        except BusyError:  # the page goes without them for now
            return None
    waiting.shortly(job)
    result: SentencePairs | None = job.result() if job.state == "done" else None
    return result


# --- The picture of the chosen look

_LOOK_PLACE = "why_progress"
_EDITS_PLACE = "why_edits"


def result_of(view: ViewState, score: Score) -> LookResult | None:
    """Return the data of the chosen look; until then show progress or a button, and return None."""
    work = _task(view, score)
    if work is None:
        return shares_at(score)
    title = say(f"why.work.{LOOK.of(view)}")
    result: LookResult | None = _await_result(work, _LOOK_PLACE, title, height=HEIGHT)
    return result


def _await_result(task: Task, place: str, title: str, *, height: int) -> Any:
    """The result of a task; until then show progress, or the title with its cost and a button."""
    cost = say("why.work.takes", what=title, duration=duration(task.size))
    return waiting.result_of(task, cost, place=place, height=height)


def _task(view: ViewState, score: Score) -> Task | None:
    """The work behind the chosen look; None if it takes no time."""
    return task_of(view, score, uncached(), token_seconds=maps().token_seconds(score.card))


def picture(
    view: ViewState, score: Score, yardsticks: ScoreYardsticks, result: LookResult | None
) -> None:
    """The picture of a look, its reading, and the score on its ruler."""
    if isinstance(result, SwitchOffResult):
        draw_switched_off(view, result)
    elif isinstance(result, SwapInResult):
        draw_swapped_in(result)
    beside = isinstance(result, SharesResult | InputsResult | LeaveOutResult)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        if isinstance(result, SharesResult):
            draw_shares(view, result)
        elif isinstance(result, InputsResult):
            draw_integrated(view, result)
        elif isinstance(result, LeaveOutResult):
            draw_left_out(view, result)
        else:
            _in_words(result, yardsticks)
    with right, st.container(key="why_claim" if beside else "why_score"):
        if beside:
            _in_words(result, yardsticks)
        _similarity(score, yardsticks)


def is_quick(view: ViewState) -> bool:
    """True if the chosen look takes no time, so that layers can be played."""
    return LOOK.of(view) == SHARES and DEPTH.of(view) == LAYER


def _in_words(result: LookResult | None, yardsticks: ScoreYardsticks) -> None:
    """The reading, and notes on what was left out in small type."""
    if result is not None and _has_picture(result):  # otherwise a message says why
        is_shares = isinstance(result, SharesResult)
        reading = reading_of(result, yardsticks.band) if is_shares else reading_of(result)
        kit.reading(reading.sentences, sure=reading.sure)
    for note in getattr(result, "notes", ()):
        st.caption(escape(note))


def _has_picture(result: LookResult) -> bool:
    """True if there is a picture, and not only a sentence on why there is none."""
    if isinstance(result, SwapInResult):
        return result.problem is None
    return not isinstance(result, SwitchOffResult) or bool(result.layers)


# --- Below the picture

_FILE = "why-alike"
_EXACT = ("share", "change", "cosine", "share of the way", "start", "end", "remainder")
_MOST_ROWS = 5_000


def look_closer(view: ViewState, score: Score, result: LookResult | None) -> None:
    """The chart behind the coloured words, if the look has one, and edits of the first sentence."""
    looks: dict[str, Callable[[], None]] = {EDITS: lambda: _edits(score)}
    titles = {EDITS: PANEL.options[EDITS]}
    kind, draw = _detail(view, result)
    if kind:
        titles = {DETAIL: say(f"why.detail.{kind}"), **titles}
        looks[DETAIL] = draw
    kit.look_closer(view, PANEL.among(titles), looks)


def _detail(view: ViewState, result: LookResult | None) -> tuple[str, Callable[[], None]]:
    """The name of a look's chart, and the function that draws it; "" for none."""
    if isinstance(result, SharesResult):
        return "pairs", lambda: shares_chart(view, result)
    if isinstance(result, InputsResult):
        return "words", lambda: integrated_chart(view, result)
    if isinstance(result, LeaveOutResult):
        kind = "words" if result.pairs is None else "pairs"
        return kind, lambda: left_out_chart(result)
    return "", lambda: None


def _edits(score: Score) -> None:
    """Draw the edits of the first sentence, once they are computed."""
    work = edits_task(score, uncached(), token_seconds=maps().token_seconds(score.card))
    title = say("why.work.edits")
    result: EditsResult | None = _await_result(work, _EDITS_PLACE, title, height=160)
    if result is not None:
        draw_edits(result, _band_of(score.card, result.vector_kind))


def explain(view: ViewState, result: LookResult) -> None:
    """The tabs under the picture."""
    limits = say(f"why.limits.{LOOK.of(view)}")
    kit.tabs(lambda: _numbers(result), lambda: _under_the_hood(view, result), limits)


def downloads(view: ViewState, result: LookResult, place: DeltaGenerator) -> None:
    """The page's Download menu; it keeps only the view, and finds the data again on a click."""
    passport, svg, title = passport_of(result), "", ""
    if isinstance(result, SharesResult | InputsResult | LeaveOutResult):
        svg, title = words_drawing(view, result), str(title_of(result))
    snippets = [(say("page.same_numbers"), snippet_of(result)), ("", picture_of(result))]
    with kit.downloads(
        place,
        export.caption(passport),
        page="why",
        chart=CHART,
        svg=svg,
        svg_title=title,
        name=_FILE,
        snippets=snippets,
    ):
        kit.download_files(
            _FILE,
            passport,
            rows=lambda: rows(_restored(view)),
            arrays=lambda: arrays(_restored(view)),
        )


def _restored(view: ViewState) -> LookResult:
    """The data of a view as it was shown.

    Raises:
        JobError: the data were evicted.
    """
    service = runtime.service()
    score = score_of(view, service, service.load(view.model))
    if isinstance(score, NoScore):
        raise JobError(say("why.work.gone"))
    work = _task(view, score)
    if work is None:
        return shares_at(score)
    job = jobs().get(work.key)
    if job is None or job.state != "done":
        raise JobError(say("why.work.gone"))
    result: LookResult = job.result()
    return result


def _numbers(result: LookResult) -> None:
    table = rows(result)
    kit.table(table[:_MOST_ROWS], key="why_table", exact=_EXACT, height=360)
    if len(table) > _MOST_ROWS:
        st.caption(say("why.work.rows", most=_MOST_ROWS, n=len(table)))


def _under_the_hood(view: ViewState, result: LookResult) -> None:
    formula = [FORMULA[LOOK.of(view)]]
    if isinstance(result, InputsResult):
        formula.append(INTEGRATED)
    kit.under_the_hood(
        formula=formula,
        snippet=snippet_of(result),
        passport=passport_of(result),
        shapes=kit.shapes(_shapes(result), key="why_shapes"),
    )


def _shapes(result: LookResult) -> list[dict[str, str]]:
    return [{"array": name, "shape": str(array.shape)} for name, array in arrays(result).items()]


# --- Above the picture

_READY = ("python", "bank", "negation", "order")
"""The keys of the examples that are offered here."""


def toolbar(view: ViewState) -> None:
    """The choice of the look, and menus for the sentences, examples and options."""
    with kit.controls("why"):
        inputs.choice(view, controls.LOOK)
        with st.container(horizontal=True, gap="small", width="content"):
            _menus(view)


def _options(view: ViewState) -> tuple[Choice, ...]:
    """The controls that the chosen look has of its own."""
    look = controls.LOOK.of(view)
    if look == controls.SHARES:
        return controls.DEPTH, controls.UNIT
    if look == controls.LEAVE_OUT:
        return controls.HOW_OUT, controls.OUT_OF
    if look == controls.SWITCH_OFF:
        return (*((controls.OVER,) if len(view.sentences) > 2 else ()), controls.OFF_TO)
    first, second = map(letter, compared_indices(view))
    into = {
        controls.INTO_FIRST: f"{second} into {first}",
        controls.INTO_SECOND: f"{first} into {second}",
    }
    return (controls.INTO.among(into),)


def _menus(view: ViewState) -> None:
    kind = VECTOR_KIND.of(view)
    label = say("why.sentences") if kind == MEAN else VECTOR_KIND.options[kind]
    if len(view.sentences) > 2:
        label += ": {} and {}".format(*map(letter, compared_indices(view)))
    with st.popover(label, icon=":material/edit:", type="tertiary", key="why_compared"):
        sentences.sentence_editor(view, "sentences", where="page", least=1)
        if len(view.sentences) > 2:
            letters = [letter(i) for i in range(len(view.sentences))]
            inputs.choice(view, controls.FIRST.among(letters))
            inputs.choice(view, controls.SECOND.among(letters))
        inputs.choice(view, VECTOR_KIND)
        if kind == WORD and not _lacks_word(view):  # otherwise they are under the message
            _chips(view)
    with (
        st.popover("Examples", icon=":material/lightbulb:", type="tertiary"),
        st.container(key="why_examples", gap="small"),
    ):
        _examples(view)
    with st.popover("Options", icon=":material/tune:", type="tertiary"):
        for control in _options(view):
            inputs.choice(view, control)


def _examples(view: ViewState) -> None:
    """Ready pairs, opened on this page with the chosen look."""
    for example in EXAMPLES:
        if example.key in _READY:
            ready = from_example(example, view.model)
            opened = replace(view, sentences=ready.sentences, references=ready.references)
            for control in (controls.FIRST, controls.SECOND):
                opened = control.put(opened, control.default)
            opened = controls.PICKED.put(opened, controls.PICKED.default)
            navigation.link(
                navigation.row(controls.PAGE), opened, label=example.title, icon=example.icon
            )


def _lacks_word(view: ViewState) -> bool:
    """True if words are to be compared, and a sentence has none chosen."""
    is_of_words = VECTOR_KIND.of(view) == WORD and len(view.sentences) > 1
    return is_of_words and any(problem_of(view, i, "word") for i in compared_indices(view))


def _chips(view: ViewState) -> None:
    """The two sentences; a click on a word makes it the compared one."""
    indices = tuple(dict.fromkeys(compared_indices(view)))
    texts = [view.sentences[i] for i in indices]
    word_chips(
        [
            ChipRow(letter(i), sentence.text, color_of(i), chosen_span(sentence))
            for i, sentence in zip(indices, texts, strict=True)
        ],
        key="chips",
        on_pick=lambda row, span: sentences.pick_word(indices[row], span),
        on_edit=lambda row, text: sentences.retype_row(indices[row], text),
    )
