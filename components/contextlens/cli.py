"""The command `contextlens`: the app, on a file or on sentences; and its tools."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from importlib.metadata import version
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from contextlens.core.errors import BusyError, ContextlensError, CorpusError, SettingsError

if TYPE_CHECKING:
    from contextlens.core import Settings
    from contextlens.corpus.corpus import Corpus
    from contextlens.corpus.store.about import About, Indexing
    from contextlens.corpus.store.store import Store
    from contextlens.corpus.table import Table
    from contextlens.features.corpora.compute import FileChoice
    from contextlens.ui.state.view import ViewState

__all__ = ["app", "main"]

_PORT = 8501
_N_PORTS = 20  # tried one after the other, if none was named
_READY_SECONDS = 120.0
_UNUSABLE = 2  # the exit code if what was given cannot be used
_MIN_ADDRESS_BYTES = 2_000_000_000  # below this limit, libraries abort while they are imported
_NO_MEMORY = "There is not enough memory. Take a smaller file or model, or close other programs."
_TURN_SECONDS = 0.2  # between two tries for a lease
_OPEN = "open"


class _OpensByDefault(TyperGroup):
    """Without the name of a command, the app opens."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] not in ("--help", "--version")):
            args = [_OPEN, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_OpensByDefault,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="See what a BERT-family encoder does with your text. Without a command, the app opens.",
)


def main() -> None:
    """Run the command line; what cannot be used ends it with a sentence and the code 2."""
    try:
        app()
    except (ContextlensError, OSError) as exc:
        print(exc, file=sys.stderr)
        sys.exit(_UNUSABLE)
    except MemoryError:
        print(_NO_MEMORY, file=sys.stderr)
        sys.exit(_UNUSABLE)


@app.callback(invoke_without_command=True)
def _version(
    show: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if show:
        print(f"contextlens {version('contextlens')}")
        raise typer.Exit


_Text = Annotated[str, typer.Option(help="The column with the texts; by default the likeliest.")]
_Labels = Annotated[
    list[str] | None, typer.Option("--label", help="A column with labels; several are allowed.")
]
_Model = Annotated[str, typer.Option(help="A model's id; by default the bundled model.")]


@app.command(_OPEN)
def open_app(
    file: Annotated[
        Path | None, typer.Argument(help="A table or a text file to draw on the Map.")
    ] = None,
    sentence: Annotated[
        list[str] | None,
        typer.Option(help="A sentence for Meaning in context; two or more make sense."),
    ] = None,
    text: _Text = "",
    label: _Labels = None,
    model: _Model = "",
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="By default 8501, or the next free one.")
    ] = None,
    host: Annotated[
        str, typer.Option(help="The address to listen on; 0.0.0.0 is open to the network.")
    ] = "localhost",
    browser: Annotated[
        bool | None, typer.Option(help="Open the browser; by default where there is a display.")
    ] = None,
) -> None:
    """Open the app in the browser: on a file, on sentences, or at its start."""
    _check_memory_limit()
    from contextlens.core.registry import is_open
    from contextlens.ui.state.address import encode

    page, view = _view(file, sentence or [], text, label, model)
    number = _free_port(host, port)
    address = f"http://{_shown(host)}:{number}"
    query = f"?s={encode(view)}" if page or model else ""  # the app has its own opening view
    url = f"{address}/{page}{query}"
    print(f"Contextlens starts on {address} (Ctrl+C stops it).", flush=True)
    if is_open(host):
        print("All who can reach this machine can open it, without a password unless they sign in:")
        print(*_network_addresses(host, number), sep="\n", flush=True)
    if _has_display() if browser is None else browser:
        threading.Thread(target=_open_when_ready, args=(address, url), daemon=True).start()
    else:
        print(f"It opens on {url}", flush=True)
    _serve(host, number)


@app.command()
def index(
    file: Annotated[Path, typer.Argument(help="A table or a text file.")],
    text: _Text = "",
    label: _Labels = None,
    model: _Model = "",
    marks: Annotated[
        bool, typer.Option(help="Take columns that seem to mark a word in each text as its marks.")
    ] = True,
    exact: Annotated[
        bool, typer.Option("--exact", help="Read many texts in 32 bits even if 16 are faster here.")
    ] = False,
) -> None:
    """Store a file as a corpus and index its words, for Texts, Senses and searches."""
    _check_memory_limit()
    from contextlens.content.language import say
    from contextlens.core import BUNDLED_ID, Settings, open_service
    from contextlens.corpus.store import indexing
    from contextlens.corpus.store.about import indexing_of
    from contextlens.corpus.store.store import open_store
    from contextlens.features.corpora.compute import corpus_from, marks_beyond, usual_layers
    from contextlens.maps.precision import reading_precision

    settings = Settings.from_env()
    sheet = _sheet(file, settings)
    chosen = _file_choice(sheet, text, label, marks=marks)
    corpus = corpus_from(sheet, chosen)
    for sentence in (*_guessed(sheet, chosen), *sheet.left_out, *corpus.notes):
        print(sentence)
    service, store = open_service(settings), open_store(settings)
    card = service.load(model or BUNDLED_ID)
    if n := marks_beyond(corpus, card, service):
        numbers = {"total": len(corpus.texts), "limit": card.max_length}
        print(say("corpora.adding.beyond", n=n, **numbers))
    precision = reading_precision(card, len(corpus.texts), exact=exact)
    how = indexing_of(card, usual_layers(corpus, card), precision)
    about = _find_or_create(store, corpus, how, chosen.split)

    def report(stage: str, share: float) -> None:
        print(f"\r{share:4.0%} {stage:60.60}", end="", file=sys.stderr, flush=True)

    indexing.index(store, service, about.name, report)
    print(file=sys.stderr)
    stored = store.about(about.name)
    print(f"{stored.title}: {stored.n_texts:,} texts are stored. The app has them under Texts.")


