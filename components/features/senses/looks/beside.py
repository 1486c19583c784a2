"""Another word, corpus, layer or model beside the one shown, and the word in the word table."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from components.content.language import say
from components.content.wording import escape
from components.core.errors import ContextlensError
from components.features.senses import controls
from components.features.senses.compute.corpora import suggested
from components.features.senses.compute.picture import picture_of
from components.features.senses.compute.senses import (
    Senses,
    beside,
    linked_places,
    other_view,
    table_of,
)
from components.features.senses.compute.shown import Shown
from components.features.senses.compute.stored import open_stored
from components.features.senses.compute.word import Missing
from components.features.senses.figures.curve import separation_curve
from components.features.senses.page.opened import get_model, is_stored, model_card
from components.features.senses.page.picture import word_map
from components.features.senses.page.toolbar import corpus_options, word_field
from components.features.senses.reading import (
    side_names,
    sides_claims,
    sides_sure,
    table_claims,
)
from components.ui.models import runtime, second
from components.ui.state.view import ViewState
from components.ui.widgets import inputs, kit

__all__ = ["beside_look"]

_OTHER_CHART = "senses_chart_other"
_OWN_CHART = "senses_chart_beside"


def beside_look(view: ViewState, shown: Shown) -> None:
    """What stands beside the word, chosen here."""
    with kit.controls("beside"):
        is_ready = _choices(view, shown)
    kind = controls.BESIDE.of(view)
    if not kind:
        st.caption(say("senses.sides.empty"))
    elif is_ready and kind == "table":
        _table(view, shown)
    elif is_ready:
        _sides(view, shown)


def _choices(view: ViewState, shown: Shown) -> bool:
    """What stands beside it and which; whether it can be had."""
    offered = dict(controls.BESIDE.options)
    if is_stored(view):  # its vectors are those of its own model
        offered.pop("model")
    if len(shown.senses.layers) < 2:
        offered.pop("layer")
    kind = inputs.select(view, controls.BESIDE.among(offered))
    if kind == "word":
        words = tuple(w for w in suggested(shown.corpus) if w.word != shown.senses.found.word)
        word_field(view, controls.OTHER_WORD, "", words)
        return bool(controls.OTHER_WORD.of(view).strip())
    if kind == "corpus":
        inputs.select(
            view, controls.other_corpus_among(corpus_options(view, controls.OTHER_CORPUS))
        )
    if kind == "layer":
        layers = shown.senses.layers
        inputs.number(view, controls.OTHER_LAYER.between(layers[0], layers[-1]))
    if kind == "model":
        return _model(view)
    if kind == "table" and model_card(shown.corpus) is None:
        return get_model(shown.corpus)
    return True


def _model(view: ViewState) -> bool:
    offered = (*runtime.service().models(), *runtime.own_models())
    control = controls.other_model_among(offered, view.model)
    if not control.options:
        st.info(say("senses.sides.no_second_model"))
        return False
    chosen = inputs.select(view, control)
    return second.model_card(next(spec for spec in offered if spec.id == chosen)) is not None


def _named(view: ViewState) -> ViewState:
    """The view with the model named that is shown as chosen while none is."""
    if controls.BESIDE.of(view) != "model" or controls.OTHER_MODEL.asked(view):
        return view
    offered = (*runtime.service().models(), *runtime.own_models())
    control = controls.other_model_among(offered, view.model)
    return controls.OTHER_MODEL.put(view, control.of(view))


def _sides(view: ViewState, shown: Shown) -> None:
    own_view = _named(view)
    try:
        other = beside(own_view, shown.senses, runtime.service(), open_stored)
    except ContextlensError as exc:
        st.info(escape(str(exc)), icon=":material/info:")
        return
    if isinstance(other, Missing):
        st.info(escape(other.problem), icon=":material/search_off:")
        return
    far = other_view(own_view)
    if other is None or far is None:
        return
    _maps(shown, Shown(far, shown.corpus, other, picture_of(other, controls.COLOR.of(view))))
    _curves(shown.senses, other)


def _maps(shown: Shown, other: Shown) -> None:
    """Both maps; what is chosen or selected in one is so in the other, where it is the same."""
    one, two = shown.senses, other.senses
    names = side_names(one, two)
    chosen = () if one.chosen is None else linked_places(one, two, (one.chosen,))
    linked = replace(two, chosen=chosen[0] if chosen else None)
    selected = None if shown.selected is None else linked_places(one, two, shown.selected)
    back = dict(zip(linked_places(one, two, range(one.found.n)), shown.every_row, strict=False))
    rows = tuple(back.get(place, -1) for place in range(two.found.n))
    left, right = st.columns(2, gap="medium")
    with left:
        st.caption(f"**{escape(names[0])}**")
        word_map(shown, key=_OWN_CHART, rows=shown.every_row, selected=shown.selected)
    with right:
        st.caption(f"**{escape(names[1])}**")
        word_map(
            replace(other, senses=linked),
            key=_OTHER_CHART,
            rows=rows,
            selected=selected or None,
            listed=shown.rows,
        )


def _curves(one: Senses, other: Senses) -> None:
    """How well senses separate on both sides, where they can be tested."""
    names = side_names(one, other)
    kit.reading(sides_claims(one, other), sure=sides_sure(one, other), key="reading_sides")
    if not (one.course.curve and other.course.curve) or one.course is other.course:
        return
    title = say("senses.sides.curves", a=names[0], b=names[1])
    figure = separation_curve(
        [(names[0], one.course.curve), (names[1], other.course.curve)],
        one.found.trial.chance,
        layer=one.layer,
        title=title,
        height=320,
    )
    kit.chart(figure, key="senses_curves", alt=say("senses.sides.curves_alt", title=title))


def _table(view: ViewState, shown: Shown) -> None:
    own = table_of(view, shown.senses, runtime.service(), open_stored)
    if own is None:
        return
    kit.reading([escape(own.problem)] if own.problem else table_claims(own), key="reading_table")
    if own.problem or len(own.senses) < 2:
        return
    rows = [
        {"sense": name, "the word's row": float(own.cosines[i])}
        | {f"to {other}": float(own.between[i, j]) for j, other in enumerate(own.senses[:6])}
        for i, name in enumerate(own.senses)
    ]
    kit.table(rows, key="senses_in_table", after=1)
    st.caption(say("senses.table.caption"))
