"""What the first model says about the ready examples, kept on disk for the next start.

Importing torch and loading a model takes most of a start. Until that is over, pages get these
answers, in the format that services send (`remote.wire`). Only answers about texts that ship with
the app are kept, or about their words and tokens. Importing this does not import torch.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from contextlens.core.byte_cache import shared_cache
from contextlens.core.cache import CachedService
from contextlens.core.calls import Call
from contextlens.core.errors import ContextlensError, RequestError
from contextlens.core.files import checksum_of
from contextlens.core.registry import list_models, locate
from contextlens.core.remote.wire import pack_answer, unpack_answer
from contextlens.core.schema import Block, ModelCard, ModelSpec, SwitchOff, Tokens
from contextlens.core.service import LocalService, open_service
from contextlens.core.settings import Settings
from contextlens.core.threads import processor

__all__ = ["ReadyService", "open_ready_service"]

_FACTS = frozenset({"load_tokenizer", "vocabulary", "cut_rules", "parameters", "matrix"})
_OF_TEXTS = frozenset(
    {"tokenize", "encode", "normalize", "embedding_parts", "intervene", "sentence_vectors"}
)
_OF_PARTS = frozenset({"tokenize", "normalize"})
_TEXTS = ("text", "texts", "pair", "pairs", "baseline")
"""The arguments that hold texts."""
_MAX_BYTES = 64_000_000  # of all answers
_MAX_ANSWER_BYTES = 4_000_000
_MAX_HELD = 10_000  # paths of files that are not looked for again
_N_DIGEST = 32  # bytes of a SHA-256, before each answer
_N_FOLDERS = 4  # of other models and earlier versions
_LIBRARIES = ("contextlens", "torch", "transformers", "tokenizers", "numpy")

_DRIVERS = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg", "C:/Windows/System32/nvcuda.dll")
"""Of graphics cards, which torch finds where they are."""
_CARDS = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
"""The environment's choices of cards."""


def open_ready_service(texts: Iterable[str], *, offered_only: bool = False) -> CachedService:
    """Return what `open_service` does; a service in this process keeps answers about ready texts.

    Raises:
        SettingsError: an environment variable has a value that is not allowed.
    """
    settings = Settings.from_env()
    if settings.service_url is not None:
        return open_service(offered_only=offered_only)
    return CachedService(ReadyService(settings, texts, offered_only=offered_only), shared_cache())


