"""Visitors' files in this process's memory: how they arrive, and what pages read from them.

A file belongs to its visitor alone: it is stored under a name that only that visit knows. A page
shows only the chosen columns. They are stored separately, under the digest in the address, so that
anyone with the address finds these columns and nothing else of the file.

Streamlit keeps every file that a visit sends, shown on a page or not, until the visit ends. So
files are counted when they arrive, and Streamlit's copy is released as soon as a page has taken the
file.
"""

from __future__ import annotations

import asyncio
import re
import uuid
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, Literal

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from contextlens.content.language import say
from contextlens.core import Settings
from contextlens.core.errors import ContextlensError, CorpusError
from contextlens.corpus.exports.annotators import by_majority
from contextlens.corpus.label_cells import with_one_spelling, with_yes_no_columns
from contextlens.corpus.readers import Table, read
from contextlens.corpus.second_file import joined
from contextlens.corpus.table import Form
from contextlens.corpus.upload_store import FileKey, UploadStore
from contextlens.ui.access import guard
from contextlens.ui.access.refusals import response
from contextlens.ui.access.roles import UPLOAD
from contextlens.ui.state import session
from contextlens.ui.state.services import settings

_UPLOAD = re.compile(r"(?:^|/)_stcore/upload_file/([^/]+)/([^/]+)/?$")
_TOO_LARGE = 413
_SILENCE_SECONDS = 30.0  # after which a silent upload is dropped
_N_REFUSALS = 1_000  # that pages have not reported yet
FileChange = Literal[
    "lines", "table", "plain", "clean", "split", "join", "majority", "apart", "no_vectors"
]
"""What a visitor can change about a file."""
_refusals: OrderedDict[str, str] = OrderedDict()
"""The reason why a file was refused, by visit."""


class _StreamlitFiles:
    """The files that Streamlit holds for its visits."""

    def has(self, key: FileKey) -> bool:
        """Return True if the file is there."""
        manager = _manager()
        return manager is not None and bool(manager.get_files(key.visit, [key.file]))

    def discard(self, key: FileKey) -> None:
        """Delete the file, if it is there."""
        manager = _manager()
        if manager is not None:
            manager.remove_file(key.visit, key.file)


def _manager() -> MemoryUploadedFileManager | None:
    manager = runtime.get_instance().uploaded_file_mgr if runtime.exists() else None
    return manager if isinstance(manager, MemoryUploadedFileManager) else None


@lru_cache(maxsize=1)
def _store_of(limits: Settings) -> UploadStore:
    return UploadStore(limits.file_bytes, limits.max_upload_bytes, _StreamlitFiles())


def _store() -> UploadStore:
    return _store_of(settings())


def max_file_bytes() -> int:
    """Return the size of the largest accepted file."""
    return _store().max_file_bytes


def take_file(key: str) -> tuple[str, bytes] | None:
    """Return the name and content of a field's file, and release Streamlit's copy.

    Call this in the field's callback. The callback runs once more, without a file, when the browser
    next sends the field's state.
    """
    taken = next(iter(files_of(key)), None)
    release(key)
    return taken


def files_of(key: str) -> list[tuple[str, bytes]]:
    """Return the names and contents of a field's files that were not released."""
    return [(file.name, file.getvalue()) for file in _files(key)]


def release(key: str) -> None:
    """Release Streamlit's copies of a field's files.

    Do this last: Streamlit ends a callback if the visitor clicks, and runs it anew.
    """
    run = get_script_run_ctx()
    for file in _files(key):
        file.truncate(0)  # frees the content: the session's state still holds this object
        if run is not None and isinstance(run.uploaded_file_mgr, MemoryUploadedFileManager):
            run.uploaded_file_mgr.remove_file(run.session_id, file.file_id)


def is_arriving() -> bool:
    """Return True if a file that this page sent is on its way, or was not read yet."""
    run = get_script_run_ctx()
    return run is not None and _store().is_arriving(run.session_id, run.page_script_hash)


