"""The pages' pictures from Python: as on the page, in real colours, without Streamlit."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plotly import graph_objects as go

import contextlens
from contextlens import Chart, show_attention, show_layers, show_map, show_meaning
from contextlens.core import EncoderService
from contextlens.core.errors import ContextlensError, RequestError
from contextlens.features.map.controls import PAGE as MAP
from contextlens.figures.theme import standalone
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from tests.support.fresh import fresh_show
from tests.support.measured import measured_data
from tests.support.pages import alone, bundled_app, chart, plainly_said, reading, settled

ROOT = Path(__file__).parents[1]
PET, CODE = "I love my pet python", "I love coding in python"
TEXTS = [PET, CODE, "The snake sleeps", "My python sleeps, unbelievably"]


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory), fresh_show():
        yield


def _meaning() -> Chart:
    return show_meaning([PET, CODE], word="python", references=["snake", "programming"])


def _map() -> Chart:
    letters = {"sentence": list("ABCD")}  # as the page labels own sentences
    return show_map(TEXTS, labels=letters, unit="words", method="pca")


def _view(page: str, *texts: str, layer: int | None = None, **controls: Any) -> ViewState:
    sentences = tuple(map(Sentence, texts))
    return replace(DEFAULT, sentences=sentences, layer=layer, controls={page: controls})


CHARTS: dict[str, tuple[Callable[[], Chart], str, str, ViewState]] = {
    "meaning": (_meaning, "meaning", "meaning_chart", DEFAULT),
    "map": (
        _map,
        "map",
        "map_chart",
        _view(MAP, *TEXTS, source="sentences", method="pca"),
    ),
    "attention": (
        lambda: show_attention(PET),
        "attention",
        "attention_heatmap",
        _view("attention", PET),
    ),
    "one head": (
        lambda: show_attention(PET, layer=3, head=7, unit="words"),
        "attention",
        "attention_heatmap",
        _view("attention", PET, head="3.7", unit="Words"),
    ),
    "mean": (
        lambda: show_attention(PET, layer=2),
        "attention",
        "attention_heatmap",
        _view("attention", PET, layer=2, show="Layer"),
    ),
    "layers": (lambda: show_layers(PET), "layers", "layers_picture", _view("layers", PET)),
    "length": (
        lambda: show_layers(CODE, word="coding", measure="length", layer=4),
        "layers",
        "layers_picture",
        replace(
            _view("layers", CODE, layer=4, measure="Length"),
            sentences=(Sentence(CODE, word=(7, 13)),),
        ),
    ),
}


@pytest.mark.parametrize("name", CHARTS)
def test_the_chart_and_its_claim_are_the_page_s(name: str) -> None:
    make, page, key, view = CHARTS[name]
    shown, app = make(), settled(alone(view, page))
    spec = chart(app, key)
    drawn = standalone(go.Figure(data=spec["data"], layout=spec["layout"]))
    ours = shown.figure.to_dict()
    if page == "map":  # hover texts of the page have the letters of sentences, too
        for trace in (*ours["data"], *drawn.data):
            trace["text"] = None
    assert (
        json.loads(go.Figure(data=ours["data"]).to_json())["data"]
        == (json.loads(go.Figure(data=drawn.data).to_json())["data"])
    )
    said = plainly_said(app).replace("**", "")
    if page == "map":  # the page's headline has the finding
        assert shown.claim
        assert shown.claim in said
    elif page == "meaning":  # its headline has the senses' names, and the numbers are folded
        assert all(sentence in said for sentence in re.split(r"(?<=[.]) ", shown.claim))
    else:
        assert shown.figure.layout.title.text == drawn.layout.title.text
        assert shown.claim.startswith(reading(app).replace("**", "").replace("\u2060", ""))


def test_no_placeholder_is_left() -> None:
    for make, *_ in CHARTS.values():
        shown = make()
        assert not re.findall(r"#0000[0-4]\d", shown.figure.to_json())
        assert not shown.figure.frames


def test_a_head_is_the_model_s_own(service: EncoderService) -> None:
    (encoding,) = service.encode("all-MiniLM-L6-v2", [PET], attentions=[(3, 7)])
    shown = show_attention(PET, layer=3, head=7, service=service)
    assert encoding.attentions is not None
    np.testing.assert_allclose(shown.figure.data[0].z, encoding.attentions[0], atol=1e-6)
    settings = shown.passport.settings
    assert (settings["layer"], settings["head"]) == (3, 8)  # counted from 1, as titles do


def test_random_pairs_are_in_the_picture_and_the_claim() -> None:
    shown = show_meaning([PET, "The weather is nice"], word=["python", "weather"], layer=2)
    assert [note.text for note in shown.figure.layout.annotations][
        -1
    ] == "unrelated words (dotted: average)"
    assert re.search(r"as random words usually have \(0\.\d\d to 0\.\d\d\)", shown.claim)
    assert shown.passport.settings["baseline_pairs"] == 5000


def test_labels_colour_a_map_and_are_judged() -> None:
    texts = [f"{text} {end}" for text in (PET, "The bank is closed") for end in "abcdefghij"]
    shown = show_map(texts, labels={"topic": ["animal"] * 10 + ["money"] * 10}, method="pca")
    assert {trace.name for trace in shown.figure.data} >= {"animal", "money"}
    assert shown.claim.startswith(
        "Each dot is a sentence. Those with the same “topic” lie together: 100%"
    )


def test_a_notebook_draws_a_chart_with_its_claim_below(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn: list[go.Figure] = []
    monkeypatch.setattr(go.Figure, "show", lambda figure, **_: drawn.append(figure))
    shown = show_attention(PET)
    shown._ipython_display_()
    assert drawn == [shown.figure]
    assert capsys.readouterr().out == f"{shown}\n" == f"{shown.claim}\n"


def test_a_file_has_the_chart_its_claim_and_its_passport(tmp_path: Path) -> None:
    shown = show_layers("Is it *python* & <b>?", word="b")
    shown.write_html(tmp_path / "chart.html")
    page = (tmp_path / "chart.html").read_text(encoding="utf-8")
    assert "context has changed “b” a lot" in shown.claim
    assert html.escape(shown.claim) in page
    assert shown.passport.checksum[:12] in page
    assert not re.search(r"<(script|link)[^>]*\b(src|href)=", page)  # nothing is fetched
    assert page.index("default-src 'none'") < page.index("<script")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: show_meaning([], word="python"), "texts is empty"),
        (lambda: show_meaning(PET, word="python"), "must be a list of texts"),
        (lambda: show_meaning([PET] * 9, word="python"), "9 texts were given; at most 8"),
        (lambda: show_meaning([PET, " "], word="python"), "Number 2 of texts is blank"),
        (lambda: show_meaning([PET, CODE], word="pet"), "“pet” is no word of “I love coding"),
        (lambda: show_meaning([PET, CODE], word=["pet"]), "2 texts and 1 words"),
        (lambda: show_meaning([PET], word="pet"), "no reference"),
        (lambda: show_meaning([PET, CODE], word="python", layer=7), "layer was 7; .* 0 to 6"),
        (
            lambda: show_meaning([PET, CODE], word="python", pooling="max"),  # type: ignore[arg-type]
            "pooling was 'max'; it must be one of mean, first, last",
        ),
        (lambda: show_attention(PET, layer=0), "layer was 0; .* 1 to 6"),
        (lambda: show_attention(PET, layer=1, head=12), "head was 12; .* 0 to 11"),
        (lambda: show_attention(PET, head=1), "without its layer"),
        (lambda: show_attention(PET, unit="letters"), "one of tokens, words"),
        (lambda: show_attention("x" * 20_001), "20,001 characters"),
        (lambda: show_layers(PET, word="snake"), "is no word of"),
        (lambda: show_layers(PET, layer=True), "layer was True"),
        (lambda: show_layers(PET, measure="norm"), "one of start"),  # type: ignore[arg-type]
        (lambda: show_map([]), "texts is empty"),
        (lambda: show_map([PET, CODE], labels=["pet"]), "2 texts and 1 values of 'label'"),
        (lambda: show_map([PET], unit="letters"), "one of words"),  # type: ignore[arg-type]
        (lambda: show_map([PET], only=["pet"]), "unit is sentences"),
        (lambda: show_map([PET], unit="tokens", pooling="last"), "one of mean"),
        (lambda: show_map([PET], pooling="recipe", layer=2), "recipe has no layers"),
        (lambda: show_map([PET], labels=5), "give a list with one label"),  # type: ignore[arg-type]
        (lambda: show_map(None), "texts was NoneType"),  # type: ignore[arg-type]
        (lambda: show_meaning([PET], word=3), "word was int"),  # type: ignore[arg-type]
        (lambda: show_meaning([PET, 7], word="pet"), "Number 2 of texts was int"),  # type: ignore[list-item]
        (lambda: show_attention([PET]), "text was list"),  # type: ignore[arg-type]
        (lambda: show_attention(""), "text is blank"),
        (lambda: show_layers("a cat " * 600 + "python", word="python"), "beyond the 512 tokens"),
        (lambda: show_map([PET], method="mds"), "method of a map"),  # type: ignore[arg-type]
        (lambda: show_map([PET], unit="words", pooling="cls"), "one of mean, first, last"),
    ],
)
def test_what_cannot_be_used_is_said(call: Callable[[], Chart], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        call()


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(ContextlensError, match="no/such"):
        show_layers(PET, model="no/such")


@pytest.mark.slow
def test_streamlit_is_not_imported(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The package alone is light, too."""
    code = """
import sys
import contextlens
heavy = {"torch", "numpy", "plotly", "streamlit"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
texts = ["I love my pet python", "I love coding in python"]
contextlens.show_meaning(texts, word="python")
contextlens.show_map(texts, method="pca")
contextlens.show_attention(texts[0])
contextlens.show_layers(texts[0])
print("streamlit" in sys.modules)
"""
    folder = measured_data(tmp_path_factory, tmp_path_factory.mktemp("data") / "data")
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={
            "PATH": "",
            "PYTHONPATH": str(ROOT / "components"),
            "CONTEXTLENS_DATA_DIR": str(folder),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("False\n", "")


def test_an_unknown_name_is_no_part_of_the_package() -> None:
    with pytest.raises(AttributeError, match="show_nothing"):
        _ = contextlens.show_nothing
