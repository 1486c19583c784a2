"""The command line: what it opens, what it stores, and what it says to what cannot be used."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from typer.testing import CliRunner, Result

from contextlens import cli
from contextlens.core import Settings
from contextlens.core.errors import ContextlensError
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.store.store import open_store
from contextlens.features.map.controls import FILE, FILE_NAME, LABELS, SOURCE, TEXT
from contextlens.ui.files import uploads
from contextlens.ui.state.address import decode
from contextlens.ui.state.view import ViewState

ROWS = ["id,review,stars", '1,"A good film, by the river.",5', "2,The bank was bad.,1"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "reviews.csv"
    path.write_text("\n".join([*ROWS, *(f"{i},I liked film {i}.,{i % 5}" for i in range(3, 9))]))
    return path


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli.app, [str(argument) for argument in arguments])


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The address and port of each server that was to be started."""
    servers: list[tuple[str, int]] = []
    monkeypatch.setattr(cli, "_serve", lambda host, port: servers.append((host, port)))
    return servers


def view_of(result: Result) -> tuple[str, ViewState]:
    """The page and the view that the app was to open on."""
    assert result.exit_code == 0, result.output
    address = urlsplit(result.output.split("It opens on ")[1].strip())
    return address.path, decode(parse_qs(address.query).get("s", [""])[0])


def test_a_file_opens_on_the_map_with_its_named_or_guessed_columns(
    table: Path, opened: list[tuple[str, int]]
) -> None:
    page, view = view_of(run(table, "--text", "review", "--label", "stars", "--no-browser"))
    assert page == "/map"
    assert (SOURCE.of(view), FILE_NAME.of(view)) == ("file", "reviews.csv")
    assert (TEXT.of(view), LABELS.of(view)) == (1, "2")
    corpus = uploads.shared(FILE.of(view))
    assert isinstance(corpus, Corpus)
    assert corpus.texts[0] == "A good film, by the river."
    assert list(corpus.labels) == ["stars"]
    assert view_of(run("open", table, "--no-browser"))[1] == view
    assert [host for host, _ in opened] == ["localhost"] * 2


def test_sentences_open_meaning_and_nothing_opens_the_start(
    opened: list[tuple[str, int]],
) -> None:
    page, view = view_of(run("--sentence", "One bank.", "--sentence", "-s", "--no-browser"))
    assert (page, [s.text for s in view.sentences]) == ("/meaning", ["One bank.", "-s"])
    assert view_of(run("--no-browser", "--model", "org/name"))[1].model == "org/name"
    assert view_of(run("--no-browser"))[0] == "/"
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        with pytest.raises(ContextlensError, match="is in use on localhost"):
            cli._free_port("localhost", busy.getsockname()[1])
    assert len(opened) == 3


def test_the_browser_opens_where_there_is_a_display(
    opened: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[str] = []
    monkeypatch.setattr(cli, "_open_when_ready", lambda _, url: waited.append(url))
    monkeypatch.setattr(sys, "platform", "linux")
    for variables, is_open in (
        ({}, False),
        ({"DISPLAY": ":0"}, True),
        ({"WAYLAND_DISPLAY": "w"}, True),
    ):
        for name in ("DISPLAY", "WAYLAND_DISPLAY"):
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        assert ("It opens on" in run().output) is not is_open
    assert len(waited) == 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("nowhere.csv",), "nowhere.csv is not a file."),
        (("TABLE", "--text", "x"), "has no column “x”; it has: “id”, “review”, “stars”."),
        (("TABLE", "--sentence", "x"), "Give a file or sentences, not both."),
        (("--label", "x"), "name columns of a file"),
        (("--sentence", "x" * 20_001), "20,001 characters. At most 8 of 20,000"),
        (("--sentence", "x") * 9, "9 sentences were given"),
        (("--host", "nobody.invalid"), "nobody.invalid is not an address of this machine"),
        (("index", "nowhere.csv"), "nowhere.csv is not a file."),
        (("proof", "--benchmark", "stsb"), "file"),
    ],
)
def test_what_cannot_be_used_ends_with_a_sentence(
    table: Path,
    arguments: tuple[str, ...],
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = [str(table) if argument == "TABLE" else argument for argument in arguments]
    monkeypatch.setattr(sys, "argv", ["contextlens", *given])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 2
    said = capsys.readouterr()
    assert sentence in said.err
    assert not said.out


def test_a_file_is_stored_and_indexed_once(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTEXTLENS_DATA_DIR", str(tmp_path / "data"))
    for _ in range(2):
        result = run("index", table, "--text", "review", "--label", "stars")
        assert result.exit_code == 0, result.output
        assert "reviews.csv: 8 texts are stored." in result.output
    store = open_store(Settings.from_env())
    (name,) = store.names()
    about = store.about(name)
    assert (about.state, about.columns) == ("done", ("stars",))
    assert store.open(name).n_occurrences > 20


def test_commands_of_their_own_take_their_own_options() -> None:
    assert run("--version").output.startswith("contextlens 0.")
    assert "--benchmark" in run("proof", "--help").output
    assert "--replicas" in run("serve", "--help").output
    assert all(name in run("--help").output for name in ("open", "index", "proof", "serve"))
