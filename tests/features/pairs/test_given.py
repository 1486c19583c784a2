"""Pairs by the vectors of a visitor's file, against scikit-learn and scipy."""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray
from scipy.stats import binomtest, spearmanr
from sklearn.metrics.pairwise import cosine_similarity
from streamlit.testing.v1 import AppTest

from contextlens.core.errors import CorpusError
from contextlens.corpus.readers import read, with_arrays
from contextlens.corpus.table import Table
from contextlens.features.pairs.comparison import PairsResult, evaluate
from contextlens.features.pairs.controls import PAGE
from contextlens.features.pairs.cosines import given_cosines, given_snippet
from contextlens.features.pairs.pair_file import (
    PairColumns,
    chosen_columns,
    column_positions,
    guess_columns,
    pairs_from,
)
from contextlens.features.pairs.pair_set import PairSet
from contextlens.features.pairs.threshold import LabelledPairs, best_threshold
from contextlens.features.pairs.triplets import TripletPairs
from contextlens.ui.corpora.controls import COLLECTION, PAIRS, VECTORS
from contextlens.ui.files.uploads import forget_all
from contextlens.ui.state.view import DEFAULT
from tests.support.fields import field
from tests.support.pages import (
    bundled_app,
    frame,
    framed,
    offered_files,
    plainly_said,
    press,
    reading,
    said,
    settled,
    shown_view,
)

N, D = 60, 16
RANDOM = np.random.default_rng(0)
FIRST: list[Any] = RANDOM.normal(size=(N, D)).astype(np.float32).tolist()
LABELS = ["same" if i % 2 else "different" for i in range(N)]
SECOND: list[Any] = [
    (np.array(row) * (0.9 if i % 2 else 0.3) + RANDOM.normal(size=D)).astype(np.float32).tolist()
    for i, row in enumerate(FIRST)
]
KNOWN = np.arange(3, N)
FIRST[0], SECOND[1], SECOND[2] = None, [0.0] * D, [1.0] * (D - 1)
COSINES = np.array([cosine_similarity([FIRST[i]], [SECOND[i]])[0, 0] for i in KNOWN])
SCORES = [f"{5 * i / N:.2f}" for i in range(N)]
WHY = "no vector given (1), zeros only (1), another number of values (1)"


def content(**more: Any) -> bytes:
    out = io.BytesIO()
    columns = {
        "text1": [f"I saw the number {i} today." for i in range(N)],
        "text2": [f"The others had number {i} here." for i in range(N)],
        "vector2": pa.array(SECOND, pa.list_(pa.float32())),
        "vector1": pa.array(FIRST, pa.list_(pa.float32())),
        **more,
    }
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def table(**more: Any) -> Table:
    return read("mine.parquet", content(**more), max_bytes=10**6)


def given(sheet: Table, columns: PairColumns | None = None) -> tuple[PairSet, PairsResult]:
    pairs = pairs_from(sheet, columns or guess_columns(sheet))
    assert pairs.vectors is not None
    return pairs, evaluate(pairs, given_cosines(pairs, pairs.vectors))


def test_labelled_pairs_are_judged_by_the_cosines_of_their_file() -> None:
    split = ["train" if i < 40 else "test" for i in range(N)]
    pairs, result = given(table(label=LABELS, split=split))
    cosines = result.cosines.values[0]
    np.testing.assert_allclose(cosines[KNOWN], COSINES, atol=1e-6)
    assert np.isnan(cosines[:3]).all()
    at_layer = result.at_layer(pairs, 4)
    assert isinstance(at_layer, LabelledPairs)
    same = np.array(LABELS)[KNOWN] == "same"
    cut = best_threshold(COSINES[: 40 - 3], same[: 40 - 3])
    assert at_layer.accuracy == ((COSINES[40 - 3 :] >= cut) == same[40 - 3 :]).mean()
    assert at_layer.threshold == pytest.approx(cut, abs=1e-6)
    remarks = " ".join(at_layer.remarks())
    assert f"3 pairs have no similarity: {WHY}" in remarks
    assert "mean of all tokens" not in remarks
    passport = result.cosines.passport
    sha256 = hashlib.sha256(content(label=LABELS, split=split)).hexdigest()
    assert passport.model == "vectors of mine.parquet"
    for side in (1, 2):
        settings = passport.settings[f"text_{side}"]
        assert settings["vectors"] == f"vector{side}"
        assert (settings["file_sha256"], settings["n_dims"]) == (sha256, D)
    assert sum(passport.settings["pairs_left_out"].values()) == 3


