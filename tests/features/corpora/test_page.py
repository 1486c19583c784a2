"""Corpora, headless: the first sight, files to add, indexing, deleting, visitors and limits."""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from contextlens.core.errors import CorpusError
from contextlens.corpus.bundled import ambiguous_corpus, offered, stored_name
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.store.about import indexing_of
from contextlens.corpus.store.indexing import INDEXES
from contextlens.corpus.store.store import Store
from contextlens.features.corpora import page
from contextlens.features.corpora.compute import CorpusResult
from contextlens.features.corpora.controls import PAGE, SEARCH
from contextlens.ui.corpora import catalogue, changing
from contextlens.ui.corpora.catalogue import Kept
from contextlens.ui.corpora.controls import COLLECTION, SENTENCES, WORD
from contextlens.ui.corpora.words import WordCounts
from contextlens.ui.files.uploads import forget_all
from contextlens.ui.models.background import jobs, store
from contextlens.ui.state.services import service, settings
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from tests.support.browsers import browser, owner_in
from tests.support.corpus_store import indexed, indexing, made_up_corpus
from tests.support.fields import field
from tests.support.pages import (
    alone,
    app_settings,
    assert_only_own_markup,
    bundled_app,
    chart,
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

SECONDS = 120
TEXTS = [
    *(f"My pet python number {i} sleeps" for i in range(6)),
    *(f"I write python program {i}" for i in range(6)),
]


SENSES = ["animal"] * 6 + ["language"] * 6


def table(texts: list[str] = TEXTS, **columns: list[Any]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out)
    own = columns or {"sense": SENSES}
    writer.writerow(["text", *own])
    writer.writerows(zip(texts, *own.values(), strict=True))
    return out.getvalue().encode()


def opened(view: ViewState = DEFAULT) -> AppTest:
    return settled(framed(view, PAGE))


def on(name: str) -> ViewState:
    return COLLECTION.put(DEFAULT, name)


def upload(app: AppTest, content: bytes, name: str = "mine.csv") -> AppTest:
    app = press(app, "corpora_add")
    own = field(app.file_uploader, "corpora_upload")
    return settled(own.set_value((name, content, "text/csv")).run())


def kept(content: bytes, name: str = "mine.csv") -> AppTest:
    """A file, uploaded and indexed with what was guessed."""
    return settled(press(upload(opened(), content, name), "corpora_index"))


def with_layers(app: AppTest, *layers: int) -> AppTest:
    menu = next(m for m in app.multiselect if m.key.startswith("corpora_layers_"))
    return settled(menu.set_value(list(layers)).run())


def keys(app: AppTest) -> set[str]:
    return {button.key for button in app.button}


def has_picture(app: AppTest) -> bool:
    return any(e.proto.id.endswith("corpora_chart") for e in app.get("plotly_chart"))


def assert_whole(app: AppTest) -> None:
    """The page works: whatever else is said, the ready-made corpora can be shown."""
    assert not app.exception
    assert {"corpora_add", "corpora_show_ambiguous", "corpora_show_sentiment"} <= keys(app)
    app = press(app, "corpora_show_sentiment")
    assert not app.exception
    assert has_picture(app)
    assert "Sentiment" in reading(app)


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory, MAX_UPLOAD_MB="1"):
        yield


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    forget_all()
    _empty_the_store()  # other pages' tests may have kept a corpus in the same folder
    yield
    for job in jobs().under_way(INDEXES):
        assert job.wait(SECONDS)
    _empty_the_store()


def _empty_the_store() -> None:
    for name in store().names():
        store().delete(name)


RUDE = "<img src=x onerror=alert(1)> **bold** $x$ :material/home:.csv"


# At first sight


def indexed_here() -> tuple[str, ...]:
    return store().names() if settings().data_dir.joinpath("corpora").exists() else ()


@pytest.mark.parametrize("run", [framed, alone], ids=["framed", "alone"])
def test_the_ready_made_words_are_there_at_first_sight(run: Callable[..., AppTest]) -> None:
    before = indexed_here()
    app = run(DEFAULT, PAGE)
    assert not app.exception
    assert not app.error
    assert not app.warning
    assert said(app, "headline") == (
        "Small words aside, “pitch” occurs most often: 60 times, in 4 senses"
    )
    assert reading(app).startswith("**Ambiguous words** has **")
    rows = frame(app, "occurrences")
    assert {"word", "occurrences", "share of all words", "senses"} == set(rows.columns)
    assert set(ambiguous_corpus().labels["word"]) <= set(rows["word"])
    assert "Included, ready to use" in plainly_said(app)
    assert indexed_here() == before  # whatever other tests left
    assert_whole(app)


