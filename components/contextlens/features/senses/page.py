"""The frame of the Senses page: messages, closer looks, tabs, downloads, and the job behind it."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.analysis.baseline import Band
from contextlens.content.language import say
from contextlens.content.wording import escape, shortened
from contextlens.core import ModelCard
from contextlens.core.schema import Passport
from contextlens.corpus.searchable import SearchableCorpus, WordCount
from contextlens.features.senses import looks
from contextlens.features.senses.compute import (
    WordResult,
    arrays,
    concordance_rows,
    passport_of,
    result_of,
    senses_again,
    snippet_rows,
)
from contextlens.features.senses.controls import GROUPS, OWN, PAGE, PANEL, WORD
from contextlens.features.senses.corpora import first_word
from contextlens.features.senses.explain import FORMULA, GROUPING, OWN_SENTENCE, TABLE
from contextlens.features.senses.looks import (
    CHART,
    beside_look,
    model_card,
    sentence_look,
    taken_look,
)
from contextlens.features.senses.snippet import MAX_ROWS, PICTURE, separation_snippet
from contextlens.features.senses.words import (
    MissingWord,
    WordUses,
    column_of,
    course_of,
    curve_rows,
    grouping_of,
    groups_rows,
    units_at,
    word_in,
)
from contextlens.jobs import Job, JobKind, Report, Task
from contextlens.ui.models import runtime, waiting
from contextlens.ui.models.background import jobs
from contextlens.ui.state import session
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets import export, kit

# --- The message if there is no such word

_MOST = 8


def missing(word: MissingWord) -> None:
    """The reason why a word has no occurrences, with similar words."""
    st.info(escape(word.problem), icon=":material/search_off:")
    words = {count.word: count for count in (*word.similar, *word.inside)}
    if words:
        with st.container(horizontal=True, gap="small", key="senses_instead"):
            for count in list(words.values())[:_MOST]:
                _button(count)


def no_corpus(problem: str) -> None:
    """The reason why there is no corpus; another can be chosen above."""
    st.info(f"{escape(problem)}", icon=":material/folder_off:")


def _button(count: WordCount) -> None:
    label = f"{escape(shortened(count.word, 40))} · {count.n:,}"
    st.button(label, key=f"senses_instead_{count.word}", on_click=partial(_look_at, count.word))


def _look_at(word: str) -> None:
    session.write(WORD.put(looks.anew(session.current()), word))


# --- Below the picture

_FILE = "senses"


def look_closer(view: ViewState, result: WordResult, band: Band | None) -> None:
    """Draw the chosen closer look."""
    looks = {
        "own": lambda: sentence_look(view, result, band),
        "beside": lambda: beside_look(view, result),
        "taken": lambda: taken_look(result),
    }
    offered = dict(PANEL.options)
    if not result.senses.course.curve:
        offered.pop("taken")
    kit.look_closer(view, PANEL.among(offered), {name: looks[name] for name in offered})


def explain(result: WordResult, card: ModelCard | None) -> None:
    """The tabs under the picture.

    Args:
        result: the word.
        card: the card of the corpus's model; None if it is not in memory.
    """
    kit.tabs(lambda: _numbers(result), lambda: _under_the_hood(result, card), say("senses.limits"))


def downloads(result: WordResult, card: ModelCard | None, place: DeltaGenerator) -> None:
    """The page's Download menu."""
    passport, view = _passport(result), result.view
    snippet = _snippet(result, card)
    snippets = [(say("page.same_numbers"), snippet), ("", PICTURE)] if snippet else []
    with kit.downloads(
        place,
        export.caption(passport),
        page="senses",
        texts=result.corpus.title,
        chart=CHART,
        name=_FILE,
        snippets=snippets,
    ):
        kit.download_files(
            _FILE,
            passport,
            rows=lambda: _rows(view),
            arrays=lambda: arrays(*senses_again(view)),
        )


def _rows(view: ViewState) -> list[dict[str, str | int | float]]:
    senses, _ = senses_again(view)
    return concordance_rows(senses.uses, senses.grouping.groups, senses.cosines)


def _passport(result: WordResult) -> Passport:
    return passport_of(result.senses, result.corpus, runtime.service())