def test_graded_scores_are_correlated_with_the_cosines_of_their_file() -> None:
    _, result = given(table(score=SCORES))
    assert result.correlation is not None
    expected = spearmanr(COSINES, [float(SCORES[i]) for i in KNOWN]).statistic
    assert result.correlation.spearman[0] == pytest.approx(expected, abs=1e-9)


def test_the_yardstick_is_random_pairs_of_the_file() -> None:
    _, result = given(table())
    every = cosine_similarity([FIRST[i] for i in KNOWN], [SECOND[i] for i in KNOWN])
    others = every[~np.eye(len(KNOWN), dtype=bool)]
    expected = np.percentile(others, [5, 95])
    assert result.cosines.random_range == pytest.approx(expected, abs=0.04)
    pairs, result = given(table(text1=["The same words."] * N, text2=["The same words."] * N))
    assert result.cosines.random_range is None  # there are no two texts
    assert result.at_layer(pairs, None).random_range is None


@pytest.mark.parametrize(
    ("titles", "expected"),
    [
        (("emb_b", "emb_a"), ("emb_a", "emb_b")),
        (("v of text2", "v of text1"), ("v of text1", "v of text2")),
        (("left", "right"), ("left", "right")),
        (("x", "y", "z"), ("", "")),
        (("x",), ("", "")),
    ],
)
def test_vectors_are_guessed_by_titles_or_order(
    titles: tuple[str, ...], expected: tuple[str, str]
) -> None:
    sheet = table()
    own = tuple(replace(sheet.vectors[0], title=title) for title in titles)
    columns = guess_columns(replace(sheet, vectors=own))
    assert (columns.vectors1, columns.vectors2) == expected


@pytest.mark.parametrize(
    ("titles", "is_pair"),
    [
        (("headline_embedding", "Body embedding"), True),
        (("body", "headline"), True),
        (("headline_embedding",), False),
        (("headline_embedding", "headline_small"), False),
        (("headline_embedding", "other"), False),
        (("headline_embedding", "body_embedding", "other"), False),
    ],
)
def test_vectors_named_after_two_columns_of_texts_make_them_a_pair(
    titles: tuple[str, ...], is_pair: bool
) -> None:
    bodies = [f"A much longer text about {'many ' * (i % 7)}other things {i}." for i in range(N)]
    sheet = Table("news.csv", "CSV", {"headline": [f"News {i}" for i in range(N)], "body": bodies})
    assert not guess_columns(sheet).text2
    own = tuple(replace(table().vectors[0], title=title) for title in titles)
    columns = guess_columns(replace(sheet, vectors=own))
    named = sorted(titles, key=lambda title: "body" in title.casefold()) if is_pair else ["", ""]
    assert columns.text2 == ("body" if is_pair else "")
    assert [columns.vectors1, columns.vectors2] == named


@pytest.mark.parametrize("titles", [("text", "context"), ("b", "a"), ("a", "b"), ("ED", "text")])
def test_a_vector_is_named_after_a_whole_word_or_the_longest_of_titles(
    titles: tuple[str, str],
) -> None:
    bodies = [f"A much longer text about {'many ' * (i % 7)}other things {i}." for i in range(N)]
    texts = dict(zip(titles, ([f"News {i}" for i in range(N)], bodies), strict=True))
    vectors = tuple(f"{title}_embedding" for title in titles)
    own = tuple(replace(table().vectors[0], title=title) for title in sorted(vectors))
    columns = guess_columns(replace(Table("news.csv", "CSV", texts), vectors=own))
    assert (columns.text1, columns.text2) == titles
    assert (columns.vectors1, columns.vectors2) == vectors