def test_a_word_of_the_address_is_looked_at_where_there_is_one() -> None:
    assert bold_words(opened(WORD.put(DEFAULT, "bank"))) == ["<b>bank</b>"]
    first = said(opened(), "headline").split("“")[1].split("”")[0]
    assert bold_words(opened(WORD.put(DEFAULT, "no such word"))) == [f"<b>{first}</b>"]


def test_a_word_is_searched_in_every_corpus_and_its_sentences_are_shown() -> None:
    texts = tuple(f"{i} Python <i>{RUDE}" for i in range(4))
    name = indexed(store(), Corpus(RUDE, texts))
    app = field(opened().text_input, SEARCH.key).set_value("pYthon").run()
    assert not app.exception
    assert SEARCH.of(shown_view(app)) == "pYthon"
    assert not has_picture(app)
    bars = chart(app, "corpora_search_chart")
    assert bars["layout"]["title"]["text"] == "“pYthon” occurs 36 times, in 2 of 3 corpora"
    assert [len(trace["x"]) for trace in bars["data"]] == [2]
    sentences = "".join(html.proto.body for html in app.get("html") if "hits" in html.proto.body)
    assert sentences.count("<mark>") == 5 + 4
    assert sentences.count("<mark>Python</mark> &lt;i&gt;&lt;img") == 4
    assert "5 sentences of 32 uses" in plainly_said(app)
    assert_only_own_markup(app)
    app = field(app.text_input, SEARCH.key).set_value(f"zz{'z' * 10_000}").run()
    assert "characters; a word has at most 64" in plainly_said(app)
    app = press(app, "corpora_clear")
    assert SEARCH.of(shown_view(app)) == ""
    app = field(app.text_input, SEARCH.key).set_value("   ").run()
    assert has_picture(app)
    app = field(app.text_input, SEARCH.key).set_value("python").run()
    app = press(app, f"corpora_show_{name}")  # a corpus, chosen, ends the search
    assert SEARCH.of(shown_view(app)) == ""
    assert has_picture(app)


def test_a_word_is_searched_in_the_texts_that_the_page_shows_too() -> None:
    view = SEARCH.put(replace(on(SENTENCES), sentences=(Sentence("A zyzzyva"),)), "zyzzyva")
    app = opened(view)
    title = chart(app, "corpora_search_chart")["layout"]["title"]["text"]
    assert title == "“zyzzyva” occurs once: in 1 of 3 corpora"
    (sentence,) = [html.proto.body for html in app.get("html") if "hits" in html.proto.body]
    assert "A <mark>zyzzyva</mark>" in sentence


def bold_words(app: AppTest) -> list[str]:
    names = chart(app, "corpora_chart")["layout"]["yaxis"]["ticktext"]
    return [name for name in names if name.startswith("<b>")]


def test_downloads_have_every_word_with_its_count() -> None:
    with offered_files() as offered_here:
        app = opened()
        assert not app.exception
        text = offered_here["word-counts.csv"]().decode("utf-8-sig")
        arrays = offered_here["word-counts.npz"]()
    rows = [line for line in text.splitlines() if not line.startswith("#")]
    assert rows[0] == '"word","occurrences","share","senses"'
    assert rows[1].startswith('"the",')
    assert arrays[:2] == b"PK"


# What goes wrong


@pytest.mark.parametrize("name", ["g" * 16, RUDE])
def test_a_corpus_that_is_not_there_is_said(name: str) -> None:
    app = opened(on(name[:200]))
    assert len(app.error) == 1
    assert "no corpus" in plainly_said(app) or "no such corpus" in plainly_said(app)
    assert_whole(app)


def test_a_damaged_corpus_is_marked_and_the_others_work() -> None:
    whole, damaged = (
        indexed(store(), made_up_corpus(4, name=f"{kind}.csv", seed=i))
        for i, kind in enumerate(("whole", "damaged"))
    )
    root = Path(store().root)
    for path in (root / f"{damaged}.occurrences.lance").rglob("*"):
        if path.is_file():
            path.write_bytes(b"")
    app = opened(on(damaged))
    assert "damaged" in plainly_said(app)
    assert f"corpora_show_{damaged}" in keys(app)
    app = press(app, f"corpora_show_{whole}")
    assert reading(app).startswith("**whole.csv** has")
    assert "The model of this corpus, made-up, is no longer on this machine" in plainly_said(app)
    app = press(press(press(app, f"corpora_show_{damaged}"), "corpora_delete"),
                "corpora_delete_yes")  # fmt: skip
    assert store().names() == (whole,)
    assert_whole(app)