def _files(key: str) -> list[UploadedFile]:
    value = session.value(key)
    files = value if isinstance(value, list) else [value]
    return [
        file for file in files
        if isinstance(file, UploadedFile) and file.getbuffer().nbytes == file.size
    ]  # fmt: skip


def keep(visitor: str, name: str, content: bytes, form: Form = "", sheet: str = "") -> str:
    """Read and keep a visitor's file; return the name under which this visit finds it.

    Args:
        visitor: the visit.
        name: the file's name.
        content: its bytes.
        form: "lines", "table" or "plain" if the visitor said what the file is.
        sheet: the title of the sheet of an Excel file that the visitor chose; "" for none.

    Raises:
        AccessError: the visitor may not upload files.
        CorpusError: the file cannot be used, or reading others takes too long; earlier ones stay.
    """
    return _keep(visitor, name, partial(read, name, content, form=form, sheet=sheet))


def keep_joined(visitor: str, secret: str, name: str, content: bytes) -> str:
    """Join a second file with a visitor's file and keep both as one; return its new name.

    Raises:
        AccessError: the visitor may not upload files.
        CorpusError: the second file cannot be used, or the first is no longer in memory.
    """
    return _keep(visitor, name, partial(joined, _sheet_in_memory(secret), name, content))


def keep_changed(visitor: str, secret: str, change: FileChange) -> str:
    """Keep a file as lines, as a table, as it is, or without left-overs; return its new name.

    Or keep it with a column for each label of its cells, with one spelling of each label, without
    its vectors, or with what most annotators say.

    Raises:
        AccessError: the visitor may not upload files.
        CorpusError: the file cannot be read so, or is no longer in memory.
    """
    sheet = _sheet_in_memory(secret)
    several, apart = sheet.several_labels, sheet.spelt_apart
    if change == "split" and several is not None:
        return _keep(
            visitor, sheet.name, lambda **_: sheet.changed(*with_yes_no_columns(sheet, several))
        )
    if change == "join" and apart is not None:
        return _keep(
            visitor, sheet.name, lambda **_: sheet.changed(*with_one_spelling(sheet, apart))
        )
    if change == "majority" and sheet.annotators:
        return _keep(visitor, sheet.name, lambda **_: by_majority(sheet))
    if change == "apart" and sheet.annotators:
        return keep(visitor, sheet.name, sheet.content)
    if change == "no_vectors":
        titles = ", ".join(f"“{own.title}”" for own in sheet.vectors)
        left_out = (*sheet.left_out, f"The vectors of {titles} were left out, as you chose.")
        return _keep(visitor, sheet.name, lambda **_: replace(sheet, vectors=(), left_out=left_out))
    if change in ("lines", "table", "plain"):
        return keep(visitor, sheet.name, sheet.content, change, next(iter(sheet.sheets), ""))
    return _keep(visitor, sheet.name, lambda **_: sheet.without_leftovers())


def keep_sheet(visitor: str, secret: str, title: str) -> str:
    """Keep another sheet of an Excel file; return its new name.

    Raises:
        AccessError: the visitor may not upload files.
        CorpusError: the sheet cannot be read, or the file is no longer in memory.
    """
    sheet = _sheet_in_memory(secret)
    return keep(visitor, sheet.name, sheet.content, sheet=title)


def _sheet_in_memory(secret: str) -> Table:
    sheet = table_of(secret)
    if sheet is None:
        raise CorpusError(say("files.gone"))
    return sheet


def _keep(visitor: str, name: str, reader: Callable[..., Table]) -> str:
    guard.require(UPLOAD)
    store = _store()
    with store.reading(name):
        max_bytes = min(settings().max_upload_bytes, store.max_file_bytes)
        sheet = reader(max_bytes=max_bytes, max_held=store.max_own_bytes)
        n_bytes = sheet.n_bytes
    secret = f"file {uuid.uuid4().hex}"
    store.put(guard.current_owner() or visitor, secret, sheet, n_bytes)
    return secret