def test_an_address_names_the_vectors_and_wrong_places_do_not_count() -> None:
    sheet = table(label=LABELS)
    columns = guess_columns(sheet)
    address = column_positions(sheet, columns)
    assert chosen_columns(sheet, address) == columns
    assert address.endswith(",,1-0")
    for wrong in ("0-9", "9-0", "0-1-2"):
        bad = chosen_columns(sheet, address.replace(",1-0", f",{wrong}"))
        assert bad == replace(columns, vectors1="", vectors2="")
    for odd in ("0", "x-y", "0-1-2-3", "-1-0"):
        assert chosen_columns(sheet, address.replace(",1-0", f",{odd}")) == guess_columns(sheet)


def test_vectors_that_make_no_cosine_are_refused_in_a_sentence() -> None:
    shorter = pa.array([row[:9] for row in SECOND], pa.list_(pa.float32()))
    sheet = table(label=LABELS, short=shorter, word1=["number"] * N, word2=["number"] * N)
    plain = replace(guess_columns(sheet).without_marks(), vectors1="vector1")
    cases = {
        "Vectors of one text alone are chosen.": plain,
        "Two texts would have the same vectors.": replace(plain, vectors2="vector1"),
        "have 16 numbers, and those in “short” 9, so no cosine": replace(plain, vectors2="short"),
        "and words are marked": replace(plain, vectors2="vector2", word1="word1", word2="word2"),
    }
    for sentence, columns in cases.items():
        with pytest.raises(CorpusError, match=sentence):
            pairs_from(sheet, columns)
    assert not guess_columns(sheet).vectors1  # a word is marked
    empty = replace(sheet.vectors[0], reasons=np.ones(N, np.int8))
    none = replace(sheet, vectors=(*sheet.vectors[1:], replace(empty, title="vector2")))
    with pytest.raises(CorpusError, match=r"No pair has a vector for both texts: no vector given"):
        pairs_from(none, replace(plain, vectors2="vector2"))
    triplets = table(label=LABELS)
    renamed = dict(zip(("anchor", "positive"), triplets.columns.values(), strict=False))
    renamed["negative"] = renamed["anchor"]
    columns = PairColumns("anchor", "positive", vectors1="vector1", vectors2="vector2")
    with pytest.raises(CorpusError, match="Choose vectors for the negatives, too"):
        pairs_from(replace(triplets, columns=renamed), columns)


def test_the_key_tells_vectors_apart_and_the_pairs_without_them_have_the_key_of_before() -> None:
    pairs, _ = given(table())
    without = pairs_from(table(), replace(guess_columns(table()), vectors1="", vectors2=""))
    assert pairs.key != without.key == pairs.by_model.key
    assert pairs.n_bytes > without.n_bytes + 2 * 4 * N * D


def test_arrays_beside_the_texts_give_a_script_that_reads_both_sides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = b"text1,text2\n" + b"".join(b"one text %d,other text %d\n" % (i, i) for i in range(N))
    arrays = io.BytesIO()
    rows = {name: np.array(given[3:]) for name, given in (("b", SECOND), ("a", FIRST))}
    rows = {name: np.concatenate([np.full((3, D), np.nan), own]) for name, own in rows.items()}
    np.savez(arrays, b=rows["b"], a=rows["a"])
    sheet = with_arrays(
        read("t.csv", texts, max_bytes=10**6),
        "v.npz",
        arrays.getvalue(),
        max_bytes=10**6,
        max_held=10**7,
    )
    columns = replace(guess_columns(sheet), vectors1="a", vectors2="b")
    pairs, result = given(sheet, columns)
    assert pairs.vectors is not None
    (tmp_path / "v.npz").write_bytes(arrays.getvalue())
    np.savez(tmp_path / "pairs.npz", **result.at_layer(pairs, None).arrays())
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(given_snippet(pairs.vectors), names)
    np.testing.assert_allclose(names["cosines"], COSINES, atol=1e-6)


