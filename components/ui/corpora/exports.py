"""A stored corpus as a Parquet file, written to disk when it is asked for and sent from there.

Streamlit would hold the whole file in memory. Whoever has a corpus's name has the corpus, so the
name is all that is asked; where visitors sign in, its owner or an admin has to ask.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import weakref
from collections.abc import AsyncIterator
from pathlib import Path
from threading import BoundedSemaphore
from typing import BinaryIO
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from streamlit.url_util import make_url_path

from components.core.errors import AccessError, BusyError, ContextlensError, CorpusError
from components.ui.access import guard
from components.ui.access.roles import Person
from components.ui.corpora.changing import check_may_export
from components.ui.models.background import store

__all__ = ["address", "file_name", "routes"]

_N_AT_ONCE, _N_ON_THE_WAY = 2, 4
_CHUNK = 1 << 20
_PARQUET = "application/vnd.apache.parquet"
_BUSY, _NOT_FOUND, _FORBIDDEN = 503, 404, 403
_writing = BoundedSemaphore(_N_AT_ONCE)
_on_the_way = BoundedSemaphore(_N_ON_THE_WAY)
"""Files on disk, however slowly they are taken: each may be as large as a corpus."""


class _OnTheWay(tempfile.TemporaryDirectory[str]):
    """A folder that has one of the places until it is gone, even if nobody takes its file.

    Raises:
        BusyError: as many are on their way already.
    """

    def __init__(self) -> None:
        if not _on_the_way.acquire(blocking=False):
            raise BusyError(
                f"{_N_ON_THE_WAY} corpora are on their way to other browsers. Try again once one "
                "has arrived."
            )
        self._leave = weakref.finalize(self, _on_the_way.release)
        super().__init__(prefix="contextlens-", ignore_cleanup_errors=True)

    def cleanup(self) -> None:
        """Delete it, and give its place to another."""
        super().cleanup()
        self._leave()


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
        who = guard.person_of_request(request.cookies)
        title, folder, file = await run_in_threadpool(_written, name, who)
    except ContextlensError as exc:
        return PlainTextResponse(f"{exc.for_visitors}\n", status_code=_status(exc))
    called = quote(file_name(title))
    headers = {
        "Content-Disposition": f"attachment; filename*=utf-8''{called}",
        "Content-Length": str(Path(file.name).stat().st_size),
        "Cache-Control": "no-store",
    }
    return StreamingResponse(_sent(folder, file), media_type=_PARQUET, headers=headers)


def _status(error: ContextlensError) -> int:
    if isinstance(error, AccessError):
        return _FORBIDDEN
    return _BUSY if isinstance(error, BusyError) else _NOT_FOUND


def _written(name: str, who: Person) -> tuple[str, tempfile.TemporaryDirectory[str], BinaryIO]:
    """A corpus's title, and its export in a folder that is deleted once it is sent.

    Raises:
        AccessError: it is not for this person to take away.
        ContextlensError: it is not there or damaged, or there is no room or no turn for it.
    """
    about = store().about(name)
    check_may_export(about, who)
    if not _writing.acquire(blocking=False):
        raise BusyError(
            f"{_N_AT_ONCE} corpora are being written for downloads here. Try again in a moment."
        )
    try:
        folder = _OnTheWay()
        free = shutil.disk_usage(folder.name).free
        if free < about.n_bytes:
            folder.cleanup()
            raise CorpusError(
                f"The file would take up to {about.n_bytes / 1e6:,.0f} MB, and this server has "
                f"{free / 1e6:,.0f} MB for files on their way. Ask whoever runs it to make room."
            )
        path = Path(folder.name) / "corpus.parquet"
        try:
            store().export(name, path)
            return about.title, folder, path.open("rb")
        except BaseException:
            folder.cleanup()
            raise
    finally:
        _writing.release()


async def _sent(folder: tempfile.TemporaryDirectory[str], file: BinaryIO) -> AsyncIterator[bytes]:
    try:
        while chunk := await run_in_threadpool(file.read, _CHUNK):
            yield chunk
    finally:
        file.close()
        folder.cleanup()