# From a file to a corpus


def test_a_file_is_shown_with_its_costs_and_kept_after_a_click() -> None:
    app = upload(opened(), table(split=["train", "test"] * 6, sense=SENSES))
    assert "**mine.csv** · CSV" in plainly_said(app)
    assert "takes about **2 seconds**" in plainly_said(app)
    assert "stays on this machine's disk until you delete it" in plainly_said(app)
    assert store().names() == ()
    app = settled(press(app, "corpora_index"))
    (name,) = store().names()
    about = store().about(name)
    assert (about.state, about.n_texts, about.title) == ("done", 12, "mine.csv")
    assert set(about.columns) == {"sense", "split"}
    assert about.split == "split"
    assert about.indexing.layers == tuple(range(7))
    assert COLLECTION.asked(shown_view(app)) == name
    assert reading(app).startswith("**mine.csv** has **")
    assert "12 texts · 66 words" in plainly_said(app)
    assert "all-MiniLM-L6-v2, layers 0 to 6, full precision" in plainly_said(app)
    assert "ready to be searched" in plainly_said(app)
    snippets = [each.value for each in app.code]
    assert any('ParquetFile("mine.parquet")' in each for each in snippets)
    assert_whole(app)


def test_layers_and_columns_can_be_chosen() -> None:
    app = upload(opened(), table(word=["python"] * 12, sense=SENSES))
    app = with_layers(app)
    assert "Choose at least one layer" in plainly_said(app)
    assert "corpora_index" not in keys(app)
    app = with_layers(app, 0, 6)
    ways = next(s for s in app.selectbox if s.key.endswith("_way"))
    assert ways.value == "word"
    app = settled(ways.set_value("none").run())
    app = settled(press(app, "corpora_index"))
    about = store().about(store().names()[0])
    assert about.indexing.layers == (0, 6)
    assert not about.has_targets


@pytest.mark.slow
def test_the_same_file_twice_is_opened_and_not_indexed_again() -> None:
    kept(table())
    (name,) = store().names()
    app = kept(table(), "another name.csv")
    assert store().names() == (name,)
    assert "You already stored these texts with the same settings on" in plainly_said(app)
    assert COLLECTION.asked(shown_view(app)) == name
    app = upload(opened(), table())
    settled(press(with_layers(app, 6), "corpora_index"))
    assert len(store().names()) == 2  # indexed otherwise


# What goes wrong


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("damaged.parquet", b"no parquet", "damaged.parquet"),
        ("large.txt", b"word " * 300_000, "at most 1 MB"),
    ],
)
def test_a_file_that_cannot_be_read_is_said(name: str, content: bytes, expected: str) -> None:
    app = upload(opened(), content, name)
    assert expected in plainly_said(app)
    assert store().names() == ()
    assert_whole(app)


def test_guessed_marks_are_said_and_can_be_refused() -> None:
    app = upload(opened(), table(word=["python"] * 12))
    assert "The texts are in the column “text”. Label: “word”." in plainly_said(app)
    columns = next(e for e in app.expander if e.label == "Change the columns")
    assert not columns.proto.expanded  # only one column can hold the texts
    assert "Guessed: word marks a word in each text, such as “python” in row 1." in (
        plainly_said(app)
    )
    app = settled(press(app, "files_refuse_marks"))
    assert "Guessed" not in plainly_said(app)
    ways = next(s for s in app.selectbox if s.key.endswith("_way"))
    assert ways.value == "none"
    assert "corpora_index" in keys(app)


def test_a_file_whose_marks_miss_is_said_and_can_be_indexed_without_them() -> None:
    app = upload(opened(), table(span=["90-99"] * 12))
    assert "corpora_index" in keys(app)  # what marks nothing is not guessed
    ways = next(s for s in app.selectbox if s.key.endswith("_way"))
    app = settled(ways.set_value("span").run())
    span = next(s for s in app.selectbox if s.key.endswith("_span"))
    app = settled(span.set_value(1).run())
    assert "no marked word could be placed" in plainly_said(app)
    assert "corpora_index" not in keys(app)
    assert_whole(app)


