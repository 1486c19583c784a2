"""Pairs, headless: first sight, a file of one's own, large sets, downloads, and any address."""

from __future__ import annotations

import csv
import io
import json
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from streamlit.testing.v1 import AppTest

from contextlens.content.language import say
from contextlens.features.pairs import comparison, cosines
from contextlens.features.pairs.controls import (
    PAGE,
    PAIR,
    PANEL,
    WRONG,
)
from contextlens.features.pairs.one_pair import marked
from contextlens.features.pairs.pair_set import bundled_pairs
from contextlens.ui.corpora.controls import COLLECTION, FILE_NAME, PAIR_COLUMNS, PAIRS
from contextlens.ui.files.uploads import forget_all
from contextlens.ui.models.background import jobs
from contextlens.ui.state.view import DEFAULT, ViewState
from tests.support.fields import field
from tests.support.pages import (
    alone,
    bundled_app,
    chart,
    framed,
    offered_files,
    plainly_said,
    press,
    reading,
    said,
    settled,
    shown_view,
    to_layer,
)

FILE_VIEW = COLLECTION.put(DEFAULT, "file")
WORDS = ("python", "bank", "snake", "river", "bird", "stone", "lamp", "tree", "cup", "door")
ROWS = [
    (f"I saw the {word} today", f"The {other} is here" , word, other, label, part)
    for word in WORDS
    for other, label in ((word, "T"), (WORDS[WORDS.index(word) - 1], "F"))
    for part in ("train", "test")
]  # fmt: skip
TITLES = ("text1", "text2", "word1", "word2", "label", "split")
RUDE = '<img src=x onerror=alert(1)> **bold** $x$ :material/home: "q" {y} python'


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory, MAX_UPLOAD_MB="1"):
        yield


@pytest.fixture(autouse=True)
def _no_files() -> None:
    forget_all()


def table(rows: list[tuple[str, ...]] = ROWS, titles: tuple[str, ...] = TITLES) -> bytes:  # type: ignore[assignment]
    out = io.StringIO()
    csv.writer(out).writerows([titles, *rows])
    return out.getvalue().encode()


def opened(view: ViewState = DEFAULT) -> AppTest:
    return settled(framed(view, PAGE))


def upload(app: AppTest, name: str, content: bytes) -> AppTest:
    uploader = field(app.file_uploader, "pairs_upload")
    return settled(uploader.set_value((name, content, "application/octet-stream")).run())


def compared(content: bytes) -> AppTest:
    """A file, uploaded and compared with the columns that were guessed."""
    return settled(press(upload(opened(FILE_VIEW), "mine.csv", content), "pairs_use"))


def numbers(app: AppTest, column: str = "AUC") -> pd.DataFrame:
    return next(d.value for d in app.dataframe if column in d.value.columns)


def has_picture(app: AppTest) -> bool:
    return any(e.proto.id.endswith("pairs_ruler") for e in app.get("plotly_chart"))


def whole(app: AppTest) -> AppTest:
    """The page, with a picture and a reading, and without an error."""
    assert not app.exception
    assert not app.error
    assert has_picture(app)
    assert reading(app)
    return app


# At first sight


@pytest.mark.slow
def test_the_ready_made_pairs_are_judged_at_once_at_every_layer() -> None:
    whole(settled(alone(DEFAULT, PAGE)))
    app = whole(opened())
    assert not app.warning
    title = chart(app, "pairs_chart")["layout"]["title"]["text"]
    assert re.fullmatch(r"Layer \d, best in training: \d+% right", title)
    assert "Similarity alone gets" in said(app, "reading_whole")
    assert len(numbers(app)) == 7
    assert "The threshold was learned from" in plainly_said(app)
    assert app.button(key="pairs_back").disabled != app.button(key="pairs_next").disabled
    before, rows, texts = reading(app), numbers(app), pair_texts(app)
    assert before.startswith("Wrong: the model calls these two uses")
    app = whole(settled(to_layer(app, 2)))
    assert reading(app) != before
    assert pair_texts(app) == texts  # the same pair at every layer
    whole_file = said(app, "reading_whole")
    assert f"**{round(100 * rows['accuracy'][2])}%**" in whole_file


