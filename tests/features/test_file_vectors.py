"""The vectors of a visitor's file on the text pages, against numpy and scikit-learn."""

from __future__ import annotations

import io
import json
import runpy
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from streamlit.testing.v1 import AppTest

from contextlens.core.errors import RequestError
from contextlens.corpus.bundled import sentiment_corpus
from contextlens.corpus.readers import read, to_corpus, with_arrays
from contextlens.features.map import in_common as module
from contextlens.features.map.controls import BESIDE
from contextlens.features.map.in_common import compared
from contextlens.features.map.request import of_file
from contextlens.features.probe.labelled_texts import labelled_texts
from contextlens.features.probe.probing import probe_of, run_probe
from contextlens.features.search.given import text_query
from contextlens.features.sentences.controls import CORPUS, SOURCE
from contextlens.features.sentences.drawn_texts import drawn_texts
from contextlens.maps.engine import Maps
from contextlens.maps.makers import maker_of
from contextlens.maps.request import MapRequest, MapSettings
from contextlens.ui.corpora.controls import COLLECTION, VECTORS
from contextlens.ui.models import runtime
from contextlens.ui.state.view import DEFAULT
from tests.support.fields import field
from tests.support.pages import (
    bundled_app,
    frame,
    framed,
    plainly_said,
    press,
    settled,
    shown_view,
)

N, D = 60, 16
LABELS = [label for label, _ in zip(sentiment_corpus().labels["sentiment"], range(N), strict=False)]
TEXTS = list(sentiment_corpus().texts[:N])
ROWS = np.random.default_rng(0).normal(size=(N, D)).astype(np.float32)
ROWS[:, 0] += [2.5 * (label == "positive") for label in LABELS]
OTHER: list[Any] = [None, [0.0] * 9, *np.random.default_rng(1).normal(size=(N - 2, 9)).tolist()]


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory, MAX_UPLOAD_MB="1"):
        yield


def content() -> bytes:
    out = io.BytesIO()
    columns = {
        "text": TEXTS,
        "label": LABELS,
        "first": pa.array(ROWS.tolist(), pa.list_(pa.float32())),
        "second": pa.array(OTHER, pa.list_(pa.float64())),
    }
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def passport(app: AppTest) -> dict[str, Any]:
    texts = [block.value for block in app.code if '"checksum"' in block.value]
    loaded: dict[str, Any] = json.loads(texts[0])
    return loaded


def opened(page: str) -> AppTest:
    """A page with the file in use, by its first column of vectors."""
    app = settled(framed(COLLECTION.put(DEFAULT, "file"), page))
    own = field(app.file_uploader, f"{page}_upload")
    files = (("texts.parquet", content(), "application/octet-stream"),)
    app = settled(own.set_value(files).run())
    assert not app.exception
    return settled(press(app, f"{page}_use"))


def with_second(app: AppTest, page: str) -> AppTest:
    menu = next(box for box in app.selectbox if (box.key or "").startswith(f"{page}_vectors"))
    return settled(menu.set_value("second").run())


def test_a_map_places_the_vectors_of_a_file_and_reads_no_text() -> None:
    corpus = to_corpus(read("texts.parquet", content(), max_bytes=10**6), "text", ["label"])
    corpus = corpus.read_by(corpus.vectors[1])
    service = runtime.service()
    card = service.load(DEFAULT.model)
    settings = MapSettings("pca")
    request = of_file(MapRequest(DEFAULT.model, corpus.key, unit="words", settings=settings))
    others = MapRequest("another", corpus.key, unit="words", settings=settings, exact=True)
    assert of_file(others) == request
    assert of_file(replace(others, corpus="other")).key != request.key
    with Maps(service) as maps:
        assert maps.plan(request, corpus, card).n_tokens == 0
        job = maps.draw(request, corpus, card)
        result = job.result(120)
        assert maps.draw(of_file(others), corpus, replace(card, checksum="other")) is job
    np.testing.assert_array_equal(result.vectors[0], np.array(OTHER[2:], np.float32))
    assert result.points.texts == tuple(TEXTS[2:])
    given = result.passport.settings
    assert given["texts_left_out"] == {"no vector given": 1, "zeros only": 1}
    assert result.passport.model == "vectors of texts.parquet"


