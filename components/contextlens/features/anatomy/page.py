"""The parts of the Anatomy page: toolbar, map, the chosen part, reading, tabs and downloads."""

from __future__ import annotations

from typing import Literal

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.content.glossary import unmarked
from contextlens.content.language import say
from contextlens.content.wording import escape
from contextlens.core import EncoderService, ModelCard
from contextlens.core.errors import RequestError
from contextlens.core.presets import preset_config
from contextlens.features.anatomy import compute
from contextlens.features.anatomy.compute import (
    AnatomyView,
    Measured,
    compared_architectures,
    counts_by_part,
    measure,
    subjects,
    summary,
)
from contextlens.features.anatomy.controls import (
    ARRAY,
    DRAWING,
    DRAWINGS,
    MODELS,
    PART,
    SEARCH,
    SECTION,
    SUBJECT,
    TOKENS,
    WEIGHTS,
)
from contextlens.features.anatomy.explain import FORMULA, QUOTED_MILLIONS
from contextlens.features.anatomy.figures import (
    HEIGHT,
    ROOT,
    model_bars,
    part_map,
    singular_values,
    tiny_parts,
    weight_histogram,
)
from contextlens.features.anatomy.measures import (
    Node,
    PartKind,
    WeightStatistics,
    comparison_row,
    n_values,
    parameter_rows,
)
from contextlens.features.anatomy.reading import (
    absent_claims,
    anatomy_reading,
    anatomy_title,
    held_claim,
    models_claim,
    models_title,
    padding_claims,
    part_claims,
    search_claim,
    share_text,
    weights_reading,
)
from contextlens.features.anatomy.snippet import (
    PICTURE,
    anatomy_snippet,
    card_lines,
    config_lines,
    weights_snippet,
)
from contextlens.ui.models import runtime
from contextlens.ui.page import navigation
from contextlens.ui.state import session
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets import export, inputs, kit

_FILE = "anatomy"
_CHART = "anatomy_map"
_PAGES = {
    **dict.fromkeys(
        ("embeddings", "position", "segment", "one-segment", "projection"), "embedding_layer"
    ),
    **dict.fromkeys(
        ("attention", "query", "key", "value", "qkv", "output", "relative"), "attention"
    ),
    **dict.fromkeys(
        ("layer", "shared", "feed-forward", "widening", "narrowing", "convolution"), "layers"
    ),
    "word": "tokens",
    "layernorm": "layers",
}
"""For each kind of part, the page that shows it at work."""


def toolbar(view: ViewState, service: EncoderService, card: ModelCard) -> None:
    """The choice of model and drawing, and the search field."""
    with kit.controls():
        inputs.choice(view, DRAWING)
        inputs.text(view, SEARCH)
        with kit.menu(say("anatomy.another")):
            inputs.select(view, SUBJECT.among(subjects(view, service, card, runtime.own_models())))


def picture(view: ViewState, anatomy: AnatomyView) -> None:
    """The headline; the map, and beside it the chosen part."""
    kit.headline(anatomy_title(anatomy.tree, anatomy.chosen), key="reading")
    left, right = st.columns([3, 1], gap="medium")
    with left, st.container(key=_CHART):
        _map(view, anatomy)
    with right, st.container(border=True, gap="xsmall", height=HEIGHT, key="anatomy_part_card"):
        _part(view, anatomy)


def words(anatomy: AnatomyView) -> None:
    """The reading, with the search result before it."""
    tree, architecture = anatomy.tree, anatomy.architecture
    if anatomy.matches is not None:
        kit.claims([search_claim(anatomy.query, tree, anatomy.matches)], key="reading_search")
    quoted = QUOTED_MILLIONS.get(architecture.id)
    claims, sure = anatomy_reading(tree, anatomy.totals, architecture, quoted, anatomy.subject_card)
    kit.claims([], sure=[*claims, *sure], key="reading_count")
    for claim in absent_claims(tree, architecture, anatomy.subject_card):
        st.caption(str(claim))


def explain(anatomy: AnatomyView) -> None:
    """The tabs under the picture."""
    kit.tabs(lambda: _numbers(anatomy), lambda: _under_the_hood(anatomy), say("anatomy.limits"))