@pytest.mark.slow
@pytest.mark.parametrize("which", ["called_same", "most"])
def test_pairs_are_read_one_by_one_and_the_address_names_the_shown_one(which: str) -> None:
    app = whole(opened(WRONG.put(DEFAULT, which)))
    first, cosines, verdicts = everything(app), list[float](), list[str]()
    for i in range(3):
        assert f"{i + 1} of " in plainly_said(app)
        verdicts.append(reading(app))
        cosines.append(chart(app, "pairs_ruler")["data"][0]["x"][0])
        app = whole(settled(press(app, "pairs_next")))
    if which == "most":
        assert cosines == sorted(cosines, reverse=True)
    else:
        wrong = "Wrong: the model calls these two uses **the same**"
        assert all(verdict.startswith(wrong) for verdict in verdicts)
    assert everything(opened(shown_view(app))) == everything(app)
    for _ in range(3):
        app = settled(press(app, "pairs_back"))
    assert everything(app) == first
    app = settled(field(app.selectbox, WRONG.key).set_value("least").run())
    assert "1 of " in plainly_said(app)
    assert chart(app, "pairs_ruler")["data"][0]["x"][0] < min(cosines)
    assert PAIR.of(shown_view(app)) > 0


def pair_texts(app: AppTest) -> str:
    """The HTML of both texts."""
    return next(e.proto.body for e in app.get("html") if 'class="use"' in e.proto.body)


def everything(app: AppTest) -> tuple[str, str, str]:
    return pair_texts(app), reading(app), plainly_said(app)


def test_every_closer_look_is_there() -> None:
    app = whole(opened(PANEL.put(DEFAULT, "similarities")))
    assert chart(app, "pairs_cosines")["layout"]["title"]["text"] == "Similarities at layer 6"
    app = whole(opened(PANEL.put(DEFAULT, "ROC curve")))
    title = say("pairs.roc.title", layer=6, auc=float(numbers(app)["AUC"][6]))
    assert chart(app, "pairs_roc")["layout"]["title"]["text"] == title
    app = whole(opened(PANEL.put(DEFAULT, "Every pair")))
    assert len(numbers(app, "verdict")) == bundled_pairs().n


def test_a_word_is_marked_and_nothing_that_was_typed_takes_effect() -> None:
    start = RUDE.index("python")
    text = marked(RUDE, (start, start + 6))
    assert text.endswith("<mark>python</mark>")
    assert "<img" not in text
    long = "word " * 100 + "python" + " word" * 100
    assert max(len(marked(long, span)) for span in ((500, 506), None)) < 300


# A file


def test_a_file_is_shown_first_and_compared_after_a_click() -> None:
    app = opened(FILE_VIEW)
    app = upload(app, "mine.csv", table())
    assert "**mine.csv** · CSV" in plainly_said(app)
    app = whole(settled(press(app, "pairs_use")))
    assert "**mine.csv** · 40 pairs" in plainly_said(app)
    assert "The threshold was learned from 20 training pairs" in plainly_said(app)
    view = shown_view(app)
    assert (FILE_NAME.of(view), PAIR_COLUMNS.of(view)) == ("mine.csv", "0,1,2,3,,,,,,,,,4,5")
    assert ROWS[0][0] not in json.dumps({page: dict(own) for page, own in view.controls.items()})
    kept = app.session_state["_kept"].items()
    sizes = [len(repr(value)) for name, value in kept if name.startswith("pairs")]
    assert 0 < max(sizes) < 1_000