class ReadyService(LocalService):
    """A `LocalService` that keeps answers about ready texts, for a server that starts.

    While it `is_starting`, which ends when its first model was loaded or could not be, that model
    counts as loaded if its card is kept, and a call whose answer is not kept waits for the model:
    before, it calls `before_waiting`, which may raise.

    Args:
        settings: as for `LocalService`; the answers are in the data folder.
        texts: texts that ship with the app.
        offered_only: as for `LocalService`.
    """

    def __init__(
        self, settings: Settings, texts: Iterable[str], *, offered_only: bool = False
    ) -> None:
        super().__init__(settings, offered_only=offered_only)
        self._texts = frozenset(texts)
        words = {word for text in self._texts for word in re.findall(r" ?\w+", text)}
        self._parts = {part for word in words for part in (word, word.strip())}
        self._parts.update(self._texts, *self._texts)  # and their characters
        self._ids: set[str] = set()  # of the tokens in each
        self._read: dict[Path, Any] = {}
        self._held: set[Path] = set()  # files that were looked for and, if need be, written
        self.is_starting = False
        self.before_waiting: Callable[[], None] = lambda: None
        self._model = list_models(settings)[0]

    @property
    def has_answers(self) -> bool:
        """True if pages are shown before the model is in memory."""
        return self.is_starting and self._card is not None

    def _answer(self, call: Call) -> Any:
        if call.method.quick:
            answer = super()._answer(call)
            return self._with_presence(answer) if self.has_answers else answer
        name, arguments = call.method.name, call.arguments
        if arguments.get("model") != self._model.id or self._folder is None:
            return super()._answer(call)
        if name == "load":
            if self.has_answers and arguments["progress"] is None:  # a page, which wants the card
                return self._card
            return self._load(call)
        call = call.repeatable()
        is_ready = self._is_ready(call)
        answer = self._kept(call) if is_ready and self.has_answers else None
        if answer is None:
            if self.has_answers:
                self.before_waiting()
            answer = super()._answer(call)
            if is_ready and self._is_on_processor():
                self._keep(call, answer)
        if not is_ready:
            return answer
        answers = answer if isinstance(answer, list) else ()
        self._ids.update(_words(one.token_ids) for one in answers if isinstance(one, Tokens))
        return answer

    def _with_presence(self, answer: Any) -> Any:
        if isinstance(answer, ModelSpec):
            return replace(answer, loaded=answer.loaded or answer.id == self._model.id)
        return tuple(map(self._with_presence, answer))

    def _load(self, call: Call) -> ModelCard:
        try:
            card: ModelCard = super()._answer(call)
        finally:
            self.is_starting = False
            self._read = {}  # threads that read from it keep theirs
        if card.device == "cpu" and card != self._card:  # each run of a page loads
            self._write(self._card_path, card)
            self._card = card
        return card

    def _is_on_processor(self) -> bool:
        """True if the model is in memory, and what computes is not a graphics card."""
        model = self._model.id
        return model in self._store.loaded() and self._store.model(model).card.device == "cpu"

    def _is_ready(self, call: Call) -> bool:
        """True if a call concerns ready texts alone, or none."""
        name, arguments = call.method.name, call.arguments
        if name == "word_rows":
            words = _words(arguments["token_ids"])
            return any(words in ids for ids in tuple(self._ids))
        if name not in _OF_TEXTS:
            return name in _FACTS
        texts = _strings(arguments.get(argument) for argument in _TEXTS)
        changes = (one for row in arguments.get("interventions", ()) for one in row)
        ready = self._parts if name in _OF_PARTS else self._texts
        return ready.issuperset(texts) and all(
            isinstance(one, Block | SwitchOff) for one in changes
        )

    # --- The files

    @cached_property
    def _folder(self) -> Path | None:
        """The folder of the answers that hold for this model, these versions and this machine."""
        if self._model.source == "hub":  # to find its files may need the network
            return None
        with suppress(ContextlensError, OSError):
            files = locate(self._model.id, self._settings).folder
            versions = [sys.version, *map(version, _LIBRARIES)]
            machine = [processor(), str(os.cpu_count()), self._settings.device]
            machine += [str(Path(driver).exists()) for driver in _DRIVERS]
            machine += [os.environ.get(choice, "all") for choice in _CARDS]
            contents = [*_checksums(files, "*"), *_checksums(Path(__file__).parent, "*.py")]
            facts = [self._model.id, *versions, *machine, *contents]
            return self._settings.data_dir / "answers" / _digest(facts)
        return None

    @cached_property
    def _card(self) -> ModelCard | None:
        card: ModelCard | None = None if self._folder is None else _read("load", self._card_path)
        return card

    @property
    def _card_path(self) -> Path:
        return (self._folder or Path()) / "card"

    def _paths(self, call: Call) -> list[Path]:
        """The file of each text's answer, or that of the only one."""
        keys = call.keys(call.checksum, call.columns())  # with a wrong checksum, none is kept
        return [(self._folder or Path()) / _digest([call.method.name, repr(key)]) for key in keys]

    def _kept(self, call: Call) -> Any | None:
        """The answer on disk, or None."""
        read, paths = self._read, self._paths(call)
        for path in paths:
            if path not in read:
                read[path] = _read(call.method.name, path)
        answers = [read[path] for path in paths]
        if any(answer is None for answer in answers):
            return None
        return answers[0] if call.columns() is None else [one for (one,) in answers]

    def _keep(self, call: Call, answer: Any) -> None:
        answers = [answer] if call.columns() is None else [[one] for one in answer]
        for path, one in zip(self._paths(call), answers, strict=True):
            if path in self._held:
                continue
            if len(self._held) >= _MAX_HELD:
                self._held.clear()
            self._held.add(path)
            if _read(call.method.name, path) is None:
                self._write(path, one)

    def _write(self, path: Path, answer: Any) -> None:
        """Write an answer; if that fails, the next start computes it again."""
        with suppress(OSError, RequestError):
            folder = path.parent
            if not folder.is_dir():
                _make_room_beside(folder)
            body = pack_answer(answer)
            body = sha256(body).digest() + body
            room = _MAX_BYTES - sum(map(_n_bytes, folder.iterdir()))
            if len(body) <= min(room, _MAX_ANSWER_BYTES):
                temporary = path.with_suffix(f".{os.getpid()}-{threading.get_native_id()}")
                temporary.write_bytes(body)
                temporary.replace(path)


def _read(method: str, path: Path) -> Any | None:
    """The answer in a file, or None if it is missing or damaged."""
    with suppress(OSError, RequestError):
        held = path.read_bytes()
        body = held[_N_DIGEST:]
        if sha256(body).digest() == held[:_N_DIGEST]:
            return unpack_answer(method, body)
    return None


def _n_bytes(file: Path) -> int:
    with suppress(FileNotFoundError):  # another thread has just renamed it
        return file.stat().st_size
    return 0


def _make_room_beside(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    others = sorted(folder.parent.iterdir(), key=lambda other: other.stat().st_mtime)
    for other in others[:-_N_FOLDERS]:
        shutil.rmtree(other, ignore_errors=True)


def _strings(value: Any) -> Iterator[str]:
    """The texts in a value, however nested."""
    if isinstance(value, str):
        yield value
    elif value is not None:
        for one in value:
            yield from _strings(one)


def _words(token_ids: Iterable[int]) -> str:
    """IDs in words, so that those of a word are found in those of its text."""
    return f" {' '.join(map(str, token_ids))} "


def _checksums(folder: Path, pattern: str) -> Iterator[str]:
    for path in sorted(filter(Path.is_file, folder.rglob(pattern))):
        yield path.relative_to(folder).as_posix()
        yield checksum_of([path])


def _digest(parts: Iterable[str]) -> str:
    return sha256("\n".join(parts).encode()).hexdigest()[:40]