def test_the_map_page_says_which_vectors_it_shows_and_switches_to_others() -> None:
    app = opened("map")
    assert VECTORS.of(shown_view(app)) == "first"
    assert passport(app)["settings"]["vectors"] == "first"
    assert "These vectors come from your file, so they have no layers." in plainly_said(app)
    app = with_second(app, "map")
    assert passport(app)["settings"]["n_dims"] == 9
    assert (
        "2 rows have no vector in “second”: no vector given (1), zeros only (1)."
        in plainly_said(app)
    )


def test_a_file_of_texts_alone_has_no_menu_of_labels() -> None:
    app = settled(framed(COLLECTION.put(DEFAULT, "file"), "map"))
    files = [("t.txt", "\n".join(TEXTS).encode(), "text/plain"), ("v.npy", npy(ROWS), "")]
    app = settled(field(app.file_uploader, "map_upload").set_value(files).run())
    assert any((box.key or "").endswith("_text") for box in app.selectbox)
    assert not app.multiselect
    app = settled(press(app, "map_use"))
    assert passport(app)["settings"]["vectors"] == "v"


def test_vectors_can_be_refused() -> None:
    app = settled(framed(COLLECTION.put(DEFAULT, "file"), "map"))
    own = field(app.file_uploader, "map_upload")
    app = settled(own.set_value(("texts.parquet", content(), "application/octet-stream")).run())
    said = plainly_said(app)
    assert "Vectors: “first” of texts.parquet has 16 numbers for each row (float32, not all" in said
    assert "in row 3." in said  # the first two of the second column have none
    refuse = next(b for b in app.button if (b.key or "").startswith("files_no_vectors"))
    app = settled(refuse.click().run())
    assert "The vectors of “first”, “second” were left out, as you chose." in plainly_said(app)
    app = settled(press(app, "map_use"))
    assert not VECTORS.of(shown_view(app))


def test_search_finds_the_nearest_rows_of_a_file() -> None:
    app = opened("search")
    wanted = cosine_similarity(ROWS)[0]
    wanted[0] = -2
    nearest = np.argsort(-wanted)[:5]
    hits = app.dataframe[0].value
    assert hits["row"].tolist()[:5] == (nearest + 1).tolist()
    np.testing.assert_allclose(hits["cosine"][:5], wanted[nearest], atol=1e-5)
    assert f"a typical text here has {np.median(np.delete(wanted, 0)):.2f}" in plainly_said(app)
    app = settled(press(app, f"search_like_vectors_{nearest[0] + 1}"))
    assert f"The text nearest to row {nearest[0] + 1} has a similarity of" in plainly_said(app)
    app = with_second(app, "search")
    assert "had no text" not in plainly_said(app)


def test_search_takes_pasted_numbers_and_says_what_is_wrong_with_others() -> None:
    app = opened("search")
    menu = next(box for box in app.selectbox if (box.key or "").startswith("search_ask"))
    app = settled(menu.set_value("numbers").run())
    area = next(a for a in app.text_area if a.key == "search_paste")
    app = settled(press(area.set_value("1, 2 3").run(), "search_paste_use"))
    assert "You pasted 3 numbers, and the vectors of the file have 16." in plainly_said(app)
    area = next(a for a in app.text_area if a.key == "search_paste")
    app = settled(press(area.set_value(json.dumps(ROWS[7].tolist())).run(), "search_paste_use"))
    hits = app.dataframe[0].value
    assert hits["row"][0] == 8
    assert hits["cosine"][0] == pytest.approx(1, abs=1e-5)
    said = plainly_said(app)
    assert "The text nearest to your numbers has a similarity of **1.00**." in said
    assert "The nearest of 60 texts." in said
    assert "by words: TF-IDF" not in said  # numbers have no words to search by


