"""A stored corpus as a Parquet file, written to disk when it is asked for and sent from there.

Streamlit would hold the whole file in memory. Whoever has a corpus's name has the corpus, so the
name is all that is asked; where visitors sign in, its owner or an admin has to ask.

Each file may be as large as a corpus, so only a few lie on disk at once, and one visitor has two of
these places at most. A reader that is too slow is dropped, and its place is free again.
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
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send
from streamlit.url_util import make_url_path

from components.core.errors import AccessError, BusyError, ContextlensError
from components.corpus.store.space import check_export_space, export_folder
from components.ui.access import guard
from components.ui.access.roles import Person
from components.ui.corpora.changing import check_may_export
from components.ui.models.background import store
from components.ui.models.services import settings

__all__ = ["address", "file_name", "routes"]

_N_PLACES, _N_EACH = 6, 2
_CHUNK = 1 << 20
_SECONDS = 10.0
"""In which a reader has to take a chunk: slower than 100 KB a second is dropped."""
_AGAIN = 60  # seconds after which to try again
_PARQUET = "application/vnd.apache.parquet"
_BUSY, _NOT_FOUND, _FORBIDDEN = 503, 404, 403
_places: list[str] = []
"""The visitor who has each place that is taken."""
_lock = threading.Lock()


class _ExportFolder(tempfile.TemporaryDirectory[str]):
    """A folder that has one of the places until it is gone, even if nobody takes its file.

    Raises:
        BusyError: there is no place, or none for this visitor.
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
        """Delete it, and give its place to another."""
        super().cleanup()
        self._leave()


class _Download(StreamingResponse):
    """A file that is sent from a folder, which is deleted once it is sent or its reader dropped."""

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
        """Send it; where that ends early, the server closes the connection."""

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
    """Where corpora are exported, under a base path."""
    return [Route(make_url_path(base, "export/{name}.parquet"), _answer, methods=["GET"])]


def address(name: str) -> str:
    """Where a corpus is exported, as seen from a page."""
    return f"export/{quote(name, safe='')}.parquet"


def file_name(title: str) -> str:
    """What the export of a corpus is called, by the name of the file that it was: "a.csv"."""
    stem = re.sub(r"[^\w.-]+", "-", title.rpartition(".")[0] or title).strip("-.")
    return f"{stem[:60] or 'corpus'}.parquet"


async def _answer(request: Request) -> Response:
    name = str(request.path_params["name"])
    try:
        person = guard.person_of_request(request.cookies)
        visitor = person.owner or (request.client.host if request.client else "")
        return await run_in_threadpool(_written, name, person, visitor)
    except ContextlensError as exc:
        busy = {"Retry-After": str(_AGAIN)} if isinstance(exc, BusyError) else {}
        return PlainTextResponse(f"{exc.for_visitors}\n", status_code=_status(exc), headers=busy)


def _status(error: ContextlensError) -> int:
    if isinstance(error, AccessError):
        return _FORBIDDEN
    return _BUSY if isinstance(error, BusyError) else _NOT_FOUND


def _written(name: str, person: Person, visitor: str) -> _Download:
    """Return the export of a corpus, written and ready to be sent.

    Args:
        name: the corpus's.
        person: who asks.
        visitor: who has the place: its owner or, where nobody signs in, an address.

    Raises:
        AccessError: it is not for this person to take away.
        ContextlensError: it is not there or damaged, or there is no room or no place for it.
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