def test_other_columns_can_be_chosen_before_and_after() -> None:
    app = upload(opened(FILE_VIEW), "mine.csv", table())
    way = next(box for box in app.selectbox if str(box.key).endswith("_way"))
    assert way.value == "word"
    app = way.set_value("none").run()
    app = settled(press(app, "pairs_use"))
    assert "pairs of whole texts" in plainly_said(app)
    label = next(b for b in app.selectbox if re.match(r"pairs_columns_.*_label", str(b.key)))
    app = label.set_value(0).run()
    app = whole(settled(press(app, "pairs_columns_use")))
    assert "; the median is" in said(app, "reading_whole")
    assert reading(app).startswith("These two texts have a similarity of")
    assert "5th percentile" in numbers(app, "median").columns


def test_guessed_marks_are_said_and_can_be_refused() -> None:
    rows = [(row[0], row[1], "3", "1", row[4]) for row in ROWS]
    app = upload(
        opened(FILE_VIEW), "mine.csv", table(rows, ("text1", "text2", "idx1", "idx2", "t"))
    )
    assert "Guessed: idx1, idx2 mark a word in each text, such as “python” in row 1." in (
        plainly_said(app)
    )
    app = settled(press(app, "files_refuse_marks"))
    assert "Guessed" not in plainly_said(app)
    way = next(box for box in app.selectbox if str(box.key).endswith("_way"))
    assert way.value == "none"
    app = whole(settled(press(app, "pairs_use")))
    assert "pairs of whole texts" in plainly_said(app)


def test_labels_come_from_a_second_file() -> None:
    rows = [(row[2], "N", "3-1", row[0], f"The {row[2]} is here") for row in ROWS]
    app = upload(opened(FILE_VIEW), "mine.tsv", table(rows[1:], rows[0]).replace(b",", b"\t"))
    own = next(w for w in app.file_uploader if w.key.startswith("files_second_"))
    gold = "\n".join(row[4] for row in ROWS).encode()
    app = settled(own.set_value(("mine.gold", gold, "application/octet-stream")).run())
    assert "Labels come from mine.gold, joined line by line." in plainly_said(app)
    app = whole(settled(press(app, "pairs_use")))
    assert "40 pairs of words" in plainly_said(app)
    assert "Guessing means to say “different” always." in plainly_said(app)


def test_numbers_of_rows_mark_nothing_and_no_label_becomes_a_second_text() -> None:
    rows = [(str(i), row[0], row[4]) for i, row in enumerate(ROWS)]
    app = upload(opened(FILE_VIEW), "mine.csv", table(rows, ("index", "text", "label")))
    assert "A pair needs two texts, and this file has one column of them." in plainly_said(app)
    assert app.button(key="pairs_use").disabled
    rows = [(row[0], row[1], str(i)) for i, row in enumerate(ROWS)]
    app = upload(app, "mine.csv", table(rows, ("text1", "text2", "idx")))
    assert "idx marks no word: it fits too few texts, or it numbers the rows." in plainly_said(app)
    app = whole(settled(press(app, "pairs_use")))
    assert "40 pairs of whole texts" in plainly_said(app)


def test_a_file_without_a_pair_changes_nothing() -> None:
    app = upload(opened(FILE_VIEW), "mine.csv", b"text1,text2,word\n,,\na,,b\n")
    app = settled(press(app, "pairs_use"))
    assert "no pair that can be compared" in plainly_said(app)
    assert shown_view(app) == FILE_VIEW
    app = whole(settled(press(upload(app, "better.csv", table()), "pairs_use")))

    before = reading(app)
    app = settled(press(app, "pairs_add_texts"))
    app = upload(app, "broken.parquet", b"PAR1 nothing")
    assert "broken.parquet" in plainly_said(app)
    assert reading(app) == before
    app = settled(press(app, "pairs_keep_file"))
    assert "**better.csv** · 40 pairs" in plainly_said(app)


def test_words_that_the_model_does_not_read_leave_a_page_that_says_so() -> None:
    far = "word " * 700 + "python"
    app = compared(table([(far, far, "python", "python", "T", "train")] * 3))
    assert not has_picture(app)
    assert "No pair can be compared: the model does not read the marked words" in plainly_said(app)