def test_typed_text_is_read_only_by_the_model_that_made_the_vectors() -> None:
    service = runtime.service()
    card = service.load(DEFAULT.model)
    made = np.stack([own.vector for own in service.sentence_vectors(card.id, TEXTS)])
    for rows, is_maker in ((made, True), (made.astype(np.float16), True), (made[::-1], False)):
        sheet = with_arrays(
            read("t.txt", "\n".join(TEXTS).encode(), max_bytes=10**6),
            *("v.npy", npy(rows)),
            max_bytes=10**6,
            max_held=10**7,
        )
        corpus = to_corpus(sheet, "text")
        corpus = corpus.read_by(corpus.vectors[0])
        assert bool(maker_of(corpus, card, service)) is is_maker
        if is_maker:
            query = text_query("a dull film", corpus, card, service)
            own = service.sentence_vectors(card.id, ["a dull film"])[0].vector
            np.testing.assert_allclose(query.vector, own, atol=1e-6)
        else:
            with pytest.raises(RequestError, match="Only the model that made these vectors"):
                text_query("a dull film", corpus, card, service)


def test_probe_learns_from_the_vectors_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    app = opened("probe")
    scores = frame(app, "accuracy")
    names = {"your file's vectors", "counting words", "shuffled labels", "commonest label"}
    assert set(scores["vectors"]) - {"word2vec"} == names
    assert "layer" not in scores.columns
    corpus = to_corpus(read("texts.parquet", content(), max_bytes=10**6), "text", ["label"])
    corpus = corpus.read_by(corpus.vectors[0])
    service = runtime.service()
    card = service.load(DEFAULT.model)
    labelled = labelled_texts(corpus, "label", card)
    folds, codes = labelled.trial.folds, labelled.trial.codes
    right = 0
    for fold in range(labelled.trial.n_folds):
        probe = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        probe.fit(ROWS[folds != fold], codes[folds != fold])
        right += int((probe.predict(ROWS[folds == fold]) == codes[folds == fold]).sum())
    assert scores["accuracy"].tolist()[0] == pytest.approx(right / N)
    assert "Your file's vectors sort" in plainly_said(app)
    result = run_probe(labelled, card, service, lambda *_: None)
    shown = probe_of(labelled, result, card)
    assert shown.figure().layout.xaxis.ticktext[0] == "your file's vectors"
    axis = shown.figure(narrow=True).layout.xaxis
    assert axis.ticktext[0] == "your<br>file's<br>vectors"  # on a phone, names lie side by side
    assert axis.tickangle == 0
    np.savez(tmp_path / "probe.npz", **shown.arrays())
    (tmp_path / "texts.parquet").write_bytes(content())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script.py").write_text(shown.scripts()[0][1])
    runpy.run_path(str(tmp_path / "script.py"))
    assert f"{right / N:.4f} right of {N}" in capsys.readouterr().out


