"""A stored corpus as a Parquet file, written to disk on request and sent from there.

Streamlit would hold the whole file in memory. Only a corpus's owner or an admin may export it,
unless it is for everybody.

Each file may be as large as a corpus, so there are only a few places for files on disk, at most two
of them for one visitor. A reader that is too slow is dropped, which frees its place.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
import threading
import weakref
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send
from streamlit.url_util import make_url_path

from contextlens.core.errors import BusyError, ContextlensError
from contextlens.corpus.store.space import check_export_space, export_folder
from contextlens.ui.access import guard
from contextlens.ui.access.refusals import response
from contextlens.ui.access.roles import Person
from contextlens.ui.corpora.changing import check_may_export
from contextlens.ui.models.background import store
from contextlens.ui.state.services import settings

_N_PLACES, _N_EACH = 6, 2
_CHUNK = 1 << 20
_SECONDS = 10.0
"""The time in which a reader must take a chunk: one slower than 100 KB a second is dropped."""
_PARQUET = "application/vnd.apache.parquet"
_NOT_FOUND = 404
_places: list[str] = []
"""The visitor who has each occupied place."""
_lock = threading.Lock()


class _ExportFolder(tempfile.TemporaryDirectory[str]):
    """A folder that occupies a place until it is deleted, even if nobody takes its file.

    Raises:
        BusyError: all places are taken, or this visitor has two already.
    """

    def __init__(self, visitor: str) -> None:
        with _lock:
            if _places.count(visitor) >= _N_EACH:
                raise BusyError(
                    f"{_N_EACH} exports of yours are on their way. Try again once one has arrived, "
                    "or in a minute."
                )
            if len(_places) >= _N_PLACES:
                raise BusyError(
                    f"{_N_PLACES} exports are on their way to others. Try again in a minute."
                )
            _places.append(visitor)
        self._leave = weakref.finalize(self, _places.remove, visitor)
        folder = export_folder(settings().data_dir)
        super().__init__(prefix="export-", dir=folder, ignore_cleanup_errors=True)

    def cleanup(self) -> None:
        """Delete the folder and free its place."""
        super().cleanup()
        self._leave()


class _Download(StreamingResponse):
    """A file sent from a folder, which is deleted once the file is sent or its reader dropped."""

    def __init__(self, title: str, folder: _ExportFolder, file: BinaryIO) -> None:
        self._folder, self._file = folder, file
        headers = {
            "Content-Disposition": f"attachment; filename*=utf-8''{quote(file_name(title))}",
            "Content-Length": str(Path(file.name).stat().st_size),
            "Cache-Control": "no-store",
        }
        chunks = iter(lambda: file.read(_CHUNK), b"")
        super().__init__(chunks, media_type=_PARQUET, headers=headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file; if that ends early, the server closes the connection."""

        async def send_in_time(message: Message) -> None:
            async with asyncio.timeout(_SECONDS):
                await send(message)

        try:
            await super().__call__(scope, receive, send_in_time)
        except (TimeoutError, ClientDisconnect):
            return
        finally:
            self._file.close()
            self._folder.cleanup()


def routes(base: str = "") -> list[Route]:
    """Return the routes of exports under a base path."""
    return [Route(make_url_path(base, "export/{name}.parquet"), _answer, methods=["GET"])]


def address(name: str) -> str:
    """Return the address of a corpus's export, relative to a page."""
    return f"export/{quote(name, safe='')}.parquet"


def file_name(title: str) -> str:
    """Return the name of an export, made from the original file's name, such as "a.csv"."""
    stem = re.sub(r"[^\w.-]+", "-", title.rpartition(".")[0] or title).strip("-.")
    return f"{stem[:60] or 'corpus'}.parquet"


async def _answer(request: Request) -> Response:
    name = str(request.path_params["name"])
    try:
        person = guard.person_of_request(request.cookies)
        visitor = guard.counted_as(person, request.client.host if request.client else None)
        return await run_in_threadpool(_write_export, name, person, visitor)
    except ContextlensError as exc:
        return response(exc, status=_NOT_FOUND)


def _write_export(name: str, person: Person, visitor: str) -> _Download:
    """Return the export of a corpus, written and ready to be sent.

    Args:
        name: the corpus's name.
        person: the person who asks.
        visitor: the holder of the place: the person who signed in, else a network address.

    Raises:
        AccessError: this person may not export it.
        ContextlensError: it does not exist or is damaged, or there is no room or no place.
    """
    about = store().about(name)
    check_may_export(about, person)
    folder = _ExportFolder(visitor)
    try:
        path = Path(folder.name) / "corpus.parquet"
        check_export_space(about.title, about.n_bytes, path.parent)
        store().export(name, path)
        return _Download(about.title, folder, path.open("rb"))
    except BaseException:
        folder.cleanup()
        raise
