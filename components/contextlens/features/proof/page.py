"""The parts of the Proof page: choice, file, checks, tabs and downloads."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.content.glossary import unmarked
from contextlens.content.language import duration, say, table
from contextlens.content.wording import escape, number
from contextlens.core import ModelCard
from contextlens.core.byte_cache import remembered
from contextlens.core.errors import ModelError
from contextlens.corpus.readers import Table
from contextlens.features.proof import compute
from contextlens.features.proof.compute import ProofResult
from contextlens.features.proof.controls import READY, WHAT
from contextlens.features.proof.figures import checks_figure, height_of
from contextlens.features.proof.reading import proof_claims, proof_details
from contextlens.proof.benchmarks import BENCHMARKS, Benchmark, Rows, expected_figure, rows_from
from contextlens.proof.checks import BERT_BASE, TEXTS, rows_of
from contextlens.proof.plain import plain_script
from contextlens.ui.files import chooser
from contextlens.ui.files.uploads import table_of
from contextlens.ui.models import download_requests, runtime, waiting
from contextlens.ui.models.background import maps
from contextlens.ui.page import errors
from contextlens.ui.state import session
from contextlens.ui.state.services import settings, uncached
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets import export, inputs, kit

HEIGHT = height_of(10)
_FILE = "proof"
_CHART = "proof_checks"
_SECRETS = "proof_files"
"""The session key for the names of this visit's files: (benchmark, part) -> secret."""


def toolbar(view: ViewState) -> None:
    """The choice of what is checked."""
    with kit.controls("proof"):
        inputs.select(view, WHAT)


# --- The files of a benchmark


def file_panel(view: ViewState, card: ModelCard) -> None:
    """Draw what a benchmark is, and the fields for its files."""
    benchmark = BENCHMARKS.get(WHAT.of(view))
    if benchmark is None:
        return
    figure, facts = expected_figure(benchmark, card), table("proof.benchmark")[benchmark.key]
    with st.container(border=True, gap="small", key="proof_file"):
        st.caption(say("proof.file.facts", **facts))
        if figure is None:
            st.caption(say("proof.file.unpublished", **facts))
        else:
            st.caption(say("proof.file.published", figure=number(figure, ".4f"), **facts))
        _field(benchmark, "upload")
        if benchmark.needs_train:
            _field(benchmark, "train")
        st.caption(chooser.UPLOADED)


def _field(benchmark: Benchmark, part: Literal["upload", "train"]) -> None:
    key = f"{benchmark.key}_{part}"
    keep = partial(_keep, (benchmark.key, part))
    chooser.upload_field(say(f"proof.file.{part}"), key=f"proof_{key}", on_file=keep)
    sheet = _sheet(benchmark, part)
    if sheet is not None:
        with st.expander(say("proof.file.chosen", name=escape(sheet.name), n=sheet.n_rows)):
            secret = _secrets()[benchmark.key, part]
            chooser.file_head(sheet, secret, key=f"proof_head_{key}", on_file=keep)


def _secrets() -> dict[tuple[str, str], str]:
    return dict(session.kept(_SECRETS) or {})


def _keep(place: tuple[str, str], secret: str, _: Table) -> None:
    session.keep(_SECRETS, {**_secrets(), place: secret})


def _sheet(benchmark: Benchmark, part: str) -> Table | None:
    return table_of(_secrets().get((benchmark.key, part), ""))


def _rows(benchmark: Benchmark) -> Rows | None:
    """The rows of this visit's files; None without a file, or after saying why it does not fit."""
    sheet = _sheet(benchmark, "upload")
    if sheet is None:
        st.caption(say("proof.file.none_yet"))
        return None
    train = _sheet(benchmark, "train") if benchmark.needs_train else None
    with errors.boundary(again=False):
        secrets = tuple(_secrets().get((benchmark.key, part)) for part in ("upload", "train"))
        rows: Rows = remembered(
            "proof rows",
            benchmark.key,
            *secrets,
            compute=lambda: rows_from(benchmark, sheet, train),
        )
        return rows
    return None


# --- The checks


