"""The probe's page, headless: first sight, columns, untestable labels, and its own snippet."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from contextlens.content.language import say
from contextlens.features.probe.controls import PAGE, SECTION, SENTENCE
from contextlens.ui.corpora.controls import COLLECTION, LABEL
from contextlens.ui.state.view import DEFAULT, ViewState
from tests.support.pages import (
    bundled_app,
    chart,
    framed,
    offered_files,
    said,
    settled,
    shown_view,
)

THINGS, LABELS = ("soup", "film", "room", "bus"), ("bad", "good") * 4
TEXTS = [f"The {thing} was {mood}" for thing in THINGS for mood in ("bad", "good")]


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory):
        yield


def opened(view: ViewState = DEFAULT) -> AppTest:
    return settled(framed(view, PAGE))


@pytest.mark.slow
def test_first_sight_shows_every_layer_beside_simpler_ways() -> None:
    app = opened()
    drawn = {trace["name"].rsplit(" ", 1)[0]: trace for trace in chart(app, "probe_chart")["data"]}
    assert {"counting words", "guessing", "[CLS]"} <= set(drawn)
    assert len(chart(app, "probe_chart")["data"][0]["y"]) == 7
    shown = {name for name, trace in drawn.items() if trace.get("visible") != "legendonly"}
    assert len(shown) == 3  # the best vectors beside both yardsticks
    # 194 of the ready sentences: a clear finding, with the bundled model
    assert said(app).startswith(
        "Layer 3 sorts **71%** of 194 unseen texts right into “negative” and “positive”. "
        "Counting words gets 56%, guessing 50%."
    )


@pytest.mark.slow
def test_each_closer_look_has_its_numbers() -> None:
    assert "taken for" in chart(look("mixups"), "probe_mixups")["layout"]["xaxis"]["title"]["text"]
    assert len(chart(look("curve"), "probe_curve")["data"][0]["x"]) == 3
    assert len(chart(look("calibration"), "probe_calibration")["data"][1]["x"]) == 5
    assert say("probe.try.empty") in [c.value for c in look("try").caption]
    sentence = "Not bad <b>at all</b>, I have had worse."
    kinds = LABEL.put(DEFAULT, "kind")
    app = opened(SENTENCE.put(SECTION.put(kinds, "try"), sentence))
    assert "The classifier calls it “" in said(app, "reading_try")


def look(section: str) -> AppTest:
    return opened(SECTION.put(DEFAULT, section))


def uploaded(lines: list[str]) -> AppTest:
    """The page once it has learned from a file."""
    app = opened(COLLECTION.put(DEFAULT, "file"))
    own_file = next(field for field in app.file_uploader if field.key == "probe_upload")
    return settled(own_file.set_value(("mine.csv", "\n".join(lines).encode(), "text/csv")).run())


def test_a_file_is_learned_from_and_each_file_is_offered() -> None:
    rows = [f"{text},{label}" for text, label in zip(TEXTS, LABELS, strict=True)]
    with offered_files() as files:
        app = uploaded(["text,mood", *rows])
        assert "“bad” and “good”" in said(app)
        names = {"probe.csv", "probe.npz", "probe.json", "vectors.parquet", "labels.tsv"}
        assert names <= set(files)
        assert files["labels.tsv"]().count(b"\n") == len(TEXTS) + 1


def test_numbers_with_many_values_are_predicted_as_grades() -> None:
    app = uploaded(["text,score", *(f"{'very ' * i}good,{i + 0.5}" for i in range(20))])
    assert "Spearman" in said(app)
    assert chart(app, "probe_chart")["layout"]["yaxis"]["title"]["text"] == "Spearman"
    assert any("largest errors" in element.value for element in app.markdown)
    view = SENTENCE.put(SECTION.put(shown_view(app), "try"), "very very good")
    assert said(opened(view), "reading_try")
    assert not opened(SECTION.put(view, "mixups")).exception  # grades have no mix-ups


@pytest.mark.slow
def test_another_column_and_corpus_can_be_chosen() -> None:
    kinds = said(opened(LABEL.put(DEFAULT, "kind")))
    assert "**81%** of 194 unseen texts right into the 6 labels of “kind”" in kinds
    app = opened(COLLECTION.put(DEFAULT, "sentences"))
    assert say("texts.problem.labels", title="Your sentences") in [i.value for i in app.info]
    assert "“negative” and “positive”" in said(app)