def test_whoever_has_the_address_gets_the_chosen_columns_and_nothing_else() -> None:
    secret_rows = [(*row, "secret number") for row in ROWS]
    view = shown_view(whole(compared(table(secret_rows, (*TITLES, "salary")))))
    for columns in (PAIR_COLUMNS.of(view), "0,6,,,,,,,,,,,4,", "x"):
        other = whole(opened(PAIR_COLUMNS.put(view, columns)))
        assert "Only the chosen columns are kept" in plainly_said(other)
        everything = plainly_said(other) + "".join(d.value.to_csv() for d in other.dataframe)
        assert "secret" not in everything
        assert "salary" not in everything
        assert not [b for b in other.selectbox if "pairs_columns" in str(b.key)]


def test_after_a_restart_the_file_is_asked_for_and_found_again() -> None:
    app = compared(table())
    view, before = shown_view(app), reading(app)
    forget_all()
    other = opened(view)
    assert "This server does not have the file “mine.csv”" in plainly_said(other)
    other = whole(upload(other, "mine.csv", table()))
    assert (reading(other), shown_view(other)) == (before, view)


def test_the_downloads_hold_every_pair_and_no_formula() -> None:
    rows = [(f"=1+1 {row[0]}", *row[1:]) for row in ROWS]
    with offered_files() as offered:
        app = whole(compared(table(rows)))
        made = offered["pairs.csv"](), offered["pairs.npz"]()
    read = pd.read_csv(io.BytesIO(made[0]), comment="#")
    assert len(read) == 40
    assert read["text 1"].str.startswith("'=1+1").all()
    assert [f"layer {i}" for i in range(7)] == list(read.columns[-7:])
    assert set(read["verdict"]) <= {"same", "different"}
    with np.load(io.BytesIO(made[1])) as file:
        np.testing.assert_allclose(file["cosines"].T, read[read.columns[-7:]], atol=1e-6)
        assert file["accuracy"].tolist() == pytest.approx(numbers(app)["accuracy"].tolist())


# Graded scores, and labels by name


SUBJECTS = ("A man", "A girl", "The old teacher", "Two dogs", "The band", "A chef")
ACTIONS = (
    ("is eating soup", "is having soup"),
    ("runs through the park", "jogs in the park"),
    ("opened the meeting", "started the session"),
    ("bought a small house", "purchased a little home"),
)
SCORED = [
    *((f"{a} {v}.", f"{a} {w}.", "4.8") for a in SUBJECTS for v, w in ACTIONS),
    *((f"{a} {v}.", f"{b} {w}.", "2.6") for a, b in pairwise(SUBJECTS) for v, w in ACTIONS),
    *((f"{a} {v}.", f"{b} {w}.", "0.2") for a, b in pairwise(SUBJECTS)
      for (v, _), (_, w) in pairwise(ACTIONS)),
]  # fmt: skip


def sts(rows: Sequence[tuple[str, ...]]) -> bytes:
    return table(list(rows), ("sentence1", "sentence2", "score"))


def follows(app: AppTest) -> str:
    """The page with graded scores: a scatter, the headline, and one pair beside it."""
    assert not app.exception
    assert not app.error
    assert chart(app, "pairs_scatter")["data"]
    return reading(app)