def triplets() -> tuple[bytes, list[NDArray[np.float32]]]:
    """A file with triplets and their vectors, some of which are missing, and the vectors."""
    anchors = RANDOM.normal(size=(N, D)).astype(np.float32)
    near, far = (anchors * share + RANDOM.normal(size=(N, D)) for share in (0.5, 0.1))
    vectors = [own.astype(np.float32) for own in (anchors, near, far)]
    vectors[1][0] = vectors[2][1] = 0  # no direction
    out = io.BytesIO()
    kind = pa.list_(pa.float32())
    names = ("anchor", "positive", "negative")
    texts = {name: [f"The {name} text number {i} is here." for i in range(N)] for name in names}
    given = {f"{name} vector": pa.array(own.tolist(), kind)
             for name, own in zip(names[::-1], vectors[::-1], strict=True)}  # fmt: skip
    pq.write_table(pa.table({**texts, **given}), out)
    return out.getvalue(), vectors


def test_triplets_are_judged_by_the_three_vectors_of_their_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, (anchors, near, far) = triplets()
    sheet = read("mine.parquet", file, max_bytes=10**6)
    columns = guess_columns(sheet)
    assert columns.vectors == ("anchor vector", "positive vector", "negative vector")
    assert chosen_columns(sheet, column_positions(sheet, columns)) == columns
    pairs, result = given(sheet, columns)
    known = np.arange(2, N)
    both = [np.diag(cosine_similarity(anchors[known], own[known])) for own in (near, far)]
    values = result.cosines.values[0].reshape(N, 2)
    np.testing.assert_allclose(values[known].T, both, atol=1e-6)
    assert np.isnan(values[0, 0])
    assert np.isnan(values[1, 1])
    at_layer = result.at_layer(pairs, None)
    assert isinstance(at_layer, TripletPairs)
    n, right = len(known), int((both[0] > both[1]).sum())
    interval = binomtest(right, n).proportion_ci(method="wilson")
    assert at_layer.shares[0] == pytest.approx([right / n, interval.low, interval.high])
    assert "layer" not in at_layer.title
    assert "2 pairs have no similarity: zeros only (2)" in " ".join(at_layer.remarks())
    assert "2 triplets do not count" in " ".join(at_layer.remarks())
    passport = result.cosines.passport.settings
    assert passport["text_3"]["vectors"] == "negative vector"
    (tmp_path / "mine.parquet").write_bytes(file)
    np.savez(tmp_path / "pairs.npz", **at_layer.arrays())
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(given_snippet(pairs.vectors or ()), names)
    np.testing.assert_allclose(names["cosines"], both[1], atol=1e-6)
    assert capsys.readouterr().out.startswith(f"{both[0][0]:.4f} ")
    by_turns = [
        replace(own, reasons=np.array([(i + turn) % 2 for i in range(N)], np.int8))
        for turn, own in enumerate(sheet.vectors[:2])  # each pair of texts has vectors somewhere
    ]
    with pytest.raises(CorpusError, match=r"No triplet has all three vectors: no vector given"):
        pairs_from(replace(sheet, vectors=(*by_turns, sheet.vectors[2])), columns)
    refused = pairs_from(sheet, columns, triplets=False)
    assert [own.title for own in refused.vectors or ()] == ["anchor vector", "positive vector"]


@pytest.mark.parametrize(
    ("titles", "expected"),
    [
        (("neg_emb", "pos_emb", "anchor_emb"), ("anchor_emb", "pos_emb", "neg_emb")),
        (("posEmb", "queryEmb", "negEmb"), ("queryEmb", "posEmb", "negEmb")),
        (("x", "y", "z"), ("x", "y", "z")),
        (("neg_emb", "y", "z"), ()),
        (("pos_1", "pos_2", "z"), ()),
        (("neg", "pos", "anchor", "x"), ("anchor", "pos", "neg")),
        (("w", "x", "y", "z"), ()),
    ],
)
def test_vectors_of_triplets_keep_their_roles(
    titles: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    sheet = read("mine.parquet", triplets()[0], max_bytes=10**6)
    own = [replace(sheet.vectors[0], title=title) for title in titles]
    assert guess_columns(replace(sheet, vectors=tuple(own))).vectors == expected
    short = replace(own[0], rows=own[0].rows[:, :3])
    assert not guess_columns(replace(sheet, vectors=(short, *own[1:3]))).vectors


# The page


@pytest.fixture(scope="module")
def app_of_page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory, MAX_UPLOAD_MB="1"):
        yield
    forget_all()