def downloads(anatomy: AnatomyView, place: DeltaGenerator) -> None:
    """The page's Download menu."""
    snippets = [(say("page.same_numbers"), _snippet(anatomy)), ("", PICTURE)]
    kit.downloads(
        place,
        _caption(anatomy),
        page="anatomy",
        texts="",
        chart=_CHART,
        name=_FILE,
        snippets=snippets,
        files=lambda: kit.download_files(
            _FILE,
            anatomy.passport,
            rows=lambda: parameter_rows(anatomy.tree),
            arrays=lambda: compute.arrays(anatomy),
        ),
    )


def _map(view: ViewState, anatomy: AnatomyView) -> None:
    kind, chosen = DRAWINGS[DRAWING.of(view)], anatomy.chosen
    title = unmarked(str(anatomy_title(anatomy.tree, chosen)))
    key = f"{_CHART}_{kind}"
    kit.chart(
        part_map(anatomy.tree, kind=kind, chosen=chosen, matches=anatomy.matches),
        key=key,
        on_select=lambda: _pick(key),
        alt=say("anatomy.alt", title=title),
    )
    tiny = tiny_parts(anatomy.tree, chosen)
    if tiny:
        named = [
            say("anatomy.tiny_part", name=part.name, share=share_text(part.share_of(anatomy.tree)))
            for part in tiny
        ]
        st.caption(say("anatomy.tiny", parts=", ".join(named)))


def _pick(key: str) -> None:
    """Choose the part that was clicked in the map."""
    points = (session.value(key) or {}).get("selection", {}).get("points", [])
    if points:
        path = str(points[0].get("id", ROOT))
        session.write(PART.put(session.current(), PART.default if path == ROOT else path))


def _part(view: ViewState, anatomy: AnatomyView) -> None:
    """The chosen part: its purpose, its numbers, and a link to the page that shows it at work."""
    titles = {node.path: node.title for node in anatomy.tree.walk()}
    inputs.select(view, PART.among({**titles, PART.default: say("anatomy.whole")}))
    part, kind = anatomy.chosen, _kind(anatomy.chosen)
    st.markdown(say(f"anatomy.part.{kind}"))
    st.markdown(" ".join(map(str, part_claims(part, anatomy.tree))))
    st.caption(str(held_claim(part, anatomy.subject_card)))
    if anatomy.padding is not None:
        st.caption(" ".join(map(str, padding_claims(anatomy.padding))))
    with st.container(key="anatomy_link", gap="xsmall"):
        for page in navigation.PAGES:
            if page.name == _PAGES.get(kind):
                navigation.link(page, view, label=say("anatomy.see", page=page.title))
    _below(part)


def _kind(part: Node) -> PartKind | Literal["one-segment"]:
    """The kind of explanation for a part; a segment table with a single row has its own."""
    single = part.kind == "segment" and part.parameters[0].shape[0] == 1
    return "one-segment" if single else part.kind


def _below(part: Node) -> None:
    """The parts or arrays directly below a part."""
    rows = compute.rows_below(part)
    columns = {"parameters": st.column_config.NumberColumn(format="localized")}
    height = 35 * min(len(rows) + 1, 5 if part.children else 3) + 3
    kit.table(rows, key="anatomy_below", height=height, columns=columns)


def _numbers(anatomy: AnatomyView) -> None:
    table = compute.parameters_table(anatomy)
    if anatomy.matches is not None:
        st.caption(say("anatomy.found", n=len(table), n_arrays=anatomy.totals.n_named))
    columns = {
        "parameters": st.column_config.NumberColumn(format="localized"),
        "MB": st.column_config.NumberColumn(format="%.3f"),
    }
    kit.table(table, key="anatomy_table", height=360, columns=columns)


def _under_the_hood(anatomy: AnatomyView) -> None:
    kit.under_the_hood(
        formula=[FORMULA],
        snippet=_snippet(anatomy),
        passport=anatomy.passport,
        shapes=lambda: _shapes(anatomy),
    )


def _snippet(anatomy: AnatomyView) -> str:
    config = preset_config(anatomy.architecture.id)
    load = card_lines(anatomy.subject_card or anatomy.card)
    if anatomy.subject_card is None and config is not None:
        load = config_lines(config)
    fits = anatomy.n_tokens <= anatomy.architecture.max_length
    return anatomy_snippet(
        load,
        pooler=anatomy.tree.find("pooler") is not None,
        n_tokens=anatomy.n_tokens if fits else None,
    )