@pytest.mark.parametrize("n", [3, 30, 61])
def test_neighbours_in_common_are_those_of_scikit_learn(n: int) -> None:
    random = np.random.default_rng(n)
    left = random.normal(size=(n, 6)).astype(np.float32)
    right = (left @ random.normal(size=(6, 4)) + random.normal(size=(n, 4))).astype(np.float32)
    names, rows = [str(i) for i in range(n)], np.column_stack([np.arange(n)] * 2)
    result = compared(left, right, names, rows)
    assert result is not None
    k = min(10, (n - 1) // 2)
    found = [
        NearestNeighbors(n_neighbors=k + 1, metric="cosine").fit(rows).kneighbors(rows)[1][:, 1:]
        for rows in (left, right)
    ]
    shares = [len(set(a) & set(b)) / k for a, b in zip(*found, strict=True)]
    np.testing.assert_allclose(result.shares, shares, atol=1e-6)
    assert result.chance == k / (n - 1)
    assert result.rows()[0]["in common"] == pytest.approx(min(shares))
    same = compared(left, left * 3, names, rows)
    assert same is not None
    assert same.mean == 1
    assert compared(left, right, names, rows[:2]) is None


def test_of_many_points_some_are_compared_with_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_COMPARED", 50)
    random = np.random.default_rng(3)
    left = random.normal(size=(400, 6)).astype(np.float32)
    right = left[::-1] + random.normal(size=(400, 6)).astype(np.float32)
    rows = np.column_stack([np.arange(1, 301), np.arange(398, 98, -1)])
    result = compared(left, right, [str(i) for i in range(400)], rows)
    assert result is not None
    drawn = np.array([int(name) for name in result.names])
    assert len(drawn) == len(set(drawn.tolist())) == 50
    assert set(drawn.tolist()) <= set(rows[:, 0].tolist())
    found = [
        NearestNeighbors(n_neighbors=10, metric="cosine").fit(own).kneighbors(None)[1]
        for own in (left[drawn], right[399 - drawn])
    ]
    shares = [len(set(a) & set(b)) / 10 for a, b in zip(*found, strict=True)]
    np.testing.assert_allclose(result.shares, shares, atol=1e-6)
    assert result.nearest[7] == tuple(result.names[own[7, 0]] for own in found)
    assert result.chance == 10 / 49
    assert "50 of 300 points" in str(result.notes()[0])


def test_two_vectors_of_a_file_stand_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = settled(framed(BESIDE.put(shown_view(opened("map")), "vectors"), "map"))
    assert not app.exception
    rows = np.column_stack([np.arange(58)] * 2)
    both = compared(ROWS[2:], np.array(OTHER[2:], np.float32), TEXTS[2:], rows)
    assert both is not None
    said = plainly_said(app)
    assert f"**{round(100 * both.mean)}%** are the same by both maps' vectors" in said
    assert said.count("Left: ") == said.count("Right: ") == 1
    assert "58 of 58 points that are on both maps" in said
    assert frame(app, "in common")["in common"].tolist()[0] == pytest.approx(both.shares.min())
    passports = [block.value for block in app.code if '"checksum"' in block.value]
    sides = [json.loads(own)["settings"]["vectors"] for own in passports]
    assert sides == ["first", "second"]
    script = next(b.value for b in app.code if "['second']" in b.value)
    (tmp_path / "texts.parquet").write_bytes(content())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script.py").write_text(script)
    vectors = runpy.run_path(str(tmp_path / "script.py"))["vectors"]
    np.testing.assert_allclose(vectors, OTHER[2 : 2 + len(vectors)], atol=1e-6)


@pytest.mark.slow  # a model reads the sentences by every way
def test_sentence_vectors_compares_the_file_s_vectors_with_the_model_s() -> None:
    view = SOURCE.put(CORPUS.put(shown_view(opened("map")), "file"), "drawn")
    app = settled(framed(view, "sentences"))
    assert not app.exception
    rows = frame(app, "random pairs below")
    given = rows[rows["vector"] == "Your file's vectors"]
    corpus = to_corpus(read("texts.parquet", content(), max_bytes=10**6), "text", ["label"])
    drawn = drawn_texts(corpus.read_by(corpus.vectors[0]))
    wanted = cosine_similarity(ROWS[list(drawn.rows)])
    upper = wanted[np.triu_indices(len(wanted), 1)]
    np.testing.assert_allclose(given["cosine"], upper, atol=1e-4)
    assert [TEXTS[i] for i in drawn.rows] == list(drawn.texts)
    assert "For your file's vectors, the yardstick is 1,770 random pairs" in plainly_said(app)


def test_a_page_that_needs_a_model_says_so() -> None:
    app = settled(framed(shown_view(opened("map")), "senses"))
    assert not app.exception
    assert "not by your file's vectors." in plainly_said(app)


def npy(array: Any) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()