def _numbers(result: WordResult) -> None:
    senses = result.senses
    if senses.course.curve:
        rows = curve_rows(senses.uses, senses.course.curve)
        exact = ["accuracy", "95% from", "95% to", "always guessing", "silhouette"]
        kit.table(rows, key="senses_layers", exact=exact)
    if senses.grouping.descriptions:
        kit.table(groups_rows(senses.uses, senses.grouping), key="senses_groups_table")
    if not senses.course.curve and not senses.grouping.descriptions:
        st.caption(say("senses.no_numbers"))


def _under_the_hood(result: WordResult, card: ModelCard | None) -> None:
    kit.under_the_hood(
        formula=[FORMULA, GROUPING, OWN_SENTENCE, TABLE],
        snippet=_snippet(result, card) or [],
        passport=_passport(result),
        shapes=kit.shapes(_shapes(result), key="senses_shapes"),
    )


def _snippet(result: WordResult, card: ModelCard | None) -> str:
    senses = result.senses
    if card is None or not senses.course.curve:
        return ""
    return separation_snippet(card, snippet_rows(senses.uses, most=MAX_ROWS + 1))


def _shapes(result: WordResult) -> list[dict[str, str]]:
    senses, corpus = result.senses, result.corpus
    return [
        {"array": "vectors (occurrences, dims)", "shape": f"({senses.uses.n}, {corpus.n_dims})"},
        {"array": "places (layers, occurrences, 2)",
         "shape": f"({len(senses.layers)}, {senses.uses.n}, 2)"},
    ]  # fmt: skip


# --- The data of a view

WORDS = JobKind(
    "words at every layer",
    n_at_once=2,
    n_at_once_each=1,
    forgotten_seconds=30.0,
    first_words="Reading the word",
)
_PLACE = "senses_progress"
_AT_ONCE = 4_000
"""Up to this product of occurrences and layers, no job is needed: some tenths of a second."""
_COURSE = 0.5
"""The progress when all layers are read; the groups at one layer are the rest of the work."""


def await_result(
    view: ViewState, corpus: SearchableCorpus, *, height: int
) -> WordResult | MissingWord | None:
    """Return the data of the page; while it is computed, show progress and return None.

    The visitor's sentence is included once the model of the corpus is in memory.

    Args:
        view: the current view.
        corpus: the corpus of the word.
        height: of the picture, in pixels; its space is reserved during the computation.

    Raises:
        ContextlensError: the corpus or the model cannot be used.
    """
    if OWN.of(view).strip() and model_card(corpus) is None:
        view = OWN.put(view, OWN.default)
    place = st.empty()  # in every run, else the browser sees the next element as new
    job, result = _job(view, corpus), None
    with kit.room(PAGE, height=height):
        is_ready = job is None or waiting.shortly(job)
        if is_ready:
            error = None if job is None or job.was_stopped else job.exception()
            if error is not None:
                raise error
            result = result_of(view, corpus, runtime.service(), looks.drawn())
    if job is not None and not is_ready:
        with place.container():
            waiting.follow(job, _PLACE, cancel="")
            waiting.room(say("senses.place"), height=height)
    return result


def _job(view: ViewState, corpus: SearchableCorpus) -> Job | None:
    """The job that reads a word at every layer; None if the word is missing or read quickly."""
    typed = WORD.of(view).strip() or first_word(view, corpus)
    uses = word_in(corpus, typed, column_of(view, corpus))
    if not isinstance(uses, WordUses) or uses.n * len(corpus.layers) <= _AT_ONCE:
        return None
    layer, how = view.layer_among(corpus.layers), GROUPS.of(view)
    key: Hashable = ("senses", uses.key, layer, how)

    def work(report: Report) -> bool:
        report("Reading the word at every layer", 0.0)
        course_of(uses, corpus)
        report(f"Looking for groups at layer {layer}", _COURSE)
        grouping_of(uses, units_at(uses, corpus, layer), layer, how)
        return True

    known = jobs().get(key)
    if known is not None and known.state == "done":
        return known
    return jobs().start(Task(key, WORDS, work), waiting.current_visitor(_PLACE))