def _shapes(anatomy: AnatomyView) -> None:
    model = anatomy.architecture
    sizes = {
        "n_layers": model.n_layers,
        "n_heads": model.n_heads,
        "n_head_dims": " or ".join(map(str, sorted({*model.n_head_dims}))),
        "n_dims": model.n_dims,
        "n_inner": model.n_inner,
        "n_vocabulary": model.vocabulary_size,
        "max_length": model.max_length,
    }
    st.markdown(say("anatomy.shapes", **sizes))


def _caption(anatomy: AnatomyView) -> str:
    passport = anatomy.passport
    if anatomy.subject_card is not None:
        return export.caption(passport)
    versions = ", ".join(f"{name} {version}" for name, version in passport.versions.items())
    return say("anatomy.caption", model=passport.model, versions=versions)


# --- Closer looks

_REFERENCES = ("bert-base-uncased", "bert-large-uncased")
"""Titles of presets to compare the model with; the first that is not the model itself is used."""


def look_closer(view: ViewState, anatomy: AnatomyView, service: EncoderService) -> None:
    """The two closer looks, one at a time."""
    looks = {
        MODELS: lambda: _models(view, anatomy, service),
        WEIGHTS: lambda: _weights(view, anatomy, service),
    }
    kit.look_closer(view, SECTION, looks)


def _models(view: ViewState, anatomy: AnatomyView, service: EncoderService) -> None:
    """The chosen model beside the loaded model and every preset."""
    architectures, n_tokens = compared_architectures(anatomy, service), anatomy.n_tokens
    with st.container(width=260):
        inputs.number(view, TOKENS)
    rows = [comparison_row(architecture, n_tokens) for architecture in architectures]
    kit.claims([models_claim(rows, n_tokens, references=_REFERENCES)], key="reading_models")
    title = str(models_title(rows))
    names = [architecture.title for architecture in architectures]
    kit.chart(
        model_bars(names, list(map(counts_by_part, architectures)), title=title),
        key="anatomy_models",
        alt=say("anatomy.models.alt", title=title),
    )
    _models_table(pd.DataFrame(rows))
    st.caption(say("anatomy.models.note", n_tokens=n_tokens))


def _models_table(table: pd.DataFrame) -> None:
    formats = {
        **dict.fromkeys(("vocabulary", "parameters"), "localized"),
        **{name: "%.1f" for name in table.columns if name.startswith("MB")},
        "billion multiply-adds": "%.3f",
    }
    columns = {name: st.column_config.NumberColumn(format=form) for name, form in formats.items()}
    kit.table(table, key="anatomy_models_table", columns=columns)


def _weights(view: ViewState, anatomy: AnatomyView, service: EncoderService) -> None:
    """The distribution of one array's numbers, and the number of directions they use."""
    if anatomy.subject_card is None:
        st.info(say("anatomy.weights.none"), icon=":material/visibility_off:")
        return
    largest_first = sorted(anatomy.chosen.parameters, key=n_values, reverse=True)
    arrays = {p.name: p for p in largest_first}
    parameter = arrays[inputs.select(view, ARRAY.among(arrays.keys()))]
    try:
        measured = measure(anatomy, parameter, service)
    except RequestError as exc:
        text = say("anatomy.weights.only_size", reason=escape(str(exc)))
        st.info(text, icon=":material/straighten:")
        return
    _measured(anatomy, measured)


def _measured(anatomy: AnatomyView, measured: Measured) -> None:
    stats, parameter, n_rows = measured.stats, measured.parameter, measured.n_rows
    kit.claims(weights_reading(parameter.name, stats, n_rows), key="reading_weights")
    if n_rows is not None:
        numbers = {"step": measured.step, "n_rows": n_rows, "n_values": n_values(parameter)}
        st.caption(say("anatomy.weights.sampled", **numbers))
    _statistics(stats)
    kit.table([summary(measured)], key="anatomy_weights_table")
    with st.expander(say("anatomy.weights.code")):
        code = weights_snippet(
            anatomy.subject_card or anatomy.card,
            parameter.name,
            is_matrix=bool(stats.singular.size),
            step=measured.step,
        )
        st.code(code, language="python", wrap_lines=True)


def _statistics(stats: WeightStatistics) -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        kit.chart(
            weight_histogram(stats, title=say("anatomy.weights.histogram")),
            key="anatomy_histogram",
            alt=say("anatomy.weights.histogram_alt"),
        )
    with right:
        if stats.singular.size:
            kit.chart(
                singular_values(stats, title=say("anatomy.weights.singular")),
                key="anatomy_singular",
                alt=say("anatomy.weights.singular_alt"),
            )
