"""The corpora a visit knows: on a server for one, and on one for many."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit as st

from contextlens.core.errors import CorpusError
from contextlens.corpus.bundled import offered, stored_name
from contextlens.corpus.store.indexing import INDEXES, index_key
from contextlens.features.map.controls import FIND, FIND_SELECT, PANEL
from contextlens.features.map.controls import word_of as map_word_of
from contextlens.jobs import Task
from contextlens.ui.corpora import catalogue
from contextlens.ui.corpora.controls import ALL_WORDS, WORD
from contextlens.ui.corpora.texts import collection_of
from contextlens.ui.models.background import jobs, store
from contextlens.ui.state.controls import TEXT_PAGES
from contextlens.ui.state.view import DEFAULT
from tests.support.browsers import browser, owner_in
from tests.support.corpus_store import indexed, indexing, made_up_corpus
from tests.support.pages import app_settings


@pytest.fixture
def for_many(tmp_path: Path) -> Iterator[None]:
    with app_settings(DATA_DIR=str(tmp_path), HOSTS="texts.example"):
        yield


@pytest.fixture
def for_one(tmp_path: Path) -> Iterator[None]:
    with app_settings(DATA_DIR=str(tmp_path)):
        yield


def keep(n: int, owner: str = "") -> list[str]:
    corpora = (made_up_corpus(2, name=f"{i}.csv", seed=i) for i in range(n))
    return [indexed(store(), corpus, owner=owner) for corpus in corpora]


@pytest.mark.parametrize(
    ("address", "hosts", "expected"),
    [
        ("localhost", "", True),
        ("localhost", "texts.example", False),
        (None, "", False),
        ("0.0.0.0", "", False),
    ],
)
def test_one_visitor_is_where_nothing_else_is_answered(
    address: str | None,
    hosts: str,
    expected: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    usual = st.get_option

    def option(name: str) -> Any:
        return address if name == "server.address" else usual(name)

    monkeypatch.setattr(st, "get_option", option)
    with app_settings(DATA_DIR=str(tmp_path), HOSTS=hosts):
        assert catalogue.is_for_one() is expected


def test_who_ends_while_it_is_looked_at_was_not_interrupted(
    for_one: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = store().create(made_up_corpus(2), indexing()).name
    begin = threading.Event()

    def work(_: Any) -> None:
        begin.wait()
        store().set_state(name, "done")

    job = jobs().start(Task(index_key(store(), name), INDEXES, work))
    usual = store().about

    def about(name: str) -> Any:
        found = usual(name)
        if not begin.is_set():
            begin.set()
            job.wait()
        return found

    monkeypatch.setattr(store(), "about", about)
    kept = catalogue.kept_of(name)
    assert kept.about is not None
    assert kept.about.state == "waiting"
    assert kept.is_under_way
    assert catalogue.kept_of(name).is_indexed
    assert not catalogue.kept_of(name).is_under_way


def test_what_another_process_indexes_is_under_way(for_one: None) -> None:
    name = store().create(made_up_corpus(2), indexing()).name
    assert not catalogue.kept_of(name).is_under_way
    with store().only_writer(name):
        assert catalogue.kept_of(name).is_elsewhere
    assert not catalogue.kept_of(name).is_under_way


def test_nothing_is_stored_by_looking(for_one: None, tmp_path: Path) -> None:
    assert catalogue.listed(DEFAULT) == ()
    assert catalogue.titles(DEFAULT) == {}
    assert not (tmp_path / "corpora").exists()


def test_one_visitor_knows_all_that_is_stored(for_one: None) -> None:
    names = keep(3)
    assert {kept.name for kept in catalogue.listed(DEFAULT)} == set(names)
    assert set(catalogue.own_names()) == set(names)


def test_many_visitors_know_what_their_browser_added(for_many: None) -> None:
    names, (other,) = keep(2, owner_in("ann")), keep(1, owner_in("bob"))
    for who, own in (("ann", set(names)), ("bob", {other}), ("", set())):
        with browser(who):
            assert set(catalogue.own_names()) == own
            assert {kept.name for kept in catalogue.listed(DEFAULT)} == own
            assert set(catalogue.titles(DEFAULT)) == own
            assert set(catalogue.titles(DEFAULT, other)) == own | {other}


def test_one_more_than_a_visitor_may_keep_is_refused(
    for_many: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "MAX_OWN_CORPORA", 2)
    with browser("ann"):
        for n in range(2):
            catalogue.check_may_add()
            keep(1, owner_in("ann"))
            assert len(catalogue.own_names()) == n + 1
        with pytest.raises(CorpusError, match=r"one visitor keeps at most 2\. Delete one first"):
            catalogue.check_may_add()
    with browser("bob"):
        catalogue.check_may_add()


@pytest.mark.slow
def test_there_is_no_such_bound_for_one(for_one: None) -> None:
    keep(catalogue.MAX_OWN_CORPORA + 1)
    catalogue.check_may_add()


def test_what_is_gone_or_damaged_is_said_and_the_others_are_there(
    for_many: None, tmp_path: Path
) -> None:
    whole, damaged = keep(2, owner_in("ann"))
    for path in (tmp_path / "corpora" / f"{damaged}.occurrences.lance").rglob("*"):
        if path.is_file():
            path.write_bytes(b"")
    with browser("ann"):
        found = {kept.name: kept for kept in catalogue.listed(DEFAULT)}
        assert catalogue.may_change(found[damaged])
    gone = "g" * 16
    found[gone] = catalogue.kept_of(gone)
    assert found[whole].is_indexed
    assert found[whole].title == "0.csv"
    assert "no such corpus" in found[gone].problem
    assert "damaged" in found[damaged].problem
    assert found[damaged].title == found[gone].title == "A corpus that cannot be read"


def test_files_for_everybody_are_known_to_all_and_nobody_deletes_them(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "shared.csv").write_text("text\nI saw a python\n", encoding="utf-8")
    with app_settings(DATA_DIR=str(tmp_path), HOSTS="texts.example", CORPORA=str(folder)):
        (kept,) = catalogue.listed(DEFAULT)
        assert kept.about is None
        assert not kept.problem
        assert kept.title == "shared.csv"
        assert not catalogue.may_change(kept)
        assert catalogue.titles(DEFAULT) == {}
        name = stored_name(offered(folder)[0], "made-up")
        indexed(store(), made_up_corpus(2, name="shared.csv"), name=name)
        again = catalogue.kept_of(name)  # whichever model the view has
        assert again.file is not None
        assert not catalogue.may_change(again)
        assert catalogue.may_index(again)


@pytest.mark.parametrize(("hosts", "may_delete"), [("", True), ("texts.example", False)])
def test_one_for_everybody_that_is_damaged_is_deleted_by_who_has_the_server(
    tmp_path: Path, hosts: str, may_delete: bool
) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "shared.csv").write_text("text\nI saw a python\n", encoding="utf-8")
    with app_settings(DATA_DIR=str(tmp_path), HOSTS=hosts, CORPORA=str(folder)):
        name = stored_name(offered(folder)[0], DEFAULT.model)
        indexed(store(), made_up_corpus(2, name="shared.csv"), name=name)
        (kept,) = catalogue.listed(DEFAULT)
        assert not catalogue.may_change(kept)
        shutil.rmtree(tmp_path / "corpora" / f"{name}.texts.lance")
        (kept,) = catalogue.listed(DEFAULT)
        assert "Only a part of this corpus is here" in kept.problem
        assert catalogue.may_change(kept) == may_delete
        shutil.rmtree(tmp_path / "corpora" / f"{name}.about.lance")
        (kept,) = catalogue.listed(DEFAULT)  # it can be indexed again by everybody
        assert not kept.problem


# Links to other pages


NAME = "abcdefghijklmnop"


def test_a_link_shows_the_collection_and_its_word_on_every_text_page() -> None:
    view = catalogue.on_texts(DEFAULT, NAME, "python")
    assert {collection_of(view, page) for page in TEXT_PAGES} == {NAME}
    assert WORD.of(view) == "python"


def test_a_link_to_the_map_finds_a_word() -> None:
    view = catalogue.on_texts(DEFAULT, NAME, find="snake")
    assert (FIND.of(view), PANEL.of(view)) == ("snake", FIND_SELECT)
    view = catalogue.on_texts(DEFAULT, "ambiguous", "bank", "bank")  # one of its marked words
    assert (map_word_of().of(view), FIND.of(view)) == ("bank", "bank")
    view = catalogue.on_texts(DEFAULT, "ambiguous", "snake", "snake")
    assert (map_word_of().of(view), FIND.of(view)) == (ALL_WORDS, "snake")