def result_of(view: ViewState, card: ModelCard) -> ProofResult | None:
    """Return the checks; until they are there, show progress or a button, and return None."""
    benchmark = BENCHMARKS.get(WHAT.of(view))
    if benchmark is None:
        task = compute.ready_task(card, uncached(), settings())
    else:
        rows = _rows(benchmark)
        if rows is None:
            return None
        seconds = compute.benchmark_seconds(rows, maps().token_seconds(card))
        task = compute.benchmark_task(benchmark, rows, card, uncached(), seconds=seconds)
    cost = say("proof.waiting.cost", duration=duration(task.size))
    height = HEIGHT if benchmark is None else height_of(1)
    result: ProofResult | None = waiting.result_of(task, cost, place="proof", height=height)
    return result


def picture(result: ProofResult) -> None:
    """The finding, and the checks as a chart: those that were run, if any was."""
    claims = proof_claims(result.checks)
    kit.headline(" ".join(map(str, claims)), key="reading")
    run = [check for check in result.checks if check.difference is not None]
    title = unmarked(" ".join(map(str, claims)))
    with st.container(key=_CHART):
        kit.chart(
            checks_figure(run or result.checks),
            key="proof_chart",
            alt=say("proof.alt", title=title),
        )
    sure = [escape(sentence) for sentence in proof_details(result.checks)]
    kit.claims([], sure=sure, key="reading_details")


def offer_bert_base(view: ViewState, card: ModelCard) -> None:
    """Offer the published numbers of bert-base-uncased, which are that model's own."""
    if WHAT.of(view) != READY or card.title == BERT_BASE.split("/")[-1]:
        return
    try:
        runtime.check_model(BERT_BASE)
        is_near = runtime.can_load_without_download(BERT_BASE)
    except ModelError:  # it is not offered here
        return
    spec = runtime.service().spec(BERT_BASE)
    with st.container(gap="small", key="proof_bert_base"):
        st.markdown(say("proof.base.offer"))
        label = say("proof.base.button")
        if is_near:
            st.button(label, key="proof_base", on_click=_to_bert_base)
        elif settings().allow_downloads:
            label = download_requests.with_size(label, spec)
            download_requests.button(label, "proof_base", _to_bert_base)
        else:
            megabytes = (spec.download_bytes or 0) / 1e6
            st.caption(say("proof.base.away", megabytes=megabytes))


def _to_bert_base() -> None:
    runtime.request(BERT_BASE)
    session.write(replace(session.current(), model=BERT_BASE, layer=None))


# --- Tabs and downloads


def explain(view: ViewState, result: ProofResult, card: ModelCard) -> None:
    """The tabs under the picture."""
    kit.tabs(
        lambda: _numbers(result), lambda: _under_the_hood(view, result, card), say("proof.limits")
    )


def _numbers(result: ProofResult) -> None:
    columns = {
        name: st.column_config.NumberColumn(format="%.1e") for name in ("difference", "allowed")
    }
    kit.table(rows_of(result.checks), key="proof_table", columns=columns)


def _under_the_hood(view: ViewState, result: ProofResult, card: ModelCard) -> None:
    what = WHAT.of(view)
    options = "" if what == READY else f" --benchmark {what} --file FILE"
    model = f" --model {card.id}" if card.source != "bundled" else ""
    command = f"contextlens proof{model}{options}\n"
    kit.under_the_hood(
        formula=[say("proof.formula" if what == READY else "proof.figures_formula")],
        snippet=[(say("proof.snippet"), _snippet(card)), (say("proof.command"), command)],
        passport=result.passport,
    )


def _snippet(card: ModelCard) -> str:
    return plain_script(card, TEXTS, library=card.recipe is not None)


def downloads(result: ProofResult, card: ModelCard, place: DeltaGenerator) -> None:
    """The page's Download menu."""
    passport = result.passport

    def draw_files() -> None:
        kit.download_files(
            _FILE,
            passport,
            rows=lambda: rows_of(result.checks),
            arrays=lambda: compute.arrays(result),
        )
        st.download_button(
            say("proof.json"),
            lambda: compute.as_json(result),
            file_name="proof.json",
            mime="application/json",
            on_click="ignore",
            width="stretch",
            key="proof.json",
        )

    kit.downloads(
        place,
        export.caption(passport),
        page="proof",
        texts="",
        chart=_CHART,
        name=_FILE,
        snippets=[(say("proof.snippet"), _snippet(card))],
        files=draw_files,
    )