@pytest.mark.slow
def test_a_corpus_in_another_script_and_one_without_words_are_shown() -> None:
    app = kept("text\nЯ вижу питона\nПитон спит\n水は流れる\n".encode())
    assert has_picture(app)
    assert "питона" in " ".join(chart(app, "corpora_chart")["layout"]["yaxis"]["ticktext"])
    app = kept(b"text\n?! ...\n:-) ;-)\n", "signs.csv")
    assert "No text here has a word with a letter or a digit" in plainly_said(app)
    assert_whole(app)


def test_an_error_of_the_store_leaves_the_file_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    app = upload(opened(), table())

    def full(*_: object, **__: object) -> None:
        raise CorpusError("The disk that corpora are stored on is full.")

    monkeypatch.setattr(store(), "create", full)
    app = press(app, "corpora_index")
    assert "is full" in plainly_said(app)
    assert "corpora_index" in keys(app)
    monkeypatch.undo()
    app = settled(press(app, "corpora_index"))
    assert len(store().names()) == 1


def test_deleting_takes_a_second_click() -> None:
    app = kept(table())
    (name,) = store().names()
    app = press(app, "corpora_delete")
    assert "its 66 words and their vectors" in plainly_said(app)
    assert store().names() == (name,)
    app = press(app, "corpora_delete_no")
    assert "corpora_delete_yes" not in keys(app)
    app = press(press(app, "corpora_delete"), "corpora_delete_yes")
    assert store().names() == ()
    assert not COLLECTION.of(shown_view(app))
    assert_whole(app)


def test_indexing_pauses_and_goes_on() -> None:
    name = store().create(made_up_corpus(6), bundled_indexing()).name
    store().set_state(name, "paused")
    app = opened(on(name))
    assert "Paused at 0%: 0 of 6 texts are read" in plainly_said(app).replace("**", "")
    assert not has_picture(app)
    app = settled(press(app, "corpora_go_on"))
    assert store().about(name).state == "done"
    assert has_picture(app)


def test_what_a_server_left_can_go_on_or_be_cancelled() -> None:
    name = store().create(made_up_corpus(6), bundled_indexing()).name
    app = opened(on(name))
    assert "Interrupted at 0%" in plainly_said(app)
    app = press(press(app, "corpora_cancel"), "corpora_cancel_yes")
    assert store().names() == ()
    assert_whole(app)


def test_what_another_process_indexes_is_followed_and_can_be_paused() -> None:
    name = store().create(made_up_corpus(6), bundled_indexing()).name
    store().set_state(name, "indexing")
    with store().only_writer(name):
        app = framed(on(name), PAGE)
        assert "being read, 0%" in plainly_said(app)
        assert "reading goes on" in plainly_said(app)
        assert "corpora_go_on" not in keys(app)
        app = press(app, "corpora_pause")
        assert "Reading will pause as soon as" in plainly_said(app)
    assert store().about(name).state == "paused"
    app = opened(on(name))
    assert "Paused at 0%" in plainly_said(app)
    assert "corpora_go_on" in keys(app)


