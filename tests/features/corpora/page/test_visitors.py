"""Corpora, headless: several visitors, limits, and files for everybody."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from components.corpus.bundled import offered, stored_name
from components.corpus.store.store import Store
from components.corpus.store.tables import Tables
from components.ui.corpora import changing
from components.ui.corpora.controls import MINE
from components.ui.models.background import store
from components.ui.state.view import DEFAULT
from tests.features.corpora.page.headless import (
    SENSES,
    assert_whole,
    keys,
    on,
    opened,
    table,
    title,
    upload,
)
from tests.support.corpus_store import indexed, made_up_corpus
from tests.support.pages import app_settings, plainly_said, press, settled, shown_view


@pytest.fixture
def public(tmp_path: Path) -> Callable[..., Any]:
    def serve(**variables: str) -> Any:
        own = {"DATA_DIR": str(tmp_path / "public"), "HOSTS": "texts.example", **variables}
        return app_settings(ALLOW_DOWNLOADS="0", **own)

    return serve


@pytest.mark.slow
def test_among_many_the_address_names_one_s_corpora(public: Callable[..., Any]) -> None:
    with public():
        other = indexed(store(), made_up_corpus(3, name="other's.csv"))
        app = upload(opened(), table())
        assert "gets the address in your browser's bar" in plainly_said(app)
        app = settled(press(app, "corpora_index"))
        (name,) = set(store().names()) - {other}
        view = shown_view(app)
        assert MINE.of(view) == name
        assert "other's" not in plainly_said(app)
        assert "This link includes only the corpus on this page" in plainly_said(app)  # under Share
        assert f"corpora_show_{name}" in keys(opened(view))
        given = opened(on(name))  # a link that was shared
        assert "you can search and export it, but not delete it" in plainly_said(given)
        assert not {"corpora_delete", "corpora_cancel"} & set(keys(given))
        app = press(press(opened(view), "corpora_delete"), "corpora_delete_yes")
        assert store().names() == (other,)
        assert MINE.of(shown_view(app)) == ""


@pytest.mark.slow
def test_each_limit_is_one_sentence(public: Callable[..., Any]) -> None:
    nine = MINE.put(DEFAULT, ",".join(f"{i:016}" for i in range(8)))
    with public(CORPUS_MB="1"):
        app = upload(opened(), table([f"word {i} " * 90 for i in range(12)]))
        assert (
            "one corpus may take 1.0 MB. Choose fewer layers, or a shorter file."
            in plainly_said(app)
        )
        assert app.button(key="corpora_index").disabled
        assert_whole(app)
    with public(CORPORA_MB="1"):
        app = upload(opened(), table([f"word {i} " * 90 for i in range(12)]))
        assert "there is room for 1.0 MB more of all corpora" in plainly_said(app)
        assert app.button(key="corpora_index").disabled
    with public():
        app = upload(opened(nine), table())
        assert "one visitor keeps at most 8" in plainly_said(app)
        assert app.button(key="corpora_index").disabled
        assert_whole(app)


@pytest.mark.slow
def test_the_operator_s_files_are_indexed_once_for_all(
    public: Callable[..., Any], tmp_path: Path
) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "shared.csv").write_bytes(table(word=["python"] * 12, sense=SENSES))
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
        assert title(app) == "Most frequent here: “python” (12 times)"
        other = opened()  # anybody else
        assert "for everybody · ready to be searched" in plainly_said(other)
        other = press(other, f"corpora_show_{names['shared.csv']}")
        assert "cannot be deleted here" in plainly_said(other)
        assert "corpora_delete" not in keys(other)
        assert MINE.of(shown_view(other)) == ""
        assert_whole(other)


@pytest.mark.slow
def test_what_was_cut_off_while_it_was_stored_for_all_is_offered_again(
    public: Callable[..., Any], tmp_path: Path
) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "shared.csv").write_bytes(table())
    with public(CORPORA=str(folder)):
        name = stored_name(offered(folder)[0], DEFAULT.model)
        indexed(store(), made_up_corpus(3), name=name)
        shutil.rmtree(Path(store().root) / f"{name}.about.lance")
        app = opened()
        assert "not indexed yet" in plainly_said(app)
        app = settled(press(app.run(), f"corpora_offered_{name}"))
        assert store().about(name).state == "done"
        assert store().about(name).title == "shared.csv"
        assert_whole(app)


@pytest.mark.slow
def test_of_two_tabs_that_index_a_file_for_all_at_once_both_show_it(
    public: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second presses while the first is storing it, in another process."""
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "shared.csv").write_bytes(table(word=["python"] * 12, sense=SENSES))
    with public(CORPORA=str(folder)):
        name = stored_name(offered(folder)[0], DEFAULT.model)
        app, create, n_created = opened(), Tables.create, 0

        def create_after_another(tables: Tables, *given: Any) -> None:
            nonlocal n_created
            n_created += 1
            create(tables, *given)

        def store_first(corpus: Any, own: Any, **settings: Any) -> Any:
            monkeypatch.setattr(changing, "create", real)
            other = Store(store().root)
            other.create(corpus, own, split=settings["split"], name=name)
            return real(corpus, own, **settings)

        real = changing.create
        monkeypatch.setattr(changing, "create", store_first)
        monkeypatch.setattr(Tables, "create", create_after_another)
        app = settled(press(app.run(), f"corpora_offered_{name}"))
        assert n_created == 3  # tables, by the other one alone
        assert store().about(name).state == "done"
        assert title(app) == "Most frequent here: “python” (12 times)"
        assert_whole(app)