def test_scores_are_compared_with_the_cosine_at_every_layer() -> None:
    with offered_files() as offered:
        app = compared(sts(SCORED))
        made = offered["pairs.csv"](), offered["pairs.npz"]()
    headline, rows = follows(app), numbers(app, "Spearman")
    assert headline.startswith("The cosine at layer 6 follows your scores: Spearman **0.")
    assert f"over {len(SCORED)} pairs. Counting shared words gets" in headline
    assert len(rows) == 7
    with np.load(io.BytesIO(made[1])) as file:
        expected = [spearmanr(layer, file["scores"]).statistic for layer in file["cosines"]]
        assert file["spearman"].tolist() == pytest.approx(expected)
    assert rows["Spearman"].tolist() == pytest.approx(expected)
    assert f"**{expected[-1]:.2f}**" in headline
    read = pd.read_csv(io.BytesIO(made[0]), comment="#")
    assert read["score"].tolist() == [float(row[2]) for row in SCORED]
    assert spearmanr(read["layer 6"], read["score"]).statistic == pytest.approx(expected[-1])
    assert "Pairs that share a text are not independent" in plainly_said(app)
    assert f"**{expected[2]:.2f}**" in follows(settled(to_layer(app, 2)))


def test_pairs_that_disagree_most_are_read_and_a_click_on_a_point_shows_its_pair() -> None:
    odd = (
        ("A chef is eating soup.", "The train left before noon.", "4.9"),
        ("Two dogs ate soup.", "Two dogs ate some soup.", "0.1"),
    )
    app = compared(sts([*SCORED, *odd]))
    first = said(app, "reading_pair")
    assert first.startswith("Your score of **0.1** puts this pair only at percentile 1, its")
    assert "Two dogs ate some soup." in pair_texts(app)
    app = settled(field(app.selectbox, WRONG.key).set_value("score_high").run())
    assert said(app, "reading_pair").startswith("Your score of **4.9** puts this pair at perc")
    app = settled(press(app, "pairs_next"))
    assert "2 of " in plainly_said(app)
    points = [n for t in chart(app, "pairs_scatter")["data"] for n in t.get("customdata", [])]
    assert len(points) == len(SCORED) + 2
    app = opened(PAIR.put(shown_view(app), len(SCORED) + 2))
    assert said(app, "reading_pair") == first
    app = opened(PANEL.put(shown_view(app), "Every pair"))
    assert numbers(app, "percentile by cosine")["score"].max() == 4.9


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (SCORED[22:27] + SCORED[-4:] + [("a", "b", "")] * 3, "We cannot tell from 9 scored pairs"),
        (
            [(f"Text {i}.", f"Text {i}.", f"{i}.5") for i in range(12)],
            "At layer 6 all 12 scored pairs have the same cosine",
        ),
    ],
    ids=["few with a score", "equal texts"],
)
def test_what_scores_cannot_tell_is_said(rows: list[tuple[str, ...]], expected: str) -> None:
    assert follows(compared(sts(rows))).startswith(expected)


def test_names_of_labels_are_offered_to_be_sorted_into_same_and_different() -> None:
    names = {"4.8": "ENTAILMENT", "2.6": "NEUTRAL", "0.2": "CONTRADICTION"}
    rows = [(a, b, names[score]) for a, b, score in SCORED]
    app = upload(opened(FILE_VIEW), "mine.csv", sts(rows))
    menus = {box.label: box for box in app.selectbox if "_meaning_" in str(box.key)}
    assert {name: menu.value for name, menu in menus.items()} == {
        "“contradiction” means": "0", "“entailment” means": "1", "“neutral” means": "-"
    }  # fmt: skip
    app = whole(settled(press(app, "pairs_use")))
    n = len(rows) - 20
    assert f"**mine.csv** · {n} pairs" in plainly_said(app)
    assert "20 pairs were left out, as you chose: “neutral”." in plainly_said(app)
    assert "Similarity alone gets" in said(app, "reading_whole")
    before = shown_view(app)
    assert PAIR_COLUMNS.of(before).endswith(",01-")
    app = settled(field(app.selectbox, WRONG.key).set_value("least").run())
    assert PAIR.of(shown_view(app))
    menu = next(b for b in app.selectbox if re.match(r"pairs_columns_.*_meaning_2", str(b.key)))
    app = whole(settled(press(menu.set_value("0").run(), "pairs_columns_use")))
    assert not PAIR.of(shown_view(app))  # other pairs have other numbers
    assert f"**mine.csv** · {len(rows)} pairs" in plainly_said(app)
    forget_all()
    other = whole(upload(opened(before), "mine.csv", sts(rows)))
    assert shown_view(other) == before
    assert f"**mine.csv** · {n} pairs" in plainly_said(other)