def _check_memory_limit() -> None:
    """Refuse a limit on memory under which the libraries cannot be imported.

    Raises:
        SettingsError: the limit is too low.
    """
    if sys.platform == "win32":
        return
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if 0 <= limit < _MIN_ADDRESS_BYTES:
        raise SettingsError(
            f"This process may use {limit / 1e6:,.0f} MB of memory, and Contextlens needs "
            f"{_MIN_ADDRESS_BYTES / 1e6:,.0f} MB. Raise the limit: ulimit -v unlimited"
        )


def _find_or_create(store: Store, corpus: Corpus, how: Indexing, split: str = "") -> About:
    """The stored corpus with this content; commands that run at once store it once."""
    lease_name = sha256(f"{corpus.digest} {how}".encode()).hexdigest()[:16]
    while True:
        with suppress(BusyError), store.only_writer(lease_name):
            return store.find(corpus.digest, how, store.names()) or store.create(
                corpus, how, split=split
            )
        time.sleep(_TURN_SECONDS)


_PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


@app.command(context_settings=_PASSED_ON)
def proof(context: typer.Context) -> None:
    """Check that this installation gives the numbers that it should; --help has the options."""
    _check_memory_limit()
    from contextlens.proof.__main__ import main as check

    raise typer.Exit(check(context.args))


@app.command(context_settings=_PASSED_ON)
def serve(context: typer.Context) -> None:
    """Serve models to apps on other machines, on Ray (the extra `cluster`); see --help."""
    _check_memory_limit()
    from contextlens.serving.__main__ import main as serve_models

    serve_models(context.args)


def _view(
    file: Path | None, sentences: Sequence[str], text: str, labels: Sequence[str] | None, model: str
) -> tuple[str, ViewState]:
    """The page and the view that were asked for."""
    from dataclasses import replace

    from contextlens.ui.state.address import MAX_OPENED, encode
    from contextlens.ui.state.view import DEFAULT, MAX_CHARACTERS, MAX_SENTENCES, Sentence

    if file is not None and sentences:
        raise CorpusError("Give a file or sentences, not both.")
    if len(sentences) > MAX_SENTENCES or any(len(s) > MAX_CHARACTERS for s in sentences):
        raise CorpusError(
            f"{len(sentences)} sentences were given, the longest with "
            f"{max(map(len, sentences)):,} characters. At most {MAX_SENTENCES} of "
            f"{MAX_CHARACTERS:,} characters are shown: put more into a file, one a line."
        )
    if file is None and (text or labels):
        raise CorpusError("--text and --label name columns of a file; give the file, too.")
    view = replace(DEFAULT, model=model) if model else DEFAULT
    if sentences:
        view = replace(view, sentences=tuple(map(Sentence, sentences)), references=())
        if (n := len(encode(view))) > MAX_OPENED:
            raise CorpusError(
                f"The sentences have {sum(map(len, sentences)):,} characters together, which make "
                f"an address of {n:,}. At most {MAX_OPENED:,} are read: put the sentences into a "
                "file, one a line."
            )
        return "meaning", view
    return ("map", _on_file(view, file, text, labels)) if file is not None else ("", view)


def _on_file(view: ViewState, file: Path, text: str, labels: Sequence[str] | None) -> ViewState:
    """The view of a file on the Map; its columns are kept in this process, as an upload's are."""
    from contextlens.ui.corpora.own_file import opened, share
    from contextlens.ui.state.services import settings

    sheet = _sheet(file, settings())
    columns = _columns(sheet, text, labels)
    digest = share("the command line", sheet, *columns)
    return opened(view, sheet, digest, *columns)


def _sheet(file: Path, settings: Settings) -> Table:
    from contextlens.corpus.readers import read

    if not file.is_file():
        raise CorpusError(f"{file} is not a file. Give the path of a table or a text file.")
    return read(file.name, file.read_bytes(), max_bytes=settings.max_upload_bytes)


