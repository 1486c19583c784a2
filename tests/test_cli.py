"""The command line: what it opens, what it stores, and what it says to what cannot be used."""

from __future__ import annotations

import random
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from socket import AF_INET, AF_INET6
from string import ascii_letters
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest
from typer.testing import CliRunner, Result

from contextlens import cli
from contextlens.core import BUNDLED_ID, Settings
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.store.store import Store, open_store
from contextlens.maps import precision
from contextlens.ui.corpora.controls import COLLECTION, FILE, FILE_NAME, LABELS, TEXT
from contextlens.ui.files import uploads
from contextlens.ui.state.address import decode
from contextlens.ui.state.view import ViewState
from tests.support.corpus_store import indexing, made_up_corpus
from tests.support.speed import measured

ROWS = ["id,review,stars", '1,"A good film, by the river.",5', "2,The bank was bad.,1"]

LONG = "".join(random.Random(0).choices(ascii_letters, k=15_000))


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
    assert (COLLECTION.of(view), FILE_NAME.of(view)) == ("file", "reviews.csv")
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
    assert "?" not in run("--no-browser").output
    assert "?s=" in run("--no-browser", "--model", BUNDLED_ID).output
    assert len(opened) == 4


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
        (("--sentence", LONG, "--sentence", LONG[::-1]), "30,000 characters together"),
        (("--host", "nobody.invalid"), "nobody.invalid is not an address of this machine"),
        (("--host", "203.0.113.7"), "203.0.113.7 is not an address of this machine"),
        (("--host", "203.0.113.7", "--port", "BUSY"), "203.0.113.7 is not an address of this"),
        (("--port", "BUSY"), "is in use on localhost"),
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
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        placeholders = {"TABLE": str(table), "BUSY": str(busy.getsockname()[1])}
        given = [placeholders.get(argument, argument) for argument in arguments]
        monkeypatch.setattr(sys, "argv", ["contextlens", *given])
        with pytest.raises(SystemExit) as end:
            cli.main()
    assert end.value.code == 2
    said = capsys.readouterr()
    assert sentence in said.err
    assert not said.out


def test_an_open_server_names_the_addresses_at_which_others_find_it(
    opened: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    addresses = ("127.0.0.1", "192.0.2.7", "fe80::1%eth0", "2001:db8::7")
    cards = [
        SimpleNamespace(family=AF_INET6 if ":" in a else AF_INET, address=a) for a in addresses
    ]
    monkeypatch.setattr("psutil.net_if_addrs", lambda: {"eth0": cards})
    output = run("--host", "0.0.0.0", "--no-browser").output
    ((host, port),) = opened
    assert host == "0.0.0.0"
    assert "All who can reach this machine can open it, without a password" in output
    assert output.splitlines()[2:-1] == [f"http://192.0.2.7:{port}"]
    assert cli._network_addresses("::", 1) == ["http://192.0.2.7:1", "http://[2001:db8::7]:1"]
    assert "All who can reach" not in run("--no-browser").output


@pytest.mark.skipif(sys.platform != "linux", reason="other systems set no such limit")
@pytest.mark.parametrize("command", ["open", "index"])
def test_a_low_memory_limit_ends_with_a_sentence(table: Path, command: str) -> None:
    ended = subprocess.run(
        ["sh", "-c", 'ulimit -v 800000; exec "$@"', "sh", sys.executable, "-m", "contextlens",
         command, str(table)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 2
    assert ended.stderr == (
        "This process may use 819 MB of memory, and Contextlens needs 2,000 MB. "
        "Raise the limit: ulimit -v unlimited\n"
    )


def test_memory_that_ends_in_the_middle_ends_with_a_sentence(
    table: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(cli, "_sheet", fail)
    monkeypatch.setattr(sys, "argv", ["contextlens", "index", str(table)])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 2
    assert capsys.readouterr().err.startswith("There is not enough memory.")


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


@pytest.mark.slow
def test_many_texts_are_indexed_fast_unless_exact_reading_is_chosen(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = measured(tmp_path / "data", 2.0)
    monkeypatch.setenv("CONTEXTLENS_DATA_DIR", str(data))
    monkeypatch.setattr(precision, "_MIN_SECONDS", 0.0)
    store = open_store(Settings.from_env())
    assert run("index", table).exit_code == 0
    assert [store.about(name).indexing.precision for name in store.names()] == ["fast"]
    assert run("index", table, "--exact").exit_code == 0
    exact = {name for name in store.names() if store.about(name).indexing.precision == "exact"}
    assert (len(exact), len(store.names())) == (1, 2)
    for name in {*store.names()} - exact:
        store.delete(name)
    assert run("index", table).exit_code == 0  # which needs no second one
    assert {*store.names()} == exact


def test_index_takes_marks_as_the_page_does_unless_told_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTEXTLENS_DATA_DIR", str(tmp_path / "data"))
    texts = ["🎉🎉 Our bank shut", "We sat on the bank", "x " * 600 + "bank", "A bank there"]
    starts = [text.encode("utf-16-le").index("bank".encode("utf-16-le")) // 2 for text in texts]
    rows = [f"{t},{a},{a + 4},money" for t, a in zip(texts, starts, strict=True)]
    file = tmp_path / "marked.csv"
    file.write_text("\n".join(["text,start,end,sense", *rows]))
    marked, plain = run("index", file), run("index", file, "--no-marks")
    for said in (
        "start, end mark a word in each text, such as “bank” in row 1. The option --no-marks",
        "Places count UTF-16 units",
        "1 of 4 marked words lies beyond token 512",
    ):
        assert said in " ".join(marked.output.split())
        assert said not in plain.output
    store = open_store(Settings.from_env())
    stored = sorted(map(store.about, store.names()), key=lambda about: about.created)
    assert [about.has_targets for about in stored] == [True, False]


def test_two_commands_at_once_store_a_file_once(tmp_path: Path) -> None:
    corpus, stores = made_up_corpus(200), [Store(str(tmp_path)) for _ in range(4)]

    def store_it(store: Store) -> str:
        return cli._find_or_create(store, corpus, indexing()).name

    with ThreadPoolExecutor(4) as pool:
        names = set(pool.map(store_it, stores))
    assert len(names) == 1
    assert set(stores[0].names()) == names


def test_commands_of_their_own_take_their_own_options() -> None:
    assert run("--version").output.startswith("contextlens 0.")
    assert "--benchmark" in run("proof", "--help").output
    assert "--replicas" in run("serve", "--help").output
    assert all(name in run("--help").output for name in ("open", "index", "proof", "serve"))