def test_whole_numbers_may_be_scores_or_kinds_and_odd_names_take_no_effect() -> None:
    rows = [(a, b, {"4.8": "0", "2.6": "1", "0.2": "2"}[score]) for a, b, score in SCORED]
    app = upload(opened(FILE_VIEW), "mine.csv", sts(rows))
    assert not [box for box in app.selectbox if "_meaning_" in str(box.key)]
    kind = next(box for box in app.selectbox if str(box.key).endswith("_kind"))
    app = kind.set_value("names").run()
    for i, meaning in enumerate("1-0"):
        menu = next(b for b in app.selectbox if str(b.key).endswith(f"_meaning_{i}"))
        app = menu.set_value(meaning).run()
    app = whole(settled(press(app, "pairs_use")))
    assert PAIR_COLUMNS.of(shown_view(app)).endswith(",1-0")
    app = upload(opened(FILE_VIEW), "mine.csv", sts([(a, b, RUDE) for a, b, _ in SCORED]))
    (menu,) = [box for box in app.selectbox if "_meaning_" in str(box.key)]
    assert "<img" in menu.label
    assert "**bold**" not in menu.label
    app = settled(press(app, "pairs_use"))
    assert "are of one kind" in plainly_said(app)


# Large sets, and any address


def test_a_large_set_waits_for_a_click_and_can_be_cancelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(comparison, "PAIRS", replace(comparison.PAIRS, large_seconds=-1.0))
    app = compared(table([(f"{i} {row[0]}", *row[1:]) for i, row in enumerate(ROWS)]))
    assert not has_picture(app)
    assert "Comparing **40 pairs** takes about **2 seconds** here" in plainly_said(app)
    chunks = cosines._chunks
    monkeypatch.setattr(cosines, "_chunks", lambda *a: _slowly(chunks(*a)))
    app = press(app, "pairs_progress_begin")
    assert app.get("progress")
    app = press(app, "pairs_progress_cancel")
    assert not has_picture(app)
    assert "This was stopped." in plainly_said(app)
    monkeypatch.setattr(cosines, "_chunks", chunks)
    for job in jobs().under_way(comparison.PAIRS):
        assert job.wait(120)
    whole(settled(press(app, "pairs_progress_begin")))


def _slowly(chunks: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """A pair at a time, for as long as somebody wants them."""
    for start, stop in chunks:
        for i in range(start, stop):
            time.sleep(0.2)
            yield i, i + 1


@pytest.mark.slow
def test_what_had_to_make_room_is_computed_again() -> None:
    app = opened()
    before, store = reading(app), jobs()
    for key in [key for key in store._jobs if key[0] == "pairs"]:
        job = store.get(key)
        assert job is not None
        job.forget()
        del store._jobs[key]
    assert reading(settled(app.run())) == before


@pytest.mark.parametrize(
    "controls",
    [
        {"source": "nowhere", "panel": "none", "wrong": 3, "pair": 99_999, "columns": "9" * 200},
        {"file": 7, "source": "file"},
    ],
    ids=str,
)
def test_no_address_breaks_the_page(controls: dict[str, object]) -> None:
    app = opened(replace(DEFAULT, controls={PAGE: controls}))  # type: ignore[dict-item]
    assert not app.exception
    assert not app.error
    assert has_picture(app)


def test_an_address_that_names_no_file_here_asks_for_it() -> None:
    app = opened(FILE_NAME.put(PAIRS.put(FILE_VIEW, "../../etc/passwd"), "my <b>pairs</b>.csv"))
    assert "“my <b>pairs</b>.csv”" in plainly_said(app)
    assert not app.error