def _columns(sheet: Table, text: str, labels: Sequence[str] | None) -> tuple[str, tuple[str, ...]]:
    """The column with the texts and those with labels: the named ones, else the guessed ones."""
    from contextlens.corpus.targets import label_columns

    for name in (text, *(labels or ())):
        if name and name not in sheet.columns:
            known = ", ".join(f"“{column}”" for column in sheet.columns)
            raise CorpusError(f"{sheet.name} has no column “{name}”; it has: {known}. Name one.")
    chosen = text or sheet.text_column
    guessed = label_columns(sheet) if labels is None else labels
    return chosen, tuple(name for name in dict.fromkeys(guessed) if name != chosen)


def _file_choice(
    sheet: Table, text: str, labels: Sequence[str] | None, *, marks: bool
) -> FileChoice:
    """The columns of a file as Texts guesses them, with the named ones in their places."""
    from dataclasses import replace

    from contextlens.corpus.targets import MarkColumns
    from contextlens.features.corpora.compute import guess

    named_text, named_labels = _columns(sheet, text, labels)
    chosen = guess(sheet, named_text)
    if labels is not None:
        chosen = replace(chosen, labels=named_labels)
    return chosen if marks else replace(chosen, marks=MarkColumns())


def _guessed(sheet: Table, chosen: FileChoice) -> Iterator[str]:
    """Sentences on the kind of a file and on the columns that mark words, with an example."""
    from dataclasses import astuple

    from contextlens.content.language import say
    from contextlens.corpus.targets import example_of

    if sheet.export:
        yield f"Guessed kind of file: {sheet.export}."
    titles = [title for title in dict.fromkeys(astuple(chosen.marks)) if title]
    if titles and (example := example_of(sheet, chosen.text, chosen.marks)):
        row, word = example
        numbers = {"columns": ", ".join(titles), "word": word, "row": row, "n": len(titles)}
        yield f"{say('files.marks.guessed', **numbers)} The option --no-marks refuses it."


# --- The server


def _shown(host: str) -> str:
    """The host as it is written in an address for this machine."""
    if host in {"0.0.0.0", "::", "127.0.0.1", "::1"}:
        return "localhost"
    return f"[{host}]" if ":" in host else host


def _network_addresses(host: str, port: int) -> list[str]:
    """The addresses at which other machines can open a server that listens on a host."""
    import psutil

    if host not in {"0.0.0.0", "::"}:
        return [f"http://{_shown(host)}:{port}"]
    cards = [card for cards in psutil.net_if_addrs().values() for card in cards]
    families = {socket.AF_INET} if host == "0.0.0.0" else {socket.AF_INET, socket.AF_INET6}
    found = [card.address for card in cards if card.family in families]
    usual = [address for address in found if not ip_address(address.partition("%")[0]).is_loopback]
    return [f"http://{_shown(address)}:{port}" for address in usual if "%" not in address]


def _free_port(host: str, port: int | None) -> int:
    """The given port, or the first free one from the usual port on.

    Raises:
        SettingsError: none of them is free, or the host is not of this machine.
    """
    if not _can_bind(host, 0):
        raise SettingsError(
            f"--host {host} is not an address of this machine. Leave it out for localhost."
        )
    tried = [port] if port else range(_PORT, _PORT + _N_PORTS)
    for number in tried:
        if _is_free(host, number):
            return number
    if port:
        raise SettingsError(f"Port {port} is in use on {host}. Give another one: --port {port + 1}")
    raise SettingsError(f"All ports from {_PORT} on are in use on {host}. Give one with --port.")


def _is_free(host: str, port: int) -> bool:
    for loopback in ("127.0.0.1", "::1"):
        with suppress(OSError):
            socket.create_connection((loopback, port), timeout=1).close()
            return False
    return _can_bind(host, port)


def _can_bind(host: str, port: int) -> bool:
    """True if a server can listen on a host's port; 0 is any port."""
    with suppress(OSError, UnicodeError):
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as server:
            if sys.platform != "win32":
                server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            server.bind(address)
            return True
    return False


def _has_display() -> bool:
    """True unless this is a Linux without a display, where a text browser would take over."""
    return sys.platform != "linux" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))


def _open_when_ready(address: str, url: str) -> None:
    import httpx2

    end = time.monotonic() + _READY_SECONDS
    while time.monotonic() < end:
        with suppress(httpx2.HTTPError):
            if httpx2.get(f"{address}/healthz", timeout=5.0).is_success:
                webbrowser.open(url)
                return
        time.sleep(0.2)


def _serve(host: str, port: int) -> None:
    from streamlit.web import cli as streamlit

    from contextlens.ui.app_files import app_folder
    from contextlens.ui.state.services import settings

    options = {
        "server.port": port,
        "server.address": host,
        "server.maxUploadSize": settings().max_upload_bytes // 1_000_000,
        "browser.serverAddress": _shown(host),
    }
    flags = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    streamlit.main(["run", str(app_folder() / "app.py"), *flags])