def uploaded(app: AppTest, file: bytes) -> AppTest:
    own = field(app.file_uploader, "pairs_upload")
    return settled(own.set_value(("mine.parquet", file, "application/octet-stream")).run())


def menu(app: AppTest) -> Any:
    return next(box for box in app.selectbox if (box.key or "").startswith("pairs_vectors"))


def passport(app: AppTest) -> dict[str, Any]:
    texts = [block.value for block in app.code if '"checksum"' in block.value]
    loaded: dict[str, Any] = json.loads(texts[0])
    return loaded


@pytest.mark.usefixtures("app_of_page")
@pytest.mark.slow
def test_the_page_takes_the_vectors_of_a_file_and_gives_them_up_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = content(label=LABELS)
    app = uploaded(framed(COLLECTION.put(DEFAULT, "file"), PAGE), file)
    chosen = [box.value for box in app.selectbox if re.search(r"_vectors\d", box.key or "")]
    assert chosen == [2, 1]  # the file has the second one first; 0 is none
    with offered_files() as offered:
        app = settled(press(app, "pairs_use"))
        npz = offered["pairs.npz"]()
    assert not app.exception
    view, page = shown_view(app), plainly_said(app)
    assert VECTORS.of(view) == "vector1"
    assert "by your file's vectors these two texts are" in reading(app)
    assert "Similarity alone gets" in said(app, "reading_whole")
    assert "These vectors come from your file, so they have no layers." in page
    assert f"3 pairs have no similarity: {WHY}" in page
    assert "9 in 10 have a similarity of" in page
    assert passport(app)["settings"]["text_2"]["vectors"] == "vector2"
    assert "layer" not in frame(app, "AUC").columns
    script = next(b.value for b in app.code if "read_table" in b.value)
    (tmp_path / "mine.parquet").write_bytes(file)
    (tmp_path / "pairs.npz").write_bytes(npz)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(script, names)
    np.testing.assert_allclose(names["cosines"], COSINES, atol=1e-6)
    again = settled(framed(view, PAGE))
    assert reading(again) == reading(app)
    by_model = settled(menu(again).set_value(menu(again).options[0]).run())
    assert passport(by_model)["model"] != "vectors of mine.parquet"
    assert VECTORS.of(shown_view(by_model)) == ""
    assert "the model calls these two texts" in reading(by_model)
    forget_all()
    missing = settled(framed(view, PAGE))
    assert "This server does not have the file “mine.parquet”" in plainly_said(missing)
    found = uploaded(missing, file)
    assert (reading(found), PAIRS.of(shown_view(found))) == (reading(app), PAIRS.of(view))


@pytest.mark.usefixtures("app_of_page")
@pytest.mark.parametrize("more", [{"score": SCORES}, {}, {"label": [*LABELS[:1]] * N}])
def test_no_sentence_names_a_layer(more: dict[str, Any]) -> None:
    app = uploaded(framed(COLLECTION.put(DEFAULT, "file"), PAGE), content(**more))
    app = settled(press(app, "pairs_use"))
    assert not app.exception
    headline = said(app, "reading" if "score" in more else "reading_whole")
    assert "your file's vectors" in headline
    assert "ayer" not in headline
    app = settled(framed(replace(shown_view(app), layer=2), PAGE))
    assert not app.exception


@pytest.mark.usefixtures("app_of_page")
def test_refused_vectors_leave_the_pairs_to_the_model() -> None:
    app = uploaded(framed(COLLECTION.put(DEFAULT, "file"), PAGE), content(label=LABELS))
    refuse = next(b for b in app.button if (b.key or "").startswith("files_no_vectors"))
    app = settled(press(settled(refuse.click().run()), "pairs_use"))
    assert not VECTORS.of(shown_view(app))
    assert not [b for b in app.selectbox if (b.key or "").startswith("pairs_vectors")]
    assert "the model calls these two texts" in reading(app)
