"""The curve of separation; its script is run as a reader would, and must give the same curve."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from contextlens.analysis.separation import (
    MAX_FOLDS,
    MAX_SHUFFLED,
    RISK,
    Separation,
    separation,
    trial_of,
)
from contextlens.analysis.shuffles import MAX_SHUFFLES
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.corpus.bundled import ambiguous_corpus
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.live import LiveCorpus
from contextlens.features.senses.senses import Senses
from contextlens.features.senses.separation_curve import (
    CURVE_SNIPPET,
    FORMULA,
    curve_figure,
    separation_snippet,
)
from contextlens.ui.widgets.export import to_npz
from tests.support.senses import HALF, clouds, shown
from tests.support.snippets import drawn, run
from tests.support.texts import AWKWARD
from tests.support.tiny_models import TYPICAL

SIZES = (9, 6, 5)


def curve_of(n_layers: int, seed: int = 0) -> list[Separation]:
    codes = clouds(SIZES)[1]
    trial = trial_of(["abc"[code] if i != 4 else "" for i, code in enumerate(codes)])
    return [
        separation(clouds(SIZES, apart=layer / 4, seed=seed)[0], trial, layer)
        for layer in range(n_layers)
    ]


def test_the_curve_has_its_band_its_chance_and_its_share_at_the_layer() -> None:
    curve = curve_of(5)
    figure = curve_figure([("python", curve)], 0.45, layer=3, title="A finding")
    band, line = figure.data
    np.testing.assert_allclose(line.y, [test.accuracy for test in curve], atol=1e-5)
    highs, lows = list(band.y)[:5], list(band.y)[5:][::-1]
    np.testing.assert_allclose(lows, [test.interval[0] for test in curve], atol=1e-5)
    np.testing.assert_allclose(highs, [test.interval[1] for test in curve], atol=1e-5)
    assert [shape.y0 for shape in figure.layout.shapes] == [0, 0.45]
    assert figure.layout.shapes[0].x0 == 3
    notes = {note.text: note.y for note in figure.layout.annotations}
    assert notes == {"always guessing": 0.45, f"<b>{curve[3].accuracy:.0%}</b>": curve[3].accuracy}


def test_two_curves_share_one_chart_and_many_layers_fit() -> None:
    curves = [("<b>a</b>", curve_of(25)), ("b", curve_of(7, seed=1))]
    figure = curve_figure(curves, 0.5, layer=0, title="T")
    assert len(figure.data) == 4
    assert len(figure.layout.xaxis.tickvals) <= 13
    assert "<b>a" not in figure.to_json().encode().decode("unicode_escape")
    assert json.loads(figure.to_json())


def test_the_explanation_has_the_numbers_of_the_code() -> None:
    assert f"at most {MAX_FOLDS}" in " ".join(FORMULA.split())
    assert f"at most {RISK / 2:.1%} of up to {MAX_SHUFFLES} shuffles" in FORMULA
    assert f"of more than {MAX_SHUFFLED:,} occurrences" in FORMULA


# The script


def assert_same(code: str, senses: Senses) -> None:
    names = run(code)
    assert list(drawn(CURVE_SNIPPET, names).data[0].y) == names["accuracy"]
    expected = [test.accuracy for test in senses.by_layer.curve]
    assert names["accuracy"] == pytest.approx(expected)


@pytest.mark.slow
def test_the_snippet_gives_the_bundled_words_curve(service: EncoderService) -> None:
    corpus = LiveCorpus(ambiguous_corpus(), service, BUNDLED_ID)
    senses = shown(service, corpus, word="pitch")
    assert len(senses.uses.trial.senses) > 2
    code = separation_snippet(service.load(BUNDLED_ID), senses.uses)
    assert_same(code, senses)
    assert "contextlens" not in code
    assert "from transformers import AutoModel, AutoTokenizer" in code


@pytest.mark.parametrize("family", TYPICAL)
def test_awkward_texts_and_a_split_are_written_so_that_python_reads_them(
    tiny_service: EncoderService, tiny_root: Path, family: str
) -> None:
    texts = tuple(f"python {text}" for text in AWKWARD.values())
    labels = {
        "sense": tuple(("a", 'b"', "")[i % 3] for i in range(len(texts))),
        "split": tuple(("train", "test", "dev", "train")[i % 4] for i in range(len(texts))),
    }
    model = f"folder:{family}"
    corpus = LiveCorpus(Corpus("t", texts, labels), tiny_service, model, split="split")
    senses = shown(tiny_service, corpus)
    assert senses.uses.trial.how == "split"
    code = separation_snippet(tiny_service.load(model), senses.uses)
    assert all(character.isprintable() or character == "\n" for character in code)
    assert_same(code.replace(f"path/to/{family}", str(tiny_root / family)), senses)


def test_many_occurrences_come_from_the_pages_download(
    tiny_service: EncoderService,
    tiny_root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("contextlens.features.senses.separation_curve.MAX_SCRIPT_OCCURRENCES", 30)
    starts = "@you my pet", "- in\n# my", "=1 my", "in my"
    texts = tuple(f"{starts[i % 4]} python {i}" for i in range(32))
    labels = {"sense": tuple("ab"[i % 2] for i in range(len(texts)))}
    corpus = LiveCorpus(Corpus("t", texts, labels), tiny_service, "folder:bert")
    senses = shown(tiny_service, corpus)
    passport = tiny_service.encode("folder:bert", ["a"])[0].passport
    (tmp_path / "senses.npz").write_bytes(to_npz(senses.arrays(), passport))
    monkeypatch.chdir(tmp_path)
    code = separation_snippet(tiny_service.load("folder:bert"), senses.uses)
    assert len(code) < 5_000
    code = code.replace("path/to/bert", str(tiny_root / "bert"))
    assert_same(code, senses)
    given = zip(senses.uses.texts, senses.uses.occurrences.spans.tolist(), strict=True)
    assert [row[:3] for row in run(code)["rows"]] == [(text, *span) for text, span in given]


def test_a_model_from_the_hub_is_named_with_its_commit(tiny_service: EncoderService) -> None:
    card = replace(tiny_service.load("folder:bert"), source="hub", id="a/b", revision="1234")
    code = separation_snippet(card, HALF)
    assert code.count('revision="1234"') == 2
    assert max(map(len, code.splitlines())) <= 120