def table_of(secret: str) -> Table | None:
    """Return the visitor's file of this name if this process still has it, else None."""
    content = _store().get(secret, of=guard.current_owner()) if secret else None
    return content if isinstance(content, Table) else None


def keep_shared(visitor: str, digest: str, chosen: Any, n_bytes: int) -> None:
    """Keep the chosen part of a file for anyone who has its digest."""
    _store().put(guard.current_owner() or visitor, digest, chosen, n_bytes)


def shared(digest: str) -> Any:
    """Return the chosen part of a file with this digest, or None; never a file itself."""
    content = _store().get(digest)
    return None if isinstance(content, Table) else content


def forget_all() -> None:
    """Drop all files and counts, as after a restart of the server."""
    _store_of.cache_clear()
    _refusals.clear()


def take_refusal() -> str:
    """Return the reason why this visit's last file was refused, once; "" if it was not."""
    run = get_script_run_ctx(suppress_warning=True)
    return _refusals.pop(run.session_id, "") if run is not None else ""


def middleware() -> list[Middleware]:
    """Return the middleware in front of Streamlit's own uploads."""
    return [Middleware(UploadGate)]


class UploadGate:
    """Pass files on to Streamlit while there is room for them, and count what arrives."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer with a status and a sentence."""
        key = _key(scope)
        if key is None:
            await self._app(scope, receive, send)
            return
        try:
            store = _admitted(key, Request(scope))
        except ContextlensError as exc:
            _refuse(key.visit, exc.for_visitors)
            await response(exc, status=_TOO_LARGE)(scope, receive, send)
            return

        async def counted() -> Message:
            try:
                async with asyncio.timeout(_SILENCE_SECONDS):
                    message = await receive()
                store.grow(key, len(message.get("body", b"")))
            except TimeoutError:
                return {"type": "http.disconnect"}
            except ContextlensError as exc:
                _refuse(key.visit, exc.for_visitors)
                return {"type": "http.disconnect"}
            return message

        try:
            await self._app(scope, counted, send)
        finally:
            store.end(key)


def _admitted(key: FileKey, request: Request) -> UploadStore:
    """Admit a file to the store that counts it, and return this store.

    Raises:
        ContextlensError: the file may not arrive.
    """
    person = guard.person_of_request(request.cookies)
    guard.require(UPLOAD, person)
    visitor = guard.counted_as(person, request.client.host if request.client else None)
    announced = request.headers.get("content-length", "")
    store = _store()
    n_bytes = int(announced) if announced.isdecimal() else 0
    sender = _session_of(key.visit)
    # Until a visit's first run is over, Streamlit has the main script's instead.
    is_known = sender is not None and sender.page_script_hash in sender.get_pages()
    page = sender.page_script_hash if sender is not None and is_known else ""
    store.admit(key, visitor, n_bytes, page=page)
    return store


def _session_of(visit: str) -> AppSession | None:
    """Return Streamlit's session of a visit, if it is active."""
    if not runtime.exists():
        return None
    visit_info = runtime.get_instance()._session_mgr.get_active_session_info(visit)
    return None if visit_info is None else visit_info.session


def _key(scope: Scope) -> FileKey | None:
    """Return the file that a request uploads, or None for any other request."""
    if scope["type"] != "http" or scope["method"] != "PUT":
        return None
    match = _UPLOAD.search(scope["path"])
    return FileKey(match[1], match[2]) if match else None


def _refuse(visit: str, sentence: str) -> None:
    """Make a visit's page say why a file was refused, as the field shows only the status.

    Streamlit reruns the page unchanged, as it does after a change of the source.
    """
    sender = _session_of(visit)
    if sender is not None:
        _refusals[visit] = sentence
        while len(_refusals) > _N_REFUSALS:
            _refusals.popitem(last=False)
        sender.request_rerun(sender._client_state)