def test_a_word_clicked_while_texts_are_read_reaches_the_links(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A click runs the picture alone, which has the rest of the page run where the word differs."""
    stored = Kept("mine", None, is_elsewhere=True)
    before = CorpusResult("mine", "mine", None, stored, WordCounts(0, 0, 0, ()), "", "python")
    done: list[str] = []
    monkeypatch.setattr(page, "indexing_panel", lambda _: None)
    monkeypatch.setattr(page, "_words", lambda result: done.append(result.word))
    own = SimpleNamespace(fragment=lambda **_: lambda run: run, rerun=lambda: done.append("page"))
    monkeypatch.setattr(page, "st", own)
    for word in ("python", "pet"):
        monkeypatch.setattr(page, "result_of", lambda _, word=word: replace(before, word=word))
        page.picture(before)
    assert done == ["python", "page", "pet"]


def bundled_indexing() -> Any:
    return indexing_of(service().load(DEFAULT.model), (0, 6), "exact")


def test_a_corpus_that_failed_says_why_and_can_be_tried_again() -> None:
    name = store().create(made_up_corpus(4), indexing(model="google-bert/bert-large-cased")).name
    app = settled(press(opened(on(name)), "corpora_go_on"))
    assert "Stopped at 0%" in plainly_said(app)
    assert "which is not on this machine any more" in plainly_said(app)
    assert "corpora_go_on" in keys(app)
    assert_whole(app)


@pytest.fixture
def public(tmp_path: Path) -> Callable[..., Any]:
    def serve(**variables: str) -> Any:
        own = {"DATA_DIR": str(tmp_path / "public"), "HOSTS": "texts.example", **variables}
        return app_settings(ALLOW_DOWNLOADS="0", **own)

    return serve


@pytest.mark.slow
def test_among_many_a_browser_manages_what_it_added(public: Callable[..., Any]) -> None:
    with public():
        other = indexed(store(), made_up_corpus(3, name="other's.csv"), owner=owner_in("bob"))
        with browser("ann"):
            app = upload(opened(), table())
            assert "whoever has the address of its page can search it" in plainly_said(app)
            app = settled(press(app, "corpora_index"))
            (name,) = set(store().names()) - {other}
            assert store().about(name).owner == owner_in("ann")
            assert "other's" not in plainly_said(app)
            assert f"corpora_show_{name}" in keys(opened())
        with browser("bob"):
            given = opened(on(name))
        assert "you can search it, but not export or delete it" in plainly_said(given)
        assert not {"corpora_delete", "corpora_cancel"} & set(keys(given))
        with browser("ann"):
            press(press(opened(on(name)), "corpora_delete"), "corpora_delete_yes")
        assert store().names() == (other,)


def test_each_limit_is_one_sentence(
    public: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with browser("ann"), public(CORPUS_MB="1"):
        app = upload(opened(), table([f"word {i} " * 90 for i in range(12)]))
        assert (
            "one corpus may take 1.0 MB. Choose fewer layers, or a shorter file."
            in plainly_said(app)
        )
        assert app.button(key="corpora_index").disabled
        assert_whole(app)
    monkeypatch.setattr(catalogue, "MAX_OWN_CORPORA", 0)
    with browser("ann"), public():
        app = upload(opened(), table())
        assert "one visitor keeps at most 0" in plainly_said(app)
        assert app.button(key="corpora_index").disabled
        assert_whole(app)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The operator's, with one file."""
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "shared.csv").write_bytes(table(word=["python"] * 12, sense=SENSES))
    return folder


@pytest.mark.slow
def test_the_operator_s_files_are_indexed_once_for_all(
    public: Callable[..., Any], folder: Path
) -> None:
    (folder / "bad.parquet").write_bytes(b"no parquet")
    with public(CORPORA=str(folder)):
        names = {file.title: stored_name(file, DEFAULT.model) for file in offered(folder)}
        app = opened()
        assert "Provided by the operator" in plainly_said(app)
        app = settled(press(app.run(), f"corpora_offered_{names['bad.parquet']}"))
        assert "bad.parquet" in " ".join(each.value for each in app.warning).replace("\\", "")
        app = settled(press(app, f"corpora_offered_{names['shared.csv']}"))
        about = store().about(names["shared.csv"])
        assert (about.state, about.has_targets) == ("done", True)
        assert "“python” occurs most often: 12 times, in 2 senses" in said(app, "headline")
        other = opened()  # anybody else
        assert "for everybody · ready to be searched" in plainly_said(other)
        other = press(other, f"corpora_show_{names['shared.csv']}")
        assert "cannot be deleted here" in plainly_said(other)
        assert "corpora_delete" not in keys(other)
        assert_whole(other)


@pytest.mark.slow
def test_what_was_cut_off_while_it_was_stored_for_all_is_offered_again(
    public: Callable[..., Any], folder: Path
) -> None:
    with public(CORPORA=str(folder)):
        name = stored_name(offered(folder)[0], DEFAULT.model)
        indexed(store(), made_up_corpus(3), name=name)
        shutil.rmtree(Path(store().root) / f"{name}.about.lance")
        app = opened()
        assert "not read yet" in plainly_said(app)
        app = settled(press(app.run(), f"corpora_offered_{name}"))
        assert store().about(name).state == "done"
        assert store().about(name).title == "shared.csv"
        assert_whole(app)


@pytest.mark.slow
def test_of_two_tabs_that_index_a_file_for_all_at_once_both_show_it(
    public: Callable[..., Any], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second presses while the first is storing it, in another process."""
    with public(CORPORA=str(folder)):
        name = stored_name(offered(folder)[0], DEFAULT.model)
        create = changing.create

        def store_first(corpus: Any, own: Any, **settings: Any) -> Any:
            Store(store().root).create(corpus, own, split=settings["split"], name=name)
            return create(corpus, own, **settings)

        monkeypatch.setattr(changing, "create", store_first)
        app = settled(press(opened().run(), f"corpora_offered_{name}"))
        assert store().about(name).state == "done"
        assert "“python” occurs most often: 12 times, in 2 senses" in said(app, "headline")
        assert_whole(app)
