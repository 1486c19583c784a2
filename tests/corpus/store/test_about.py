from __future__ import annotations

import string
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.core.errors import CorpusError
from contextlens.corpus.store.about import (
    VERSION,
    About,
    first_about,
    from_json,
    indexing_of,
    to_json,
    version_of,
)
from contextlens.corpus.store.tables import checked_name, is_name, new_name
from tests.support.corpus_store import indexing, made_up_corpus


def about(**changes: Any) -> About:
    one = first_about(made_up_corpus(3), indexing(), split="sense", name=new_name(), owner="")
    return replace(one, n_occurrences=9, n_cut=1, state="paused", **changes)


def test_names_cannot_be_guessed_and_are_names() -> None:
    names = {new_name() for _ in range(100)}
    assert len(names) == 100
    assert all(map(is_name, names))


@pytest.mark.parametrize(
    "name",
    ["", "..", "../../etc/passwd", "a" * 15, "a" * 17, "a/b" + "c" * 13, "é" * 16, "a" * 16 + "\n"],
)
def test_what_is_no_name_is_refused_in_one_sentence(name: str) -> None:
    with pytest.raises(CorpusError, match="16 letters, digits"):
        checked_name(name)


@given(st.text(string.printable, min_size=16, max_size=16))
def test_a_name_never_leaves_its_folder(name: str) -> None:
    if is_name(name):
        assert not set(name) & set("/\\.:\0 ")


@given(st.text(max_size=40), st.text(max_size=40))
def test_what_is_written_is_read_again(title: str, why: str) -> None:
    clean = about(title=title.encode("utf-8", "replace").decode(), why="x")
    assert from_json(to_json(clean), version=VERSION) == clean


def test_what_a_newer_version_wrote_is_refused_in_one_sentence() -> None:
    with pytest.raises(CorpusError, match=r"newer Contextlens .*Update this app"):
        from_json("whatever it may be", version=VERSION + 1)


@pytest.mark.parametrize("state", ["", "over"])
def test_a_state_that_is_none_is_damage(state: str) -> None:
    text = to_json(replace(about(), state=state))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no such state"):
        from_json(text, version=VERSION)


@pytest.mark.parametrize(
    ("dtype", "asked", "runs"),
    [("float32", "fast", "exact"), ("bfloat16", "fast", "fast"), ("bfloat16", "exact", "exact")],
)
def test_the_precision_is_the_one_that_runs(dtype: str, asked: Any, runs: str) -> None:
    card: Any = SimpleNamespace(
        id="m", checksum="c", revision="r", n_dims=8, fast=SimpleNamespace(dtype=dtype)
    )
    found = indexing_of(card, [6, 0, 6], asked)
    assert (found.layers, found.precision, found.row_bytes) == ((0, 6), runs, 32)


def test_an_owner_is_kept_and_makes_older_apps_refuse() -> None:
    one = {"split": "", "name": "a" * 16}
    owned = first_about(made_up_corpus(3), indexing(), owner="somebody", **one)
    assert (owned.owner, owned.version) == ("somebody", 2)
    assert from_json(to_json(owned), version=2) == owned
    nobodys = first_about(made_up_corpus(3), indexing(), owner="", **one)
    assert nobodys.version == 1
    assert '"owner"' not in to_json(nobodys)
    assert from_json(to_json(nobodys), version=1).owner == ""


def test_an_estimate_is_kept_until_it_is_done_and_makes_older_apps_refuse() -> None:
    one = {"split": "", "name": "a" * 16, "owner": ""}
    expected = first_about(made_up_corpus(3), indexing(), n_bytes=1_000, **one)
    assert (expected.n_bytes_expected, expected.version) == (1_000, VERSION)
    assert from_json(to_json(expected), version=VERSION) == expected
    assert "n_bytes_expected" not in to_json(replace(expected, n_bytes_expected=0))
    assert version_of(owner="somebody", n_bytes_expected=0) < VERSION
